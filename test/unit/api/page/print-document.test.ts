import { expect } from 'chai';
import { overloaded } from '../../../../api/http/byte-budget.ts';
import { watchNavigation } from '../../../../api/page/main-document.ts';
import type { Page } from '../../../../api/page/page.ts';
import { printDocument } from '../../../../api/page/print.ts';
import { renderSettings } from '../../../../api/page/render-settings.ts';
import { CommandFailed, type Session } from '../../../../api/workers/session.ts';
import { parseRenderRequest } from '../../../../common/contract/render-request.ts';
import { minimalPdf } from '../../../support/minimal-pdf.ts';
import { PUBLIC } from '../../../support/request-error.ts';
import { errorOf } from '../../../support/worker.ts';

/** A page on which every print, by its number, is what `atPrint` makes of it. */
function movingPage(
  atPrint: (print: number, notify: (event: string, params: object) => void) => void,
  dataOf: (print: number) => string = () => minimalPdf(),
) {
  const listeners: Record<string, ((params: object) => void)[]> = {};
  const notify = (event: string, params: object) => {
    for (const listener of listeners[event] ?? []) listener(params);
  };
  const calls = { prints: 0, held: 0 };
  const session = {
    frameId: 'main',
    ended: new Promise(() => {}),
    on: (event: string, listener: (params: object) => void) => {
      listeners[event] = [...(listeners[event] ?? []), listener];
    },
    command: async (method: string) => {
      if (method === 'IO.read')
        return { data: dataOf(calls.prints), eof: true, base64Encoded: false };
      atPrint(++calls.prints, notify);
      return { stream: 'a' };
    },
  } as unknown as Session;
  const navigation = watchNavigation(session);
  const reservation = {
    reserve: (bytes: number) => {
      calls.held += bytes;
      return true;
    },
    release: (bytes: number) => {
      calls.held -= bytes;
    },
    overBudget: overloaded,
  };
  const page = {
    session,
    navigation,
    settings: renderSettings(parseRenderRequest({ html: 'x' }, PUBLIC)),
  } as unknown as Page;
  return {
    calls,
    notify,
    navigation,
    print: () => printDocument(page, { maxBytes: 100_000, tagged: false }, reservation),
  };
}
const moved = (notify: (event: string, params: object) => void) =>
  notify('Page.frameNavigated', { frame: { id: 'main' } });
const loaded = (notify: (event: string, params: object) => void) =>
  notify('Page.loadEventFired', {});
const move = (notify: (event: string, params: object) => void) => {
  moved(notify);
  loaded(notify);
};

describe('a page that navigates while it is printed', () => {
  it('is printed again when Chrome could not print it', async () => {
    const page = movingPage((print, notify) => {
      if (print > 3) return;
      move(notify);
      throw new CommandFailed('Printing failed');
    });
    loaded(page.notify);
    expect((await page.print()).pages).to.equal(1);
    expect(page.calls.prints).to.equal(4);
  });

  it('is printed again when the next document may be printed in part, and the first print is released', async () => {
    const page = movingPage((print, notify) => {
      if (print === 1) move(notify);
    });
    loaded(page.notify);
    const { pdf } = await page.print();
    expect(page.calls).to.deep.equal({ prints: 2, held: pdf.bytes });
  });

  it('is printed as it is at the last attempt when it never stops navigating', async () => {
    const page = movingPage((_print, notify) => move(notify));
    loaded(page.notify);
    await page.print();
    expect(page.calls.prints).to.equal(5);
  });

  it('is printed until a print is complete when it never stops navigating', async () => {
    const page = movingPage(
      (_print, notify) => move(notify),
      print => minimalPdf(print === 5 || print === 6 ? 0 : 2_000),
    );
    loaded(page.notify);
    const { pdf } = await page.print();
    expect(page.calls).to.deep.equal({ prints: 7, held: pdf.bytes });
  });

  it('is not printed again when Chrome fails to print a page that does not navigate', async () => {
    const page = movingPage(() => {
      throw new CommandFailed('Printing failed');
    });
    loaded(page.notify);
    expect((await errorOf(page.print()))?.message).to.equal('Printing failed');
    expect(page.calls.prints).to.equal(1);
  });

  it('is printed only after the current document has loaded', async () => {
    const page = movingPage(() => {});
    loaded(page.notify);
    moved(page.notify);
    const printing = page.print();
    await new Promise(setImmediate);
    expect(page.calls.prints).to.equal(0);
    loaded(page.notify);
    await printing;
    expect(page.calls.prints).to.equal(1);
  });
});

describe('the navigation of a page', () => {
  const at = (events: [string, object][]) => {
    const page = movingPage(() => {});
    for (const [event, params] of events) page.notify(event, params);
    return errorOf(page.navigation.loaded());
  };
  const NAVIGATED: [string, object] = ['Page.frameNavigated', { frame: { id: 'main' } }];
  const LEAVES: [string, object] = [
    'Page.frameRequestedNavigation',
    { frameId: 'main', disposition: 'currentTab' },
  ];
  const STOPPED: [string, object] = ['Page.frameStoppedLoading', { frameId: 'main' }];

  it('counts a document that stops its own loading as loaded', async () => {
    expect(await at([NAVIGATED, STOPPED])).to.equal(undefined);
  });
  it('fails for a document that is cut off by a download', async () => {
    expect(await at([NAVIGATED, LEAVES, STOPPED])).to.include({
      code: 'render_failed',
      reason: 'page_unreachable',
    });
  });
  it('ignores navigations of new windows and of other frames', async () => {
    const popup: [string, object] = [
      'Page.frameRequestedNavigation',
      { frameId: 'main', disposition: 'newTab' },
    ];
    const other: [string, object] = [
      'Page.frameRequestedNavigation',
      { frameId: 'other', disposition: 'currentTab' },
    ];
    expect(await at([NAVIGATED, popup, other, STOPPED])).to.equal(undefined);
  });
  it('continues with the next document after a navigation that succeeded', async () => {
    expect(await at([NAVIGATED, LEAVES, NAVIGATED, STOPPED])).to.equal(undefined);
  });
});
