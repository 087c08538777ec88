import { expect } from 'chai';
import { parseRenderRequest } from '../../api/contract/render-request.ts';
import { converse } from '../../api/render/conversation.ts';
import { PIECE_CHARS } from '../../api/render/large-texts.ts';
import { plan } from '../../api/render/plan.ts';
import type { Session } from '../../api/render/session.ts';
import { pdfText } from '../support/pdf.ts';
import { PUBLIC } from '../support/refusal.ts';
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
    await worker.until({ busy: 0, ready: 2 });
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

  it('is answered by a large PDF that is read whole, though Chrome ends pieces early where characters could be cut', async () => {
    const noise = `<canvas width="1500" height="1500"></canvas>MIDDLE<script>
      const context = document.querySelector('canvas').getContext('2d');
      const image = context.createImageData(1500, 1500);
      for (let at = 0; at < image.data.length; at += 65536) crypto.getRandomValues(image.data.subarray(at, at + 65536));
      for (let at = 3; at < image.data.length; at += 4) image.data[at] = 255;
      context.putImageData(image, 0, 0);
    </script>`;
    const limits = { renderMs: 20_000, output: { maxBytes: 2 ** 24, tagged: false } };
    const room = { take: () => true, give: () => {} };
    const planned = plan(parseRenderRequest({ html: noise }, PUBLIC));
    const { pdf } = await converse(session, planned, limits, room, new AbortController().signal, {});
    const bytes = Buffer.concat(pdf.pieces);
    expect(bytes.length).to.be.greaterThan(5 * 2 ** 20);
    expect(bytes.toString('latin1', pdf.tableAt, pdf.tableAt + 4)).to.equal('xref'); // no byte before it is missing
    expect(await pdfText(bytes)).to.include('MIDDLE');
  });
});
