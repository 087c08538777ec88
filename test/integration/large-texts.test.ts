import { expect } from 'chai';
import { PIECE_CHARS } from '../../api/render/large-texts.ts';
import type { Session } from '../../api/render/session.ts';
import { evaluate, startWorker, type TestWorker } from '../support/worker.ts';

const PIECES = 6;
/** The characters that JSON escapes, and some of two, three and four bytes; of odd length, so that pieces end inside of every kind of them. */
const ODD = 'é€😀"\\\n\t\u2028';
const LARGE = ODD.repeat(Math.ceil((PIECES * PIECE_CHARS) / ODD.length));

describe('a command with a large text', () => {
  let worker: TestWorker;
  let session: Session;

  before(async () => {
    worker = await startWorker();
  });
  after(() => worker.stop());
  beforeEach(async () => {
    session = await worker.open();
  });
  afterEach(() => session.close());

  const open = (text: string) =>
    session.command('Page.setDocumentContent', { frameId: session.frameId, html: `<!doctype html><meta charset="utf-8"><pre>${text}` });
  const shown = () => evaluate(session, 'document.querySelector("pre")?.textContent');

  it('brings the text to the page as it is', async () => {
    await open(LARGE);
    expect((await shown()) === LARGE).to.equal(true);
  });

  it('keeps its place before the commands that are sent while it is written, small and large', async () => {
    const opened = open(`first ${LARGE}`);
    const first = shown();
    const again = open(`second ${LARGE}`);
    const second = shown();
    await Promise.all([opened, again]);
    expect((await first) === `first ${LARGE}`).to.equal(true);
    expect((await second) === `second ${LARGE}`).to.equal(true);
  });

  it('fails as any other when the session ends while it is written', async () => {
    const opened = open(LARGE).catch((error: Error) => error);
    session.close();
    expect(await opened).to.have.property('name', 'SlotLost');
  });
});
