import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { pino } from 'pino';
import { eventually } from '../../support/eventually.ts';
import { type PlainSlot, plainSlot } from '../../support/gateway-client.ts';
import { startWorker, type TestWorker } from '../../support/worker.ts';

/** The methods that a render needs; the worker must reject every other method of the protocol. */
const ALLOWED = new Set([
  'Emulation.setDeviceMetricsOverride',
  'Emulation.setEmulatedMedia',
  'Fetch.continueRequest',
  'Fetch.continueWithAuth',
  'Fetch.enable',
  'IO.close',
  'IO.read',
  'Network.enable',
  'Network.setCookie',
  'Page.createIsolatedWorld',
  'Page.handleJavaScriptDialog',
  'Page.navigate',
  'Page.printToPDF',
  'Page.setBypassCSP',
  'Page.setDocumentContent',
  'Runtime.callFunctionOn',
  'Runtime.disable',
  'Runtime.enable',
  'Runtime.evaluate',
]);

const isOpen = ({ socket }: PlainSlot) => socket.readyState === socket.OPEN;

interface Domain {
  domain: string;
  commands?: { name: string }[];
}
/** All methods of Chrome's protocol, of the browser and of JavaScript. */
const METHODS = ['browser_protocol', 'js_protocol'].flatMap(part => {
  const file = new URL(
    `../../../node_modules/devtools-protocol/json/${part}.json`,
    import.meta.url,
  );
  const { domains } = JSON.parse(readFileSync(file, 'utf8')) as { domains: Domain[] };
  return domains.flatMap(({ domain, commands = [] }) =>
    commands.map(({ name }) => `${domain}.${name}`),
  );
});

describe('an attacker with a slot', () => {
  const lines: string[] = [];
  let worker: TestWorker;
  let slot: PlainSlot;
  let neighbour: PlainSlot;

  before(async () => {
    worker = await startWorker(
      {},
      pino({ level: 'debug' }, { write: (line: string) => void lines.push(line) }),
    );
    await worker.until({ ready: 2 });
    neighbour = await plainSlot(worker);
    slot = await plainSlot(worker);
  });
  after(async () => {
    await neighbour.close();
    if (isOpen(slot)) await slot.close();
    await worker.stop();
  });
  beforeEach(async () => {
    if (!isOpen(slot)) {
      await worker.until({ busy: 1, ready: 1 });
      slot = await plainSlot(worker);
    }
    lines.length = 0;
  });
  afterEach(async () => {
    // An attack on one slot must not affect the other.
    expect(
      (await neighbour.command('Runtime.evaluate', { expression: '6 * 7' })).result,
    ).to.have.nested.property('result.value', 42);
  });

  const value = async (session: PlainSlot, expression: string) =>
    (
      await session.command('Runtime.evaluate', {
        expression,
        returnByValue: true,
        awaitPromise: true,
      })
    ).result!.result as {
      value: unknown;
    };
  const targets = async () => {
    const { pipe } = worker.worker.chromes()[0]!;
    const { targetInfos } = await pipe.command<{
      targetInfos: { targetId: string; title: string; url: string }[];
    }>('Target.getTargets');
    return targetInfos;
  };
  /** The target id of the neighbour's page, which is also the id of its frame. */
  const neighboursTarget = async () => {
    await value(neighbour, 'document.title = "the neighbour"');
    return eventually(async () => {
      const found = (await targets()).find(({ title }) => title === 'the neighbour');
      if (!found) throw new Error('the title has not arrived');
      return found.targetId;
    });
  };

  describe('cannot send other methods than a render needs:', () => {
    it('hundreds of methods are rejected, and the slot remains usable', async () => {
      expect(METHODS.length).to.be.greaterThan(500);
      expect(METHODS).to.include.members([...ALLOWED]);
      const forbidden = METHODS.filter(method => !ALLOWED.has(method));
      const answers = await Promise.all(forbidden.map(method => slot.command(method)));
      const passed = forbidden.filter((_method, index) => answers[index]!.error?.code !== -32_601);
      expect(passed).to.deep.equal([]);
      expect(
        answers.filter(({ error }) => !error!.message.endsWith('this method is not allowed')),
      ).to.deep.equal([]);
      expect(await value(slot, '1 + 1')).to.include({ value: 2 });
    });

    it('a rejected method is logged once with its name and the render id', async () => {
      await slot.command('Browser.close', { secret: 'of the client' });
      const logged = lines.filter(line => line.includes('rejected a command'));
      expect(logged).to.have.length(1);
      expect(JSON.parse(logged[0]!)).to.include({ method: 'Browser.close', renderId: 'test' });
      expect(lines.join('')).to.not.include('of the client');
    });

    const parameters: [string, object][] = [
      ['Fetch.continueRequest', { requestId: 'x', url: 'file:///etc/passwd' }],
      ['Fetch.continueRequest', { requestId: 'x', interceptResponse: true }],
      ['Fetch.enable', { patterns: [{ urlPattern: '*', requestStage: 'Response' }] }],
      ['Network.setCookie', { name: 'a', value: 'b', url: 'http://a.example', partitionKey: {} }],
      ['Runtime.enable', { anything: true }],
      ['Page.setBypassCSP', { enabled: 'true' }],
    ];
    for (const [method, params] of parameters)
      it(`${method} with ${Object.keys(params).at(-1)} is rejected`, async () => {
        expect((await slot.command(method, params)).error).to.include({ code: -32_601 });
      });
  });

  describe('cannot navigate to a URL outside the web:', () => {
    const urls = [
      'file:///etc/passwd',
      'FILE:///etc/passwd',
      'FiLe:/etc/passwd',
      'file:etc/passwd',
      'file:\\\\\\etc\\passwd',
      ' file:///etc/passwd',
      '\tfile:///etc/passwd',
      '\n\r file:///etc/passwd',
      '\u0000file:///etc/passwd',
      'fi\tle:///etc/passwd',
      'f\nile:///etc/passwd',
      '\u00a0file:///etc/passwd',
      '\ufefffile:///etc/passwd',
      'file://localhost/etc/passwd',
      'file://server/share/passwd',
      '\\\\server\\share\\passwd',
      '//server/share',
      '/etc/passwd',
      'etc/passwd',
      'C:\\secret.txt',
      'view-source:file:///etc/passwd',
      'view-source:http://127.0.0.1/',
      'VIEW-SOURCE:http://127.0.0.1/',
      'view-source:about:blank',
      'http:view-source:file:///etc/passwd#'.replace('http:', 'view-source:'),
      'chrome://version',
      'Chrome://gpu/',
      'chrome-untrusted://print/',
      'chrome-extension://aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa/',
      'chrome-error://chromewebdata/',
      'chrome-search://local-ntp',
      'isolated-app://a',
      'devtools://devtools/bundled/inspector.html',
      'javascript:document.title="run"',
      ' JavaScript:document.title="run"',
      'java\nscript:document.title="run"',
      'data:text/html,<title>run</title>',
      'DATA:text/html;base64,PHRpdGxlPnJ1bjwvdGl0bGU+',
      'blob:null/00000000-0000-0000-0000-000000000000',
      'blob:http://127.0.0.1/00000000-0000-0000-0000-000000000000',
      'filesystem:http://127.0.0.1/temporary/x',
      'about:srcdoc',
      'about:version',
      'about:gpu',
      'about:blank#x',
      'about:blank?x',
      'ABOUT:BLANK',
      'about:',
      'ftp://127.0.0.1/',
      'ws://127.0.0.1/',
      'gopher://127.0.0.1/',
      'mailto:a@b.example',
      'intent://a#Intent;end',
      'googlechrome://a',
      'content://a',
      'cid:a',
      'mhtml:file:///etc/passwd',
      'jar:file:///a!/b',
      'http://',
      'http://[',
      'http://a b/',
      '',
      ' ',
    ];
    for (const url of urls)
      it(JSON.stringify(url), async () => {
        const reply = await slot.command('Page.navigate', { url });
        expect(reply.error, JSON.stringify(reply)).to.include({ code: -32_601 });
        expect(await value(slot, 'location.href + document.title')).to.include({
          value: 'about:blank',
        });
      });

    for (const url of [7, null, ['http://a.example'], { href: 'http://a.example' }, undefined])
      it(`the value ${JSON.stringify(url)}`, async () => {
        expect((await slot.command('Page.navigate', { url })).error).to.include({ code: -32_601 });
      });

    // URLs that Node parses as http must not be files for Chrome: each of these ends at the guard.
    const tricks = [
      'http:/etc/passwd',
      'http:etc/passwd',
      'http:\\\\127.0.0.1\\share',
      'http:///etc/passwd',
      'ht\ntp://127.0.0.1/',
      ' \u0001http://127.0.0.1/',
      'HTTP://127.0.0.1/',
      'http://file:///etc/passwd',
      'http://@127.0.0.1/',
      'https:file:///etc/passwd',
    ];
    for (const url of tricks)
      it(`${JSON.stringify(url)} is rejected or http for Chrome too`, async () => {
        const reply = await slot.command('Page.navigate', { url });
        if (reply.error) return;
        expect(reply.result!.errorText, JSON.stringify(reply)).to.match(/^net::ERR_/);
        const text = await value(slot, 'document.documentElement?.textContent ?? ""');
        expect(text.value).to.not.include('root:');
      });
  });

  describe('cannot leave its own page:', () => {
    it('a session id in a command is ignored', async () => {
      const { pipe } = worker.worker.chromes()[0]!;
      const { sessionId } = await pipe.command<{ sessionId: string }>('Target.attachToTarget', {
        targetId: await neighboursTarget(),
        flatten: true,
      });
      await value(slot, 'document.title = "mine"');
      const params = { expression: 'document.title', returnByValue: true };
      const reply = await slot.command('Runtime.evaluate', params, { sessionId });
      expect(reply.result).to.have.nested.property('result.value', 'mine');
      const twice = `{"id":900,"sessionId":"${sessionId}","method":"Runtime.evaluate","params":${JSON.stringify(params)},"sessionId":"${sessionId}"}`;
      expect((await slot.ask(900, twice)).result).to.have.nested.property('result.value', 'mine');
    });

    it('a frame of another slot is not found', async () => {
      const frameId = await neighboursTarget();
      const html = '<title>taken over</title>';
      for (const [method, params] of [
        ['Page.setDocumentContent', { frameId, html }],
        ['Page.navigate', { url: 'about:blank', frameId }],
        ['Page.createIsolatedWorld', { frameId }],
      ] as const)
        expect((await slot.command(method, params)).error?.message, method).to.match(
          /frame.*not found|no frame/i,
        );
      expect(await value(neighbour, 'document.title')).to.include({ value: 'the neighbour' });
    });

    it('a printed PDF of another slot cannot be read', async () => {
      const printed = await neighbour.command('Page.printToPDF', {
        transferMode: 'ReturnAsStream',
      });
      const handle = printed.result!.stream as string;
      expect((await slot.command('IO.read', { handle })).error).to.include({ code: -32_602 });
      expect((await neighbour.command('IO.read', { handle })).result).to.have.property('data');
    });

    it('a blob of another slot cannot be read', async () => {
      const blob = await value(neighbour, 'URL.createObjectURL(new Blob(["of the neighbour"]))');
      const handle = String(blob.value).replace(/^.*\//, 'blob:');
      const reply = await slot.command('IO.read', { handle });
      expect(JSON.stringify(reply)).to.not.include('of the neighbour');
      expect(reply.error ?? reply.result).to.not.have.property('data', 'of the neighbour');
    });
  });
});
