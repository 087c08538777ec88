// The byte budget while a PDF is read from Chrome: what it holds, and that it is released however
// the read ends.
import { expect } from 'chai';
import { accountHolder, createByteBudget } from '../../api/http/byte-budget.ts';
import { runPageSession } from '../../api/page/page-session.ts';
import { renderSettings } from '../../api/page/render-settings.ts';
import { PdfFinisher } from '../../api/pdf/finish.ts';
import type { Budget } from '../../api/pdf/printed.ts';
import { WatermarkPool } from '../../api/pdf/watermark/watermark-pool.ts';
import type { Session } from '../../api/workers/session.ts';
import { SlotLost } from '../../api/workers/slot-port.ts';
import { ApiError } from '../../common/contract/errors.ts';
import { parseRenderRequest } from '../../common/contract/render-request.ts';
import { eventually } from '../support/eventually.ts';
import { sessionWith } from '../support/session-with.ts';
import { errorOf, startWorker, type TestWorker } from '../support/worker.ts';
import { largePdf } from './overload-pages.ts';

const MIB = 2 ** 20;
const HOLDER = accountHolder('account');
const LARGE = largePdf(5);
/** Always taller than its viewport: printed several times until it fits on one page. */
const GROWING = {
  html: '<header>TOP</header><main style="min-height:100vh">MIDDLE</main><footer>BOTTOM</footer>',
  single_page: true,
};

describe('the byte budget while a PDF is read from Chrome', () => {
  let worker: TestWorker;
  before(async () => {
    worker = await startWorker();
  });
  after(() => worker?.stop());

  /** Renders in a new slot. */
  async function render(
    request: object,
    reservation: Budget,
    {
      signal = new AbortController().signal,
      maxBytes = 100 * MIB,
      through = (session: Session) => session,
    } = {},
  ) {
    const session = through(await eventually(() => worker.open(HOLDER)));
    try {
      const parsed = parseRenderRequest(request, {
        ports: [80],
        allowPorts: [],
        intranet: false,
        maxTimeoutMs: 60_000,
      });
      const limits = { renderMs: 50_000, output: { maxBytes, tagged: false } };
      return await runPageSession(session, renderSettings(parsed), limits, reservation, signal, {});
    } finally {
      void session.close();
    }
  }

  /** Calls `act` as soon as the first piece of a PDF is held. */
  const atFirstPiece = (reservation: Budget, act: () => void): Budget => {
    let pieces = 0;
    return {
      ...reservation,
      reserve: bytes => {
        const taken = reservation.reserve(bytes);
        if (++pieces === 1) act();
        return taken;
      },
    };
  };

  it('holds the PDF as read, and both copies while it is finished', async () => {
    const budget = createByteBudget(100 * MIB);
    const reservation = budget.open(HOLDER);
    let most = 0;
    const observed = {
      ...reservation,
      reserve: (bytes: number) => {
        const taken = reservation.reserve(bytes);
        most = Math.max(most, budget.used());
        return taken;
      },
    };
    const printed = await render(LARGE, observed);
    const { bytes } = printed.pdf;
    expect(bytes).to.be.greaterThan(5 * MIB);
    expect(budget.used()).to.equal(bytes);
    expect(most).to.equal(bytes);
    const finisher = new PdfFinisher({ watermarks: new WatermarkPool(), maxBytes: 100 * MIB });
    const finished = await finisher.finish(
      printed,
      { metadata: {}, sandbox: false },
      'account',
      observed,
      new AbortController().signal,
    );
    expect(budget.used()).to.equal(finished.length);
    expect(most).to.equal(bytes + finished.length);
    reservation.close();
    expect(budget.used()).to.equal(0);
  });

  it('rejects a PDF beyond the budget as overloaded, and releases what was read', async () => {
    const budget = createByteBudget(3 * MIB, { shareBytes: 3 * MIB });
    const other = budget.open(HOLDER);
    other.reserve(MIB);
    const error = await errorOf(render(LARGE, budget.open(HOLDER)));
    expect(error)
      .to.be.instanceOf(ApiError)
      .and.to.include({ code: 'render_failed', reason: 'overloaded' });
    expect((error as ApiError).headers['Retry-After']).to.equal('2');
    expect(budget.used()).to.equal(MIB);
  });

  it('releases a PDF that exceeds the output limit', async () => {
    const budget = createByteBudget(100 * MIB);
    const error = await errorOf(render(LARGE, budget.open(HOLDER), { maxBytes: 3 * MIB }));
    expect(error).to.include({ reason: 'output_limit' });
    expect(budget.used()).to.equal(0);
  });

  it('releases everything when the render is aborted during the read', async () => {
    const budget = createByteBudget(100 * MIB);
    const gone = new AbortController();
    const observed = atFirstPiece(budget.open(HOLDER), () =>
      gone.abort(new Error('the client disconnected')),
    );
    const error = await errorOf(render(LARGE, observed, { signal: gone.signal }));
    expect(error?.message).to.equal('the client disconnected');
    await eventually(() => expect(budget.used()).to.equal(0));
  });

  it('releases everything when the render is aborted while its worker does not respond', async () => {
    const budget = createByteBudget(100 * MIB);
    const gone = new AbortController();
    let reads = 0;
    /** Responds to two reads and never to the third, like a frozen worker. */
    const through = (session: Session): Session =>
      sessionWith(session, async (method, ...params) => {
        if (method === 'IO.read' && ++reads > 2) {
          gone.abort(new Error('the client disconnected'));
          await new Promise(() => {});
        }
        return session.command(method, ...params);
      });
    const error = await errorOf(
      render(LARGE, budget.open(HOLDER), { signal: gone.signal, through }),
    );
    expect(error?.message).to.equal('the client disconnected');
    await eventually(() => expect(budget.used()).to.equal(0));
  });

  it('holds one PDF when another slot repeats a lost render', async () => {
    const budget = createByteBudget(100 * MIB);
    const reservation = budget.open(HOLDER);
    const killed: Promise<void>[] = [];
    const observed = atFirstPiece(reservation, () => killed.push(worker.killChromes()));
    expect(await errorOf(render(LARGE, observed))).to.be.instanceOf(SlotLost);
    expect(budget.used()).to.equal(0);
    await Promise.all(killed);
    await worker.until({ chrome: 'up' });
    const { pdf } = await render(LARGE, reservation);
    expect(budget.used()).to.equal(pdf.bytes);
  });

  it('holds the last print of a single page that is printed several times', async () => {
    const budget = createByteBudget(100 * MIB);
    let prints = 0;
    const reservation = budget.open(HOLDER);
    const { pdf } = await render(GROWING, {
      ...reservation,
      reserve: bytes => {
        if (bytes > 0) prints += 1;
        return reservation.reserve(bytes);
      },
    });
    expect(prints).to.be.greaterThan(1);
    expect(budget.used()).to.equal(pdf.bytes);
  });

  it('releases a document that was printed only to count its pages', async () => {
    const budget = createByteBudget(100 * MIB);
    const error = await errorOf(
      render({ html: '<p>one page</p>', pages: '7' }, budget.open(HOLDER)),
    );
    expect(error).to.include({ code: 'validation_error' });
    expect(budget.used()).to.equal(0);
  });

  it('reserves nothing for a request that has ended', async () => {
    const budget = createByteBudget(100 * MIB);
    const reservation = budget.open(HOLDER);
    reservation.close();
    expect(await errorOf(render(LARGE, reservation))).to.include({ reason: 'overloaded' });
    expect(budget.used()).to.equal(0);
  });
});
