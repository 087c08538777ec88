import { expect } from 'chai';
import { overloaded } from '../../../api/http/byte-budget.ts';
import { openHtml, PIECE_CHARS, WHOLE_CHARS } from '../../../api/page/load.ts';
import { runPageSession } from '../../../api/page/page-session.ts';
import { renderSettings } from '../../../api/page/render-settings.ts';
import type { Session } from '../../../api/workers/session.ts';
import { parseRenderRequest } from '../../../common/contract/render-request.ts';
import { eventually } from '../../support/eventually.ts';
import { pdfText } from '../../support/pdf.ts';
import { PUBLIC } from '../../support/request-error.ts';
import { evaluate, startWorker, type TestWorker } from '../../support/worker.ts';

/**
 * Characters that JSON escapes and characters of two, three and four bytes. The odd length makes
 * pieces end inside each kind.
 */
const MIXED = 'é€😀"\\\n\t\u2028';
const LARGE = MIXED.repeat(Math.ceil((6 * PIECE_CHARS) / MIXED.length));

describe('large HTML documents', () => {
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

  const shown = (expression: string) => evaluate(session, expression);
  const text = 'document.querySelector("pre").textContent';

  it('transfers a document unchanged when pieces end inside characters', async () => {
    await openHtml(session, `<!doctype html><pre>${LARGE}`);
    expect((await shown(text)) === LARGE).to.equal(true);
  });

  it('shows scripts the same environment as a small document', async () => {
    const seen: unknown[] = [];
    for (const size of [0, WHOLE_CHARS]) {
      const script = `addEventListener('load', () => {
        const { URL: url, baseURI, characterSet, compatMode, referrer, readyState } = document;
        const names = Object.getOwnPropertyNames(window).length;
        document.title = JSON.stringify([url, baseURI, characterSet, compatMode, referrer, readyState, origin, history.length, names]);
      })`;
      await openHtml(
        session,
        `<!doctype html><script>${script}</script><p>x</p><!--${'x'.repeat(size)}-->`,
      );
      await eventually(async () => expect(await shown('document.title')).to.not.equal(''));
      seen.push(await shown('document.title'));
      session.close();
      await worker.until({ busy: 0, ready: 2 });
      session = await worker.open();
    }
    expect(seen[1]).to.equal(seen[0]);
    expect(seen[1]).to.include('"null"').and.include('CSS1Compat');
  });

  it('fails with SlotLost when the session ends during the transfer', async () => {
    const opened = openHtml(session, LARGE).catch((error: Error) => error);
    session.close();
    expect(await opened).to.have.property('name', 'SlotLost');
  });

  it('produces a complete large PDF although Chrome returns shortened pieces', async () => {
    const noise = `<canvas width="1500" height="1500"></canvas>MIDDLE<script>
      const context = document.querySelector('canvas').getContext('2d');
      const image = context.createImageData(1500, 1500);
      for (let at = 0; at < image.data.length; at += 65536) crypto.getRandomValues(image.data.subarray(at, at + 65536));
      for (let at = 3; at < image.data.length; at += 4) image.data[at] = 255;
      context.putImageData(image, 0, 0);
    </script>`;
    const limits = { renderMs: 20_000, output: { maxBytes: 2 ** 24, tagged: false } };
    const budget = { reserve: () => true, release: () => {}, overBudget: overloaded };
    const settings = renderSettings(parseRenderRequest({ html: noise }, PUBLIC));
    const { pdf } = await runPageSession(
      session,
      settings,
      limits,
      budget,
      new AbortController().signal,
      {},
    );
    const bytes = Buffer.concat(pdf.pieces);
    expect(bytes.length).to.be.greaterThan(5 * 2 ** 20);
    // The offset is correct only if no byte is missing.
    expect(bytes.toString('latin1', pdf.tableAt, pdf.tableAt + 4)).to.equal('xref');
    expect(await pdfText(bytes)).to.include('MIDDLE');
  });
});
