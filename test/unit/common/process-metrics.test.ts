import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { createMetrics } from '../../../common/operations.ts';
import { readSamples } from '../../fault/harness/samples.ts';

const HELD_MS = 400;
const lag = (name: string) => `nodejs_eventloop_lag_${name}_seconds`;

describe('event-loop metrics of a process', () => {
  const metrics = createMetrics();

  it('include the series that the boards use', async () => {
    const text = await metrics.text();
    for (const name of ['min', 'max', 'mean', 'stddev', 'p50', 'p90', 'p99'])
      expect(text.match(new RegExp(`^# TYPE ${lag(name)} gauge$`, 'gm')), name).to.have.length(1);
    expect(text)
      .to.match(/^nodejs_eventloop_lag_seconds\b/m)
      .and.match(/^nodejs_heap_size_used_bytes\b/m);
  });

  it('show how long the event loop was blocked', async () => {
    await sleep(50);
    for (const end = performance.now() + HELD_MS; performance.now() < end; );
    await sleep(50);
    const seen = readSamples(await metrics.text());
    for (const name of ['max', 'p99'])
      expect(seen.sum(lag(name)), name).to.be.at.least((HELD_MS - 50) / 1_000);
  });
});
