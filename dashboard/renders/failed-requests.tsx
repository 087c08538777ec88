// The requests of a page that failed, as a table.
import { Text } from '@mantine/core';
import type { RenderDetail } from '../../api/console/contract/accounts.ts';
import { type Column, DataTable } from '../parts/data-table.tsx';
import { formatCount, formatMs } from '../parts/format.ts';
import classes from './render-screen.module.css';

type Resource = RenderDetail['resources'][number];

const REASONS: Record<NonNullable<Resource['reason']>, string> = {
  blocked: 'The address is not public, or the browser blocked it (CORS, CSP, mixed content)',
  unresolved: 'The host name does not resolve',
  refused: 'The server refused the connection',
  timeout: 'The server did not respond in time',
  too_large: 'The page reached the network limits of a render',
  failed: 'The connection failed, for example because of its certificate',
};

const COLUMNS: Column<Resource>[] = [
  { title: 'URL', cell: ({ url }) => <span className={classes.text}>{url}</span> },
  { title: 'Type', cell: ({ type }) => type },
  { title: 'Method', cell: ({ method }) => method },
  {
    title: 'Result',
    cell: ({ status, reason }) => (
      <span title={reason ? REASONS[reason] : undefined}>{status ?? reason}</span>
    ),
  },
  { title: 'Duration', align: 'end', cell: ({ ms }) => formatMs(ms) },
];

interface Props {
  resources: Resource[];
  /** Of all, also those that are not listed. */
  count: number;
}

export function FailedRequests({ resources, count }: Props) {
  if (count === 0)
    return (
      <Text size="sm" c="dimmed">
        No failed requests.
      </Text>
    );
  const missing = count - resources.length;
  return (
    <>
      <DataTable<Resource>
        label="Failed requests"
        rows={resources}
        // A list that does not change, with repetitions.
        rowKey={resource => String(resources.indexOf(resource))}
        columns={COLUMNS}
      />
      {missing > 0 && (
        <Text size="sm" c="dimmed" mt="xs">
          And {formatCount(missing)} more.
        </Text>
      )}
    </>
  );
}
