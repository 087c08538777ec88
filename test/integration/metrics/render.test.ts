// @proves render_failed

import { expect } from 'chai';
import { PHASES } from '../../../api/store/phases.ts';
import { readSamples, type Samples } from '../../fault/harness/samples.ts';
import { eventually } from '../../support/eventually.ts';
import { html, type Installation, installation } from '../../support/installation.ts';

const DURATIONS = 'pressroom_render_duration_seconds_count';

describe('render metrics', () => {
  let pressroom: Installation;
  let samples: Samples;
  const statuses: number[] = [];
  const scrape = async () => readSamples(await pressroom.metrics.text());

  /**
   * Runs 3 good renders, one with an invalid page range, one that is canceled, one over the plan
   * and one that is rejected before the render.
   */
  before(async () => {
    pressroom = await installation({ plan: 'free' });
    for (let i = 0; i < 3; i++)
      statuses.push((await pressroom.render({ html: html(`page ${i}`) })).status);
    statuses.push((await pressroom.render({ html: html('x'), pages: '7' })).status);
    const long = pressroom.render({ html: html('slow'), wait_delay: '30s' });
    await eventually(async () =>
      expect((await scrape()).sum('pressroom_slot_claims_total', { outcome: 'opened' })).to.equal(
        5,
      ),
    );
    statuses.push((await pressroom.render({ html: html('y') })).status);
    long.disconnect();
    await long.catch(() => {});
    statuses.push((await pressroom.render({ html: 7 })).status);
    samples = await eventually(async () => {
      const now = await scrape();
      expect(now.sum('pressroom_renders_total')).to.equal(6);
      expect(now.sum('pressroom_leases_held') + now.sum('pressroom_http_connections')).to.equal(0);
      return now;
    });
  });
  after(() => pressroom?.stop());

  it('responds with the expected statuses', () => {
    expect(statuses).to.deep.equal([200, 200, 200, 400, 429, 400]);
  });

  it('agrees with the account on delivered and counted renders', async () => {
    expect(await pressroom.usage()).to.equal(3);
    expect(samples.sum('pressroom_renders_settled_total')).to.equal(3);
    expect(samples.sum('pressroom_renders_total', { outcome: 'ok' })).to.equal(3);
  });

  it('counts every render by outcome', () => {
    const ends = Object.entries(samples.by('pressroom_renders_total', 'outcome')).filter(
      ([, times]) => times > 0,
    );
    expect(Object.fromEntries(ends)).to.deep.equal({
      ok: 3,
      validation_error: 1,
      concurrency_limit: 1,
      client_closed: 1,
    });
  });

  it('counts every request, including one rejected before the render', () => {
    const calls = samples.by('pressroom_http_requests_total', 'outcome');
    expect(calls).to.deep.equal({
      ok: 3,
      validation_error: 2,
      concurrency_limit: 1,
      client_closed: 1,
    });
  });

  it('records phases of delivered renders only', () => {
    const phases = samples.by(DURATIONS, 'phase');
    expect(phases).to.have.all.keys(...PHASES);
    expect(phases).to.include({ admit: 3, queue: 3, load: 3, print: 3, settle: 3 });
  });

  it('records a total duration of at least the sum of the phases', () => {
    const WHOLE = 'pressroom_render_whole_duration_seconds';
    expect(samples.sum(`${WHOLE}_count`)).to.equal(3);
    expect(samples.sum(`${WHOLE}_sum`)).to.be.at.least(
      samples.sum('pressroom_render_duration_seconds_sum'),
    );
  });

  it('counts one claim for each render that reached a slot', () => {
    expect(
      samples.sum('pressroom_slot_claims_total', { pool: 'default', outcome: 'opened' }),
    ).to.equal(5);
  });

  it('returns to zero queued, reserved and pending work', () => {
    for (const name of [
      'pressroom_queue_depth',
      'pressroom_queue_bytes',
      'pressroom_in_flight_bytes',
      'pressroom_lease_writes_waiting',
    ])
      expect(samples.sum(name), name).to.equal(0);
  });

  it('measures the operations on MongoDB', () => {
    const { read_key, ...times } = samples.by(
      'pressroom_mongodb_operation_duration_seconds_count',
      'operation',
    );
    expect(times).to.include({ admit: 6, settle: 3, release: 2 });
    expect(read_key).to.be.within(1, 7);
  });
});
