// The errors of the last 24 hours, each linked to the renders that failed with it.
import type { Overview } from '../../api/console/contract/accounts.ts';
import { DataTable } from '../parts/data-table.tsx';
import { formatCount } from '../parts/format.ts';
import { TextWithCode } from '../parts/text-with-code.tsx';
import { When } from '../parts/when.tsx';
import { hintFor } from '../renders/hints.ts';
import { queryOf } from '../session/api.ts';
import { useMay } from '../session/session.tsx';

type DayError = Overview['errors'][number];

export function DayErrors({ errors }: { errors: DayError[] }) {
  const mayReadRenders = useMay('renders.read');
  const since = new Date(Date.now() - 86400e3).toISOString();
  return (
    <DataTable<DayError>
      label="Errors in the last 24 hours"
      rows={errors}
      rowKey={({ code, reason }) => `${code} ${reason}`}
      {...(mayReadRenders && {
        href: ({ code }: DayError) => `/renders${queryOf({ code, from: since })}`,
      })}
      columns={[
        {
          title: 'Error',
          cell: ({ code, reason }) => (
            <code style={{ whiteSpace: 'nowrap' }}>{reason ?? code}</code>
          ),
        },
        {
          title: 'What to do',
          cell: ({ code, reason }) => <TextWithCode>{hintFor(code, reason) ?? ''}</TextWithCode>,
        },
        { title: 'Count', align: 'end', cell: ({ count }) => formatCount(count) },
        { title: 'Last seen', align: 'end', cell: ({ lastAt }) => <When at={lastAt} /> },
      ]}
    />
  );
}
