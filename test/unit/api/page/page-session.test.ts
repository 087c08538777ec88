import { expect } from 'chai';
import { overloaded } from '../../../../api/http/byte-budget.ts';
import { runPageSession } from '../../../../api/page/page-session.ts';
import { renderSettings } from '../../../../api/page/render-settings.ts';
import { CommandFailed, type Session } from '../../../../api/workers/session.ts';
import { BrowserFailed, SlotLost } from '../../../../api/workers/slot-port.ts';
import { parseRenderRequest } from '../../../../common/contract/render-request.ts';
import { PUBLIC } from '../../../support/request-error.ts';
import { errorOf } from '../../../support/worker.ts';

/** Chrome loads the page and then fails to print it; `atPrint` runs before the error. */
function failingSession(end: Promise<Awaited<Session['ended']>>, atPrint: () => void): Session {
  let onLoad = () => {};
  const answers: Record<string, () => unknown> = {
    'Page.setDocumentContent': () => onLoad(),
    'Page.printToPDF': () => {
      atPrint();
      throw new CommandFailed('Printing failed');
    },
  };
  return {
    frameId: 'frame',
    ended: end,
    on: (event: string, listener: () => void) => {
      if (event === 'Page.loadEventFired') onLoad = listener;
    },
    command: async (method: string) => answers[method]?.() ?? {},
  } as unknown as Session;
}

const renderOn = (session: Session, spentMs = 0) =>
  runPageSession(
    session,
    renderSettings(parseRenderRequest({ html: '<p>x</p>' }, PUBLIC)),
    { renderMs: 10_000, output: { maxBytes: 1_000, tagged: false }, spentMs },
    { reserve: () => true, release: () => {}, overBudget: overloaded },
    new AbortController().signal,
    {},
  );

describe('a page session in which a command to Chrome fails', () => {
  it('fails with the end reason of the slot when it arrives a moment later', async () => {
    const end = Promise.withResolvers<Awaited<Session['ended']>>();
    const crash = () =>
      setTimeout(end.resolve, 5, {
        reason: 'renderer_crashed',
        message: "the page's process crashed",
      });
    const error = await errorOf(renderOn(failingSession(end.promise, crash)));
    expect(error).to.be.instanceOf(SlotLost).and.include({ end: 'renderer_crashed' });
  });

  it('fails as a browser error when no end reason arrives', async () => {
    const error = await errorOf(renderOn(failingSession(new Promise(() => {}), () => {})));
    expect(error).to.be.instanceOf(BrowserFailed).and.include({ message: 'Printing failed' });
    expect(error!.cause).to.be.instanceOf(CommandFailed);
  });
});

describe('the time limit of a page session', () => {
  it('includes the time that an earlier attempt has used', async () => {
    const silent = {
      frameId: 'frame',
      ended: new Promise(() => {}),
      on: () => {},
      command: () => new Promise(() => {}),
    };
    const error = await errorOf(renderOn(silent as unknown as Session, 9_990));
    expect(error).to.include({ code: 'render_failed', reason: 'page_timeout' });
    expect(error!.message).to.match(
      /^The render took longer than this installation's limit of 10 s while waiting for /,
    );
  });
});
