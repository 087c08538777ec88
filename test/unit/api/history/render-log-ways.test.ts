import { expect } from 'chai';
import { RenderLog } from '../../../../api/history/render-log.ts';
import type { Store } from '../../../../api/store/store.ts';
import { silentLog } from '../../../../common/log.ts';
import { createMetrics } from '../../../../common/operations.ts';

describe('the metric of renders by entry point', () => {
  it('counts successful renders only', async () => {
    const metrics = createMetrics({ processDefaults: false });
    const renders = new RenderLog({} as Store, silentLog, metrics);
    await renders.logged('1', 'mcp', async () => {});
    await renders.logged('2', 'mcp', async () => {});
    await renders.logged('3', 'playground', async () => {});
    await renders.logged('4', 'api', () => Promise.reject(new Error('failed'))).catch(() => {});
    const samples = (await metrics.text()).match(/^pressroom_renders_by_way_total.*/gm);
    expect(samples).to.deep.equal([
      'pressroom_renders_by_way_total{via="api"} 0',
      'pressroom_renders_by_way_total{via="playground"} 1',
      'pressroom_renders_by_way_total{via="mcp"} 2',
    ]);
  });
});
