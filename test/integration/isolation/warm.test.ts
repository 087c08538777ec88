import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { eventually } from '../../support/eventually.ts';
import { plainSlot } from '../../support/gateway-client.ts';
import { pdfText } from '../../support/pdf.ts';
import { startWebServer, type WebServer } from '../../support/servers/web-server.ts';
import { printOn, renderStatic, warmRenders } from '../../support/warm-renders.ts';
import { errorOf, startWorker, type TestWorker } from '../../support/worker.ts';

const HELLO = '<!doctype html><p>Hello</p>';
/** Longer than a warm page may be idle by default. */
const IDLE_MS = 15_000;
const MAX_RENDERS = 10;
/** The processes of a Chrome are listed once a second. */
const MEASURED_EVERY_MS = 1_500;

describe('warm pages', () => {
  let worker: TestWorker;
  let server: WebServer;
  /** Before the test. */
  let earlier = 0;
  let address: string;

  before(async () => {
    server = await startWebServer({ '/': 'secret' });
    address = `127.0.0.1:${server.port}`;
    worker = await startWorker({
      PRESSROOM_SLOTS: '1',
      PRESSROOM_EGRESS_ALLOW: address,
      PRESSROOM_WARM_PAGE_RENDERS: String(MAX_RENDERS),
    });
  });
  after(async () => {
    await worker.stop();
    await server.close();
  });
  beforeEach(async () => {
    earlier = server.connections();
    await worker.until({ ready: 1 });
    // Its fresh page closes the warm one.
    await renderStatic(worker, HELLO, { isolation: 'fresh' });
    await worker.until({ ready: 1 });
    expect(worker.worker.status().warm).to.equal(undefined);
  });

  const chrome = () => worker.worker.chromes()[0]!;
  const pages = async () => {
    const { targetInfos } = await chrome().pipe.command<{
      targetInfos: { type: string; targetId: string; url: string }[];
    }>('Target.getTargets');
    return targetInfos.filter(({ type }) => type === 'page');
  };
  const render = async (html = HELLO, account = 'a') => {
    const pdf = await renderStatic(worker, html, { account });
    await worker.until({ ready: 1 });
    return pdf;
  };
  /** Leaves a warm page of the account. */
  const warmUp = async (account = 'a') => {
    for (let renders = 0; renders < 3; renders++) await render(HELLO, account);
    expect(worker.worker.status().warm).to.deep.equal([account]);
  };
  const violations = async () =>
    Number(/^pressroom_worker_warm_violations_total (\d+)/m.exec(await worker.metrics.text())?.[1]);

  it('are kept from the second static document of an account', async () => {
    const before = await warmRenders(worker);
    await render();
    expect(worker.worker.status().warm).to.equal(undefined);
    await render();
    expect(worker.worker.status().warm).to.deep.equal(['a']);
    expect(await warmRenders(worker)).to.equal(before);
    await render();
    expect(await warmRenders(worker)).to.equal(before + 1);
    expect(await pages()).to.have.length(2);
  });

  it('are not kept when many accounts take turns', async () => {
    for (const account of ['p', 'q', 'r', 'p', 'q', 'r']) {
      await render(HELLO, account);
      expect(worker.worker.status().warm).to.equal(undefined);
    }
  });

  it('are closed when another account claims the slot', async () => {
    await warmUp();
    const session = await worker.open({ account: 'b', isolation: 'warm' });
    expect(worker.worker.status().warm).to.equal(undefined);
    await eventually(async () => expect(await pages()).to.have.length(1));
    session.close();
  });

  it('are closed when a document of the same account may run scripts', async () => {
    await warmUp();
    const session = await worker.open({ account: 'a' });
    expect(session.sealed).to.equal(false);
    await eventually(async () => expect(await pages()).to.have.length(1));
    session.close();
  });

  it('serve no render without an account', async () => {
    await warmUp();
    const session = await worker.open({ isolation: 'warm' });
    expect(session.sealed).to.equal(false);
    session.close();
  });

  it('run no scripts, event handlers or javascript URLs', async () => {
    await warmUp();
    const html = `${HELLO}<p id=p></p><script>p.append('RAN')</script>
      <img src="data:," onerror="p.append('RAN')"><body onload="p.append('RAN')">
      <svg onload="p.append('RAN')"></svg><iframe src="javascript:parent.p.append('RAN')"></iframe>`;
    for (let times = 0; times < 2; times++) {
      const text = await pdfText(await render(html));
      expect(text).to.include('Hello');
      expect(text).not.to.include('RAN');
    }
  });

  it('still run the commands of the API', async () => {
    const session = await worker.open({ account: 'a', isolation: 'warm' });
    await session.command('Page.setDocumentContent', { frameId: session.frameId, html: HELLO });
    const { result } = await session.command('Runtime.evaluate', {
      expression: 'document.body.textContent',
    });
    expect(result.value).to.equal('Hello');
    session.close();
  });

  it('wait for fonts', async () => {
    const html = `<!doctype html><style>@font-face{font-family:x;src:url(data:font/ttf;base64,AAAA)}p{font-family:x}</style><p>Hello</p>`;
    for (let times = 0; times < 3; times++)
      expect(await pdfText(await render(html))).to.include('Hello');
  });

  for (const [what, load] of [
    ['an image', address => `<img src="http://${address}/x.png">`],
    ['a style sheet', address => `<link rel=stylesheet href="http://${address}/x.css">`],
    ['an import', address => `<style>@import "http://${address}/x.css";</style>`],
    ['a frame', address => `<iframe src="http://${address}/"></iframe>`],
    [
      'a font',
      address =>
        `<style>@font-face{font-family:x;src:url(http://${address}/)}p{font-family:x}</style>`,
    ],
    ['a refresh', address => `<meta http-equiv=refresh content="0;url=http://${address}/">`],
    ['a host that is not listed', () => '<img src="https://example.com/">'],
  ] as [string, (address: string) => string][])
    it(`load nothing, and report a document that tries to: ${what}`, async () => {
      await warmUp();
      const before = await violations();
      const error = await errorOf(renderStatic(worker, `${HELLO}${load(address)}`));
      expect(error).to.have.property('end', 'not_static');
      expect(server.connections()).to.equal(earlier);
      expect(await violations()).to.equal(before + 1);
      await worker.until({ ready: 1 });
      expect(worker.worker.status().warm).to.equal(undefined);
    });

  it('accept none of the commands that open the network or leave a state', async () => {
    const slot = await plainSlot(worker, { account: 'a', isolation: 'warm' });
    for (const [method, params] of [
      ['Network.enable', {}],
      ['Network.setCookie', { name: 'a', value: 'b', url: `http://${address}/` }],
      ['Page.navigate', { url: `http://${address}/` }],
      ['Page.setBypassCSP', { enabled: true }],
      ['Fetch.enable', {}],
      ['Runtime.enable', {}],
      ['Emulation.setDeviceMetricsOverride', { width: 1, height: 1 }],
      ['Emulation.setScriptExecutionDisabled', { value: false }],
    ] as [string, object][]) {
      const { error } = await slot.command(method, params);
      expect(error?.message, method).to.include('not allowed');
    }
    await slot.close();
    expect(server.connections()).to.equal(earlier);
  });

  it('are not kept after a render that failed', async () => {
    await warmUp();
    const session = await worker.open({ account: 'a', isolation: 'warm' });
    await printOn(session, HELLO, 'warm');
    await session.abandon();
    await worker.until({ ready: 1 });
    expect(worker.worker.status().warm).to.equal(undefined);
  });

  it('are not kept after a client that disconnects', async () => {
    await warmUp();
    const slot = await plainSlot(worker, { account: 'a', isolation: 'warm' });
    await slot.close();
    await worker.until({ ready: 1 });
    expect(worker.worker.status().warm).to.equal(undefined);
  });

  it(`are closed after ${MAX_RENDERS} renders`, async () => {
    const before = await warmRenders(worker);
    // The first two pages are not kept, since most recent documents are of another account.
    for (let renders = 0; renders < MAX_RENDERS + 2; renders++) await render(HELLO, 'many');
    expect(await warmRenders(worker)).to.equal(before + MAX_RENDERS - 1);
    expect(worker.worker.status().warm).to.equal(undefined);
  });

  /** A CDP session of the test with the warm page, as if its renderer were taken over. */
  const attachToWarm = async () => {
    const { session, command } = await attachToPrinted();
    session.close();
    await worker.until({ ready: 1 });
    return command;
  };
  /** The same before the render ends. */
  const attachToPrinted = async () => {
    await warmUp();
    const session = await worker.open({ account: 'a', isolation: 'warm' });
    await printOn(session, HELLO, 'warm');
    const { pipe } = chrome();
    const { sessionId } = await pipe.command<{ sessionId: string }>('Target.attachToTarget', {
      targetId: session.frameId,
      flatten: true,
    });
    const command = (method: string, params: object = {}) =>
      pipe.command(method, params, sessionId);
    return { session, command };
  };

  it('are closed when their renderer crashes', async () => {
    const command = await attachToWarm();
    const { pid } = chrome();
    command('Page.crash').catch(() => {});
    await eventually(() => expect(worker.worker.status().warm).to.equal(undefined));
    expect(chrome().pid).to.equal(pid);
    expect(await pdfText(await render())).to.include('Hello');
  });

  it('are closed when their renderer hangs, before the next render', async () => {
    const { session, command } = await attachToPrinted();
    const { pid } = chrome();
    command('Runtime.evaluate', { expression: 'for (;;);' }).catch(() => {});
    session.close();
    await worker.until({ ready: 1 });
    expect(worker.worker.status().warm).to.equal(undefined);
    expect(chrome().pid).to.equal(pid);
    expect(await pdfText(await render())).to.include('Hello');
  });

  for (const [what, attack] of [
    ['fetch', address => `fetch('http://${address}/', { mode: 'no-cors' })`],
    ['a WebSocket', address => `new WebSocket('ws://${address}/')`],
    ['an image', address => `new Image().src = 'http://${address}/'`],
    ['a navigation', address => `location = 'http://${address}/'`],
    [
      'a worker',
      address => `new Worker(URL.createObjectURL(new Blob(["fetch('http://${address}/')"])))`,
    ],
    ['a beacon', address => `navigator.sendBeacon('http://${address}/')`],
  ] as [string, (address: string) => string][])
    it(`give a renderer that was taken over no network, and end it: ${what}`, async () => {
      const command = await attachToWarm();
      await command('Emulation.setScriptExecutionDisabled', { value: false });
      command('Runtime.evaluate', { expression: attack(address) }).catch(() => {});
      await eventually(() => expect(worker.worker.status().warm).to.equal(undefined));
      await eventually(async () => expect(await pages()).to.have.length(1));
      expect(server.connections()).to.equal(earlier);
    });

  it('are closed when no document comes', async function () {
    this.timeout(60_000);
    await warmUp();
    await eventually(async () => expect(await pages()).to.have.length(1), IDLE_MS);
    expect(worker.worker.status().warm).to.equal(undefined);
    expect(worker.worker.status().ready).to.equal(1);
  });

  it('are not kept in a Chrome whose renderers use too much memory', async () => {
    const small = await startWorker({ PRESSROOM_SLOTS: '1', PRESSROOM_WARM_PAGE_MEMORY: '16MiB' });
    try {
      const used = async () => {
        await small.until({ ready: 1 });
        await renderStatic(small, HELLO);
        await small.until({ ready: 1 });
        return small.worker.status().warm;
      };
      await used();
      await used();
      await sleep(MEASURED_EVERY_MS);
      expect(await used()).to.equal(undefined);
    } finally {
      await small.stop();
    }
  });

  it('render after Chrome was killed', async () => {
    await warmUp();
    await worker.killChromes();
    await worker.until({ ready: 1 });
    expect(worker.worker.status().warm).to.equal(undefined);
    expect(await pdfText(await render())).to.include('Hello');
  });
});
