// The phases of a render with their durations, as a table and as a waterfall.
import { Paper, Table, Text } from '@mantine/core';
import type { RenderDetail } from '../../api/console/contract/accounts.ts';
import { formatMs } from '../parts/format.ts';
import classes from './waterfall.module.css';

type Phase = keyof RenderDetail['timings'];
/** In chronological order. */
const PHASES: [Phase, string][] = [
  ['admit', 'Authenticate and check plan limits'],
  ['queue', 'Wait for a worker'],
  ['load', 'Load the page'],
  ['wait', 'Wait for wait_* conditions'],
  ['print', 'Print to PDF in Chrome'],
  ['post', 'Add metadata and watermark'],
  ['settle', 'Record usage'],
];

export function Waterfall({ timings, totalMs }: Pick<RenderDetail, 'timings' | 'totalMs'>) {
  const known = PHASES.flatMap(([phase, what]) =>
    timings[phase] === undefined ? [] : [{ phase, what, ms: timings[phase] }],
  );
  if (known.length === 0)
    return <Text size="sm">Rejected before rendering started ({formatMs(totalMs)}).</Text>;
  const other = totalMs - known.reduce((sum, { ms }) => sum + ms, 0);
  const whole = Math.max(totalMs, totalMs - other, 1);
  // Tenths of milliseconds are stored; smaller differences come from adding.
  const rest = { phase: 'other', what: 'Read the request and all other work', ms: other };
  let begun = 0;
  const bars = [...known, ...(other > 0.05 ? [rest] : [])].map(({ phase, what, ms }) => {
    const bar = { phase, what, ms, left: (begun / whole) * 100, width: (ms / whole) * 100 };
    begun += ms;
    return bar;
  });
  return (
    <Paper withBorder>
      <Table
        aria-label="Phases"
        className={classes.table}
        verticalSpacing={6}
        horizontalSpacing="md"
      >
        <Table.Thead>
          <Table.Tr>
            <Table.Th scope="col">Phase</Table.Th>
            <Table.Th scope="col" className={classes.figure}>
              Duration
            </Table.Th>
            <Table.Th scope="col" className={classes.track}>
              Total {formatMs(totalMs)}
            </Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {bars.map(({ phase, what, ms, left, width }) => (
            <Table.Tr key={phase}>
              <Table.Th scope="row" className={classes.name}>
                <span className={classes.phase}>{phase}</span>
                <span className={classes.what}>{what}</span>
              </Table.Th>
              <Table.Td className={classes.figure}>{formatMs(ms)}</Table.Td>
              <Table.Td className={classes.track}>
                <div
                  className={classes.bar}
                  data-phase={phase}
                  style={{ marginLeft: `${left}%`, width: `max(2px, ${width}%)` }}
                />
              </Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </Paper>
  );
}
