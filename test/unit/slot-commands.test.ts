import { expect } from 'chai';
import { filterFrame } from '../../worker/gateway/cdp-filter.ts';
import { createCommands } from '../../worker/gateway/commands.ts';

const PRINT = { method: 'Page.printToPDF', params: {} };
const READ = { method: 'IO.read', params: { handle: '', size: 10 } };
const PRINTED = { data: '', stream: '7' };

/** What one slot's page is sent, as `method` and for reads the handle, and the ids that are refused. */
function rig() {
  const sent: string[] = [];
  const refused: number[] = [];
  const commands = createCommands(
    parts => {
      const { method, params } = JSON.parse(Buffer.concat(parts).toString());
      sent.push(method === 'IO.read' ? `${method} ${params.handle}` : method);
    },
    id => refused.push(id),
  );
  let last = 0;
  const say = (method: string, params: object) => {
    const filtered = filterFrame(Buffer.from(JSON.stringify({ id: ++last, method, params })), 'S');
    if (filtered.kind !== 'forward' && filtered.kind !== 'deferred') throw new Error(JSON.stringify(filtered));
    return commands.take(filtered);
  };
  return {
    sent,
    refused,
    now: ({ method, params }: typeof PRINT) => say(method, params),
    defer: (until: string, { method, params }: typeof PRINT) => say('Pressroom.defer', { until, method, params }),
    hear: commands.hear,
    event: (name: string) => commands.hear(name, Buffer.from('{}')),
    answered: (id: number, result: object = PRINTED) =>
      commands.hear(undefined, Buffer.from(JSON.stringify({ id, result, sessionId: 'S' }))),
    failed: (id: number) =>
      commands.hear(undefined, Buffer.from(JSON.stringify({ id, error: { code: -32_000, message: 'Printing failed' } }))),
    write: () => commands.hear('Page.documentOpened', Buffer.from('{}')),
  };
}

describe('a command that waits until its page has loaded', () => {
  it('is sent at the load event of what was written into the page, and not before', () => {
    const { sent, defer, event, write } = rig();
    defer('loaded', PRINT);
    write();
    expect(sent).to.deep.equal([]);
    event('Page.loadEventFired');
    expect(sent).to.deep.equal(['Page.printToPDF']);
    event('Page.loadEventFired');
    expect(sent).to.have.lengthOf(1);
  });

  it('does not take the late load event of the blank page for it', () => {
    const { sent, defer, event, write } = rig();
    defer('loaded', PRINT);
    event('Page.loadEventFired');
    expect(sent).to.deep.equal([]);
    write();
    expect(sent).to.deep.equal([]);
    event('Page.loadEventFired');
    expect(sent).to.deep.equal(['Page.printToPDF']);
  });

  it('waits again for a document that is written later', () => {
    const { sent, defer, event, write } = rig();
    write();
    event('Page.loadEventFired');
    defer('loaded', PRINT);
    expect(sent).to.have.lengthOf(1);
    write();
    defer('loaded', PRINT);
    expect(sent).to.have.lengthOf(1);
  });

  it('holds nothing else back, and keeps its place among those that wait with it', () => {
    const { sent, now, defer, event, write } = rig();
    defer('loaded', { method: 'Runtime.evaluate', params: {} });
    defer('loaded', PRINT);
    now({ method: 'Page.handleJavaScriptDialog', params: {} });
    write();
    event('Page.loadEventFired');
    expect(sent).to.deep.equal(['Page.handleJavaScriptDialog', 'Runtime.evaluate', 'Page.printToPDF']);
  });
});

describe('a read that waits for a PDF', () => {
  it('gets the handle of what was printed, whether the print waited too or not', () => {
    for (const waits of [true, false]) {
      const { sent, now, defer, event, write, answered } = rig();
      if (waits) defer('loaded', PRINT);
      else now(PRINT);
      defer('printed', READ);
      defer('printed', READ);
      write();
      event('Page.loadEventFired');
      answered(99);
      expect(sent).to.deep.equal(['Page.printToPDF']);
      answered(1);
      expect(sent).to.deep.equal(['Page.printToPDF', 'IO.read 7', 'IO.read 7']);
      defer('printed', READ);
      expect(sent).to.have.lengthOf(4);
    }
  });

  it('reads the PDF that was asked for last before it', () => {
    const { sent, refused, now, defer, answered } = rig();
    now(PRINT);
    defer('printed', READ);
    answered(1);
    now(PRINT);
    defer('printed', READ);
    answered(3, { data: '', stream: '8' });
    expect(sent).to.deep.equal(['Page.printToPDF', 'IO.read 7', 'Page.printToPDF', 'IO.read 8']);
    expect(refused).to.deep.equal([]);
  });

  it('is refused when nothing was asked to be printed, when it failed, and when the PDF is in the answer itself', () => {
    const { sent, refused, now, defer, answered, failed } = rig();
    defer('printed', READ);
    expect(refused).to.deep.equal([1]);
    now(PRINT);
    defer('printed', READ);
    failed(2);
    now(PRINT);
    defer('printed', READ);
    answered(4, { data: 'x'.repeat(2_000) });
    defer('printed', READ);
    expect(sent).to.deep.equal(['Page.printToPDF', 'Page.printToPDF']);
    expect(refused).to.deep.equal([1, 3, 5, 6]);
  });

  it('is refused when another print begins before', () => {
    const { refused, now, defer } = rig();
    now(PRINT);
    defer('printed', READ);
    now(PRINT);
    expect(refused).to.deep.equal([2]);
  });
});

describe('the commands that wait in one slot', () => {
  it('are a few at most', () => {
    const { defer, now, event, write } = rig();
    now(PRINT);
    for (let count = 0; count < 4; count++) expect([defer('loaded', READ), defer('printed', READ)]).to.deep.equal([true, true]);
    expect([defer('loaded', READ), defer('printed', READ)]).to.deep.equal([false, false]);
    write();
    event('Page.loadEventFired');
    expect(defer('printed', READ)).to.equal(true);
  });
});

describe('what a page says', () => {
  const answer = (id: number, message: object = { result: {} }) => Buffer.from(JSON.stringify({ id, ...message, sessionId: 'S' }));

  it('may be told with the load event while a command waits for that, if it is a short answer that succeeded', () => {
    const page = rig();
    page.write();
    expect(page.hear(undefined, answer(7))).to.equal(false);
    page.defer('loaded', PRINT);
    expect(page.hear(undefined, answer(7))).to.equal(true);
    expect(page.hear(undefined, answer(7, { error: { code: -32_000, message: 'no' } }))).to.equal(false);
    expect(page.hear(undefined, answer(7, { result: { text: ',"error":' } }))).to.equal(true);
    expect(page.hear(undefined, answer(7, { result: { text: 'x'.repeat(2_000) } }))).to.equal(false);
    expect(page.hear('Page.javascriptDialogOpening', Buffer.from('{}'))).to.equal(false);
    expect(page.hear('Page.loadEventFired', Buffer.from('{}'))).to.equal(false);
    expect(page.hear(undefined, answer(7))).to.equal(false);
  });

  it('may be told with the first piece of a PDF when it says that there is one, and its print was left to the worker', () => {
    const page = rig();
    page.write();
    page.event('Page.loadEventFired');
    page.defer('loaded', PRINT);
    expect(page.hear(undefined, answer(1, { result: PRINTED }))).to.equal(false);
    page.defer('loaded', PRINT);
    page.defer('printed', READ);
    expect(page.hear(undefined, answer(2, { result: PRINTED }))).to.equal(true);
    expect(page.hear(undefined, answer(3))).to.equal(false);
    page.defer('loaded', PRINT);
    page.defer('printed', READ);
    expect(page.hear(undefined, answer(4, { error: { code: -32_000, message: 'Printing failed' } }))).to.equal(false);
    page.now(PRINT);
    page.defer('printed', READ);
    expect(page.hear(undefined, answer(6, { result: PRINTED }))).to.equal(false);
  });
});
