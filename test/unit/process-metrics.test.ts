import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { createMetrics } from '../../common/operations.ts';
import { readSamples } from '../fault/harness/samples.ts';

const HELD_MS = 400;
const lag = (name: string) => `nodejs_eventloop_lag_${name}_seconds`;

/** Holds the event loop. */
function hold(): void {
  for (const end = performance.now() + HELD_MS; performance.now() < end; );
}

describe('what a process tells of its event loop', () => {
  const metrics = createMetrics();
  const scrape = async () => readSamples(await metrics.text());

  it('has each series of prom-client once', async () => {
    const text = await metrics.text();
    for (const name of ['min', 'max', 'mean', 'stddev', 'p50', 'p90', 'p99']) {
      expect(text.match(new RegExp(`^${lag(name)}\\b`, 'gm')), name).to.have.length(1);
      expect(text.match(new RegExp(`^# TYPE ${lag(name)} gauge$`, 'gm')), name).to.have.length(1);
    }
    expect(text)
      .to.match(/^nodejs_eventloop_lag_seconds\b/m)
      .and.match(/^nodejs_heap_size_used_bytes\b/m);
  });

  it('shows how late a timer was, also when the loop was held from the moment of a scrape on', async () => {
    await scrape();
    hold();
    await sleep(150);
    const seen = await scrape();
    expect(seen.sum(lag('max'))).to.be.at.least((HELD_MS - 101) / 1_000);
    expect(seen.sum(lag('p99'))).to.be.at.least((HELD_MS - 101) / 1_000);
    expect(seen.sum(lag('min'))).to.be.below(seen.sum(lag('max')));
  });

  it('forgets it with the scrape that has told it, and not before it knows better', async () => {
    hold();
    await sleep(150);
    const first = await scrape();
    const again = await scrape();
    expect(again.sum(lag('max'))).to.equal(first.sum(lag('max')));
    await sleep(250);
    expect((await scrape()).sum(lag('max'))).to.not.equal(first.sum(lag('max')));
  });
});
