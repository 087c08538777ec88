import { expect } from 'chai';
import { jobMetrics } from '../../../../api/jobs/job-metrics.ts';
import { createMetrics } from '../../../../common/operations.ts';

describe('metrics of asynchronous renders', () => {
  it('expose the backlog, running renders and how renders ended', async () => {
    const metrics = createMetrics({ processDefaults: false });
    const meters = jobMetrics(metrics, {
      running: () => 3,
      ready: () => 1,
      backlog: () => ({ runnable: 2, waiting: 9, oldestWaitMs: 4_500 }),
    });
    meters.ended('succeeded');
    meters.ended('succeeded');
    meters.ended('expired');
    meters.interrupted();
    const lines = (await metrics.text()).split('\n');
    expect(lines).to.include.members([
      'pressroom_async_backlog 3',
      'pressroom_async_waiting 9',
      'pressroom_async_oldest_wait_seconds 4.5',
      'pressroom_async_running 3',
      'pressroom_async_renders_total{status="succeeded"} 2',
      'pressroom_async_renders_total{status="failed"} 0',
      'pressroom_async_renders_total{status="canceled"} 0',
      'pressroom_async_renders_total{status="expired"} 1',
      'pressroom_async_interruptions_total 1',
    ]);
  });
});
