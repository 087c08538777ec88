// Number of prints until a single page fits: one, unless the content depends on the page height.
import { expect } from 'chai';
import { overloaded } from '../../../api/http/byte-budget.ts';
import { runPageSession } from '../../../api/page/page-session.ts';
import { renderSettings } from '../../../api/page/render-settings.ts';
import { parseRenderRequest } from '../../../common/contract/render-request.ts';
import { eventually } from '../../support/eventually.ts';
import { html } from '../../support/installation.ts';
import { sessionWith } from '../../support/session-with.ts';
import { startWorker, type TestWorker } from '../../support/worker.ts';

const page = (body: string, css = '') => html(body, `<style>body{margin:0}${css}</style>`);
const NONE = { top: '0', right: '0', bottom: '0', left: '0' };

describe('prints of a single page', () => {
  let worker: TestWorker;
  before(async () => {
    worker = await startWorker();
  });
  after(() => worker?.stop());

  async function prints(request: object): Promise<number> {
    const session = await eventually(() => worker.open());
    let count = 0;
    const counting = sessionWith(session, (method, ...params) => {
      if (method === 'Page.printToPDF') count++;
      return session.command(method, ...params);
    });
    try {
      const parsed = parseRenderRequest(
        { single_page: true, margin: NONE, ...request },
        { ports: [80], allowPorts: [], intranet: false, maxTimeoutMs: 60_000 },
      );
      const limits = { renderMs: 20_000, output: { maxBytes: 2 ** 24, tagged: false } };
      await runPageSession(
        counting,
        renderSettings(parsed),
        limits,
        { reserve: () => true, release: () => {}, overBudget: overloaded },
        new AbortController().signal,
        {},
      );
    } finally {
      session.close();
    }
    return count;
  }

  const once: [string, object][] = [
    ['a long page', { html: page('<p>x</p>'.repeat(200)) }],
    ['a short page', { html: page('<p>x</p>') }],
    ['a fractional height', { html: page('<div style="height:1500.4px">x</div>') }],
    ['a paragraph in bold without a doctype', { html: '<b><p>x</p></b>' }],
    ['breaks between pages', { html: page('<div style="break-after:page">x</div>'.repeat(5)) }],
    ['@page with margins', { html: page('<p>x</p>'.repeat(200), '@page{margin:50mm}') }],
    ['content that is too wide', { html: page('<div style="width:3000px;height:2000px">x</div>') }],
    [
      'header, footer and scale',
      { html: page('<p>x</p>'.repeat(200)), scale: 0.7, header: { html: 'x', height: '13mm' } },
    ],
  ];
  for (const [what, request] of once)
    it(`prints ${what} once`, async () => {
      expect(await prints(request)).to.equal(1);
    });

  it('prints content taller than the viewport height twice', async () => {
    expect(
      await prints({ html: page('<header>x</header><main style="height:100vh">y</main>') }),
    ).to.equal(2);
  });
});
