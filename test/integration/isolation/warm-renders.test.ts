import { expect } from 'chai';
import { invoice } from '../../../bench/invoice.ts';
import { renderCall } from '../../support/http-call.ts';
import { type Installation, installation } from '../../support/installation.ts';
import { pdfText } from '../../support/pdf.ts';

describe('renders with PRESSROOM_RENDERER_REUSE=on', () => {
  let pressroom: Installation;

  before(async () => {
    pressroom = await installation({ env: { PRESSROOM_RENDERER_REUSE: 'on' } });
  });
  after(() => pressroom.stop());

  const render = async (body: object, key = pressroom.key) => {
    const { status, body: pdf, headers } = await renderCall(pressroom.api.port(), key, body);
    expect(status, status === 200 ? '' : String(pdf)).to.equal(200);
    const timing = String(headers['server-timing']);
    return { pdf, isolation: /isolation;desc="(\w+)"/.exec(timing)?.[1] };
  };

  it('use sealed pages for static documents', async () => {
    for (let nth = 1; nth <= 6; nth++) {
      const { pdf, isolation } = await render({ html: invoice(nth) });
      expect(isolation).to.equal('warm');
      expect(await pdfText(pdf)).to.include(String(nth));
    }
  });

  it('use fresh pages for accounts that exclude it', async () => {
    const { accounts } = pressroom;
    await accounts.createAccount('careful', { plan: 'scale' });
    await accounts.setAccount('careful', { rendererReuse: false });
    const { text } = await accounts.createKey('careful', { name: 'careful' });
    expect(await render({ html: invoice(1) }, text)).to.have.property('isolation', 'fresh');
  });

  for (const [what, body] of [
    ['scripts', { html: '<p id=p>x<script>p.append("RAN")</script>' }],
    ['a wait', { html: '<p>RAN', wait_delay: '1ms' }],
    ['a script of the request', { html: '<p id=p>x', javascript: 'p.append("RAN")' }],
    ['a single page', { html: '<p>RAN', single_page: true }],
  ] as [string, object][])
    it(`use fresh pages for documents with ${what}`, async () => {
      const { pdf, isolation } = await render(body);
      expect(isolation).to.equal('fresh');
      expect(await pdfText(pdf)).to.include('RAN');
    });

  it('print style sheets with data URLs and fragments', async () => {
    for (const css of ['p{background:url(data:image/png;base64,AAAA)}', 'p{clip-path:url(#x)}'])
      for (let nth = 0; nth < 2; nth++)
        expect(await render({ html: '<p>Hello', css })).to.have.property('isolation', 'warm');
  });

  for (const part of ['header', 'footer'])
    for (const [tag, isolation] of [
      ['<svg', 'fresh'],
      // Without the `meta`, which is left out, this would be the same.
      ['<<meta>svg', 'warm'],
    ] as const)
      it(`run no script of a ${part} in a sealed page: ${tag}`, async () => {
        // Chrome runs this one while it parses the template, also if scripts are disabled.
        const onload = "this.getRootNode().querySelector('p').textContent='R'+'AN'";
        const html = `<p>quiet</p>${tag}>${tag} onload="${onload}"></svg></svg>`;
        const body = { html: '<p>Hello', [part]: { html, height: '2cm' } };
        await render(body); // measures the template
        const rendered = await render(body);
        expect(rendered.isolation).to.equal(isolation);
        expect((await pdfText(rendered.pdf)).includes('RAN')).to.equal(isolation === 'fresh');
      });

  it('print margins, page rules, scale, inline styles, headers and footers as in fresh pages', async () => {
    const html = '<style>@page{size:A5;margin:3cm}p{color:red}</style><p dir=rtl>Hello</p>';
    const body = {
      html,
      css: 'p::after{content:" styled"}',
      margin: { top: '2cm' },
      scale: 0.8,
      header: { html: '<p>Top</p>', height: '1cm' },
      footer: { html: '<p>Bottom</p>', height: '1cm' },
    };
    const fresh = await render({ ...body, wait_delay: '1ms' });
    expect(fresh.isolation).to.equal('fresh');
    for (let nth = 0; nth < 3; nth++) {
      const warm = await render(body);
      expect(warm.isolation).to.equal('warm');
      expect(await pdfText(warm.pdf)).to.equal(await pdfText(fresh.pdf));
    }
  });
});
