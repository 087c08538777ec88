// A table of renders, each row linked to its details.
import type { RenderSummary } from '../../api/console/contract/accounts.ts';
import { type Column, DataTable } from '../parts/data-table.tsx';
import { formatBytes, formatCount, formatMs } from '../parts/format.ts';
import { OutcomeBadge } from '../parts/outcome-badge.tsx';
import { When } from '../parts/when.tsx';
import { RenderName } from './render-name.tsx';
import classes from './render-table.module.css';

/** The caller: the name of the API key, the self-reported name of an MCP app, or the playground. */
export function callerOf({ via, key, app }: Pick<RenderSummary, 'via' | 'key' | 'app'>): string {
  if (via === 'playground') return 'Playground';
  if (via === 'mcp') return app ? `MCP, ${app}` : 'MCP';
  const name = key && (key.name ?? (key.last4 ? `Revoked key …${key.last4}` : 'Revoked key'));
  return name ?? 'API';
}

/** The source of a render. Unknown for a request that was rejected before it was parsed. */
export const sourceOf = ({ source, url }: Pick<RenderSummary, 'source' | 'url'>) =>
  source === 'html' ? 'HTML' : (url ?? (source === 'url' ? 'URL' : 'Rejected request'));

export const RENDER_COLUMNS: Column<RenderSummary>[] = [
  {
    title: 'Render',
    fill: true,
    cell: ({ outcome, rejected, reference, title, source, url, sandbox, code, reason, times }) => (
      <RenderName
        badge={<OutcomeBadge outcome={outcome} rejected={rejected} />}
        name={reference ?? title ?? sourceOf({ source, url })}
        error={
          outcome === 'error' &&
          code && (
            <>
              {reason ?? code}
              {times > 1 && ` ×${formatCount(times)}`}
            </>
          )
        }
        sandbox={sandbox}
      />
    ),
  },
  {
    title: 'Requested by',
    cell: render => <span className={classes.caller}>{callerOf(render)}</span>,
  },
  { title: 'Duration', align: 'end', cell: ({ totalMs }) => formatMs(totalMs) },
  {
    title: 'Pages',
    align: 'end',
    cell: ({ pages }) => (pages === null ? '–' : formatCount(pages)),
  },
  { title: 'Size', align: 'end', cell: ({ bytes }) => (bytes === null ? '–' : formatBytes(bytes)) },
  { title: 'Time', align: 'end', cell: ({ at }) => <When at={at} /> },
];

interface Props {
  label: string;
  rows: RenderSummary[];
  more?: Parameters<typeof DataTable>[0]['more'];
}

export function RenderTable({ label, rows, more }: Props) {
  return (
    <DataTable
      label={label}
      columns={RENDER_COLUMNS}
      rows={rows}
      rowKey={({ id }) => id}
      href={({ id }) => `/renders/${encodeURIComponent(id)}`}
      {...(more && { more })}
    />
  );
}
