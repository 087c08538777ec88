import { expect } from 'chai';
import { inPieces, load, PIECE_CHARS, WHOLE_CHARS } from '../../../../api/page/load.ts';
import type { Page } from '../../../../api/page/page.ts';
import { STEPS } from '../../../../api/page/page-session.ts';
import { renderSettings } from '../../../../api/page/render-settings.ts';
import { parseRenderRequest } from '../../../../common/contract/render-request.ts';
import { PUBLIC } from '../../../support/request-error.ts';

/** The commands until the page is loaded; each response arrives a turn later. */
async function commandsOf(body: object): Promise<string[]> {
  const sent: string[] = [];
  const session = {
    frameId: 'frame',
    ended: new Promise(() => {}),
    on: () => {},
    command: async (method: string) => {
      sent.push(method);
      await new Promise(setImmediate);
      return { success: true, result: {} };
    },
  };
  const navigation = { documents: () => 1, loaded: async () => {} };
  await load({
    session,
    settings: renderSettings(parseRenderRequest(body, PUBLIC)),
    navigation,
  } as unknown as Page);
  return sent;
}

const html = '<p>x</p>';
const url = 'https://example.com/';

describe('the first commands of a render', () => {
  it('are three for a plain document, sent without waiting', async () => {
    expect(await commandsOf({ html })).to.deep.equal([
      'Pressroom.still',
      'Emulation.setEmulatedMedia',
      'Page.setDocumentContent',
    ]);
  });

  it('watch the network only when the document may load something', async () => {
    const watches = async (body: object) => (await commandsOf(body)).includes('Network.enable');
    const script = '<script>1 // comment</script><svg xmlns="http://www.w3.org/2000/svg"/>';
    expect(await watches({ html: script })).to.equal(false);
    expect(await watches({ html: `${script}<img src=data:image/png;base64,a//b=>` })).to.equal(
      false,
    );
    for (const src of [
      'https://a.test/b',
      '//a.test/b',
      ' //a.test/b',
      'https:/a.test/b',
      'https:&#x2F;&#x2F;a.test&#x2F;b',
      '&#47;&#x2f;a.test/b',
      '\\\\a.test/b',
    ])
      expect(await watches({ html: `<img src="${src}">` }), src).to.equal(true);
    for (const more of [
      { css: 'p { background: url(//a.test/b) }' },
      { javascript: 'fetch("https://a.test/")' },
      { javascript: 'https://a.test/b.js' },
      { html: String.raw`<script>new Image().src = "https:\/\/a.test\/b"</script>` },
      { wait_for_network_idle: true },
      { fail_on_resource_error: true },
    ])
      expect(await watches({ html: script, ...more }), JSON.stringify(more)).to.equal(true);
  });

  it('write a document in pieces when its JSON would block the event loop', async () => {
    const opening = async (size: number) => {
      const sent = await commandsOf({ html: 'x'.repeat(size) });
      return sent.filter(each => /setDocument|callFunction/.test(each));
    };
    expect(await opening(WHOLE_CHARS)).to.deep.equal(['Page.setDocumentContent']);
    const pieces = WHOLE_CHARS / PIECE_CHARS + 1;
    expect(await opening(WHOLE_CHARS + 1)).to.deep.equal(
      Array(pieces + 1).fill('Runtime.callFunctionOn'),
    );
    for (let shift = 0; shift < 3; shift++) {
      const html = 'x'.repeat(shift) + '€😀'.repeat(PIECE_CHARS);
      const cut = [...inPieces(html)];
      expect(
        cut.join('') === html &&
          cut.every(each => each.isWellFormed() && each.length <= PIECE_CHARS),
      ).to.equal(true);
    }
  });

  it('are three for a plain page', async () => {
    expect(await commandsOf({ url })).to.deep.equal([
      'Emulation.setEmulatedMedia',
      'Network.enable',
      'Page.navigate',
    ]);
  });

  const more: [string, object, string[]][] = [
    ['extra headers', { extra_http_headers: { 'X-Tenant': 'blue' } }, ['Fetch.enable']],
    ['Authorization', { extra_http_headers: { Authorization: 'Bearer x' } }, ['Fetch.enable']],
    ['auth', { auth: { username: 'a', password: 'b' } }, ['Fetch.enable']],
    [
      'two cookies',
      { cookies: ['a', 'b'].map(name => ({ name, value: '1', domain: 'example.com' })) },
      ['Network.setCookie', 'Network.setCookie'],
    ],
    ['a sheet from an address', { css: 'https://example.com/a.css' }, ['Page.setBypassCSP']],
    ['a script from an address', { javascript: 'https://example.com/a.js' }, ['Page.setBypassCSP']],
    [
      'a sheet that loads a font',
      { css: '@font-face { font-family: f; src: url(f.woff) }' },
      ['Page.setBypassCSP'],
    ],
    ['a sheet that imports another', { css: '@IMPORT "a.css"' }, ['Page.setBypassCSP']],
    ['an inline sheet and an inline script', { css: 'p { color: red }', javascript: '1' }, []],
  ];
  for (const [what, fields, added] of more)
    it(`are ${added.length === 0 ? 'none' : added.join(' and ')} more for ${what}, before the page is opened`, async () => {
      const plain = ['Emulation.setEmulatedMedia', 'Network.enable', 'Page.navigate'];
      const sent = await commandsOf({ url, ...fields });
      expect([...sent].sort()).to.deep.equal([...plain, ...added].sort());
      expect(sent.at(-1)).to.equal('Page.navigate');
    });

  it('open a document only after its cookies and headers are set', async () => {
    const cookies = [{ name: 'a', value: '1', domain: 'example.com' }];
    for (const fields of [{ cookies }, { extra_http_headers: { 'X-Tenant': 'blue' } }])
      expect((await commandsOf({ html, ...fields })).at(-1)).to.equal('Page.setDocumentContent');
  });
});

describe('the steps of a render', () => {
  it('run in the order of the contract', () => {
    const all = renderSettings(
      parseRenderRequest(
        {
          url,
          css: 'p {}',
          javascript: '1',
          lazy_load_images: true,
          wait_for_selector: 'p',
          wait_for_expression: '1',
          wait_for_network_idle: true,
          wait_delay: '1ms',
          finish_animations: true,
          fail_on_resource_error: true,
        },
        PUBLIC,
      ),
    );
    const messages = STEPS.filter(step => step.applies(all)).map(step => step.waitingFor(all));
    const order = [
      /load event/,
      /fonts/,
      /^`css/,
      /^`javascript/,
      /lazy_load/,
      /selector/,
      /expression/,
      /network_idle/,
      /delay/,
      /animations/,
      /resource_error/,
    ];
    expect(messages).to.have.lengthOf(order.length);
    order.forEach((pattern, at) => void expect(messages[at]).to.match(pattern));
  });
});
