import { once } from 'node:events';
import { createServer } from 'node:net';
import { setImmediate as turn } from 'node:timers/promises';
import { expect } from 'chai';
import { silentLog } from '../../../common/log.ts';
import type { Chrome } from '../../../worker/browser/chrome.ts';
import { Slot } from '../../../worker/browser/slot.ts';
import type { SlotGuard } from '../../../worker/browser/slot-page.ts';
import { type EgressFixture, egressFixture } from '../../support/egress-fixture.ts';

describe('the port of an egress guard', () => {
  let fixture: EgressFixture;
  before(async () => {
    fixture = await egressFixture();
  });
  after(() => fixture.close());

  it('rejects requests after the render and stays reserved until its pages are gone', async () => {
    const guard = await fixture.guard('public', []);
    const pages = Promise.withResolvers<void>();
    const closed = guard.close(pages.promise);
    expect(await fixture.outcome(guard.port, 'http://a.example/')).to.equal('dropped');
    const other = createServer();
    const [error] = (
      await Promise.all([once(other, 'error'), other.listen(guard.port, '127.0.0.1')])
    )[0];
    expect(error).to.include({ code: 'EADDRINUSE' });
    pages.resolve();
    await closed;
    await Promise.all([once(other, 'listening'), other.listen(guard.port, '127.0.0.1')]);
    await new Promise(resolve => other.close(resolve));
  });

  it('is released by the slot only after Chrome has disposed of the context', async () => {
    const disposed = Promise.withResolvers<object>();
    const answers: Record<string, object> = {
      'Target.createBrowserContext': { browserContextId: 'C' },
      'Target.createTarget': { targetId: 'T' },
      'Target.attachToTarget': { sessionId: 'S' },
      'Browser.getWindowForTarget': { windowId: 1 },
    };
    const command = (method: string) =>
      method === 'Target.disposeBrowserContext'
        ? disposed.promise
        : Promise.resolve(answers[method] ?? {});
    const pipe = {
      command,
      route: () => {},
      unroute: () => {},
      onBrowserEvent: () => {},
      paused: () => false,
      overBudget: () => false,
    };
    const chrome = {
      pipe,
      pid: process.pid,
      connected: () => true,
      processes: () => [],
      exited: new Promise(() => {}),
      close: async () => {},
      kill: () => {},
    } as unknown as Chrome;
    const states: string[] = [];
    const guard: SlotGuard = {
      port: 1,
      admit: () => {},
      onDenied: () => {},
      onUnreachable: () => {},
      close: async unused => {
        states.push('closing');
        await unused;
        states.push('closed');
      },
    };
    const nothing = () => {};
    const slot = new Slot(1, {
      limits: {
        recycleRenders: 10,
        recycleBytes: 2 ** 30,
        maxBytes: 2 ** 30,
        probeMs: 60_000,
        warmPage: { renders: 50, idleMs: 10_000, bytes: 2 ** 28 },
      },
      launch: async () => chrome,
      openGuard: async () => guard,
      log: silentLog,
      onChange: nothing,
      onStart: nothing,
      onDeath: nothing,
      onWarmRender: nothing,
      onViolation: nothing,
    });
    await slot.start();
    const released = slot.release(slot.claim()!);
    await turn();
    expect(states).to.deep.equal(['closing']);
    disposed.resolve({});
    await released;
    expect(states).to.deep.equal(['closing', 'closed']);
    await slot.stop();
  });
});
