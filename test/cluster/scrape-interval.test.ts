import { writeFileSync } from 'node:fs';
import { scrapeSecondsOf } from '../../controller/load/load-queries.ts';
import { temporaryFolder } from '../support/temporary.ts';
import { usePromtool } from './promtool.ts';

const LIMIT_MS = 60_000;

describe('scrape interval query', function () {
  this.timeout(LIMIT_MS);
  const file = temporaryFolder();
  const run = usePromtool();

  const series = (pod: string) =>
    `pressroom_queue_depth{namespace="press",pool="main",pod="${pod}"}`;

  for (const [title, intervalS, values, atM, expected] of [
    ['is 15 s', 15, { one: '0x60', two: '0x60' }, '12m7s', 15],
    ['is 30 s', 30, { one: '0x30' }, '12m7s', 30],
    ['uses the process that has run longer', 15, { old: '0x60', young: '_x40 0x20' }, '12m7s', 15],
    ['returns nothing for a new process', 15, { young: '_x40 0x20' }, '12m7s', undefined],
    ['returns nothing without processes', 15, {}, '12m7s', undefined],
  ] as const)
    it(title, async () => {
      const text = JSON.stringify({
        evaluation_interval: '15s',
        tests: [
          {
            interval: `${intervalS}s`,
            input_series: Object.entries(values).map(([pod, samples]) => ({
              series: series(pod),
              values: samples,
            })),
            promql_expr_test: [
              {
                expr: scrapeSecondsOf('pressroom_queue_depth'),
                eval_time: atM,
                exp_samples:
                  expected === undefined
                    ? []
                    : [{ labels: '{namespace="press",pool="main"}', value: expected }],
              },
            ],
          },
        ],
      });
      writeFileSync(file('case.json'), text);
      await run('test', 'rules', file('case.json'));
    });
});
