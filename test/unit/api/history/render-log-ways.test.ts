import { expect } from 'chai';
import { beginEntry } from '../../../../api/history/render-entry.ts';
import { RenderLog } from '../../../../api/history/render-log.ts';
import type { State } from '../../../../api/http/state.ts';
import type { Store } from '../../../../api/store/store.ts';
import { silentLog } from '../../../../common/log.ts';
import { createMetrics } from '../../../../common/operations.ts';

describe('the metric of renders by entry point', () => {
  it('counts successful renders only', async () => {
    const metrics = createMetrics({ processDefaults: false });
    const renders = new RenderLog({} as Store, silentLog, metrics);
    const entry = () => beginEntry({ state: { requestId: '1', startMs: 0 } as State });
    await renders.logged(entry(), 'mcp', async () => {});
    await renders.logged(entry(), 'mcp', async () => {});
    await renders.logged(entry(), 'playground', async () => {});
    const fails = () => Promise.reject(new Error('failed'));
    await renders.logged(entry(), 'api', fails).catch(() => {});
    const samples = (await metrics.text()).match(/^pressroom_renders_by_way_total.*/gm);
    expect(samples).to.deep.equal([
      'pressroom_renders_by_way_total{via="api"} 0',
      'pressroom_renders_by_way_total{via="playground"} 1',
      'pressroom_renders_by_way_total{via="mcp"} 2',
      'pressroom_renders_by_way_total{via="async"} 0',
    ]);
  });
});
