import type { IncomingMessage, ServerResponse } from 'node:http';
import { expect } from 'chai';
import { readSamples } from '../../fault/harness/samples.ts';
import { eventually } from '../../support/eventually.ts';
import { html, type Installation, installation } from '../../support/installation.ts';
import { connectionsAt } from '../../support/listeners.ts';
import { startWebServer, type WebServer } from '../../support/servers/web-server.ts';

/** Activities that could continue after the page has ended. */
const KINDS = [
  'timer',
  'worker',
  'shared-worker',
  'service-worker',
  'keepalive',
  'beacon',
  'events',
  'endless',
];

const LOOP = (path: string) => `
  const ask = () => fetch('${path}', { method: 'POST', body: 'x' }).catch(() => {}).then(() => setTimeout(ask, 20));`;
const PAGE = `<!doctype html><title>T</title>
  <script>
    ${LOOP('/timer')}
    ask();
    new Worker('/worker.js');
    new SharedWorker('/shared-worker.js');
    navigator.serviceWorker.register('/service-worker.js').then(() => navigator.serviceWorker.ready).then(({ active }) => active.postMessage('go'));
    const leave = () => {
      fetch('/keepalive', { method: 'POST', keepalive: true, body: 'x' }).catch(() => {});
      navigator.sendBeacon('/beacon', 'x');
    };
    setInterval(leave, 20);
    for (const event of ['pagehide', 'unload', 'beforeunload', 'visibilitychange', 'freeze']) addEventListener(event, leave);
    new EventSource('/events');
    addEventListener('load', () => setTimeout(() => { new Image().src = '/endless' }));
    const look = async () => {
      window.done = (await (await fetch('/all')).text()) === 'yes';
      if (!window.done) setTimeout(look, 50);
    };
    look();
  </script>`;

describe('background activity of a render', () => {
  let web: WebServer;
  let pressroom: Installation;

  before(async () => {
    const as =
      (type: string, body: string) => (_request: IncomingMessage, response: ServerResponse) =>
        response.writeHead(200, { 'content-type': type }).end(body);
    const noContent = (_request: IncomingMessage, response: ServerResponse) =>
      response.writeHead(204).end();
    const seen = (path: string) => web.requests.filter(({ url }) => url === `/${path}`).length;
    web = await startWebServer({
      '/': PAGE,
      '/worker.js': as('text/javascript', `${LOOP('/worker')} ask();`),
      '/shared-worker.js': as('text/javascript', `${LOOP('/shared-worker')} ask();`),
      '/service-worker.js': as(
        'text/javascript',
        `${LOOP('/service-worker')} self.onmessage = event => { event.waitUntil(new Promise(() => {})); ask() };`,
      ),
      '/events': (_request, response) =>
        response.writeHead(200, { 'content-type': 'text/event-stream' }).write('data: 1\n\n'),
      '/endless': (_request, response) =>
        response.writeHead(200, { 'content-type': 'image/png' }).write('x'),
      '/all': (_request, response) =>
        response.end(KINDS.every(kind => seen(kind) > 0) ? 'yes' : 'no'),
      ...Object.fromEntries(
        ['timer', 'worker', 'shared-worker', 'service-worker', 'keepalive', 'beacon'].map(kind => [
          `/${kind}`,
          noContent,
        ]),
      ),
    });
    pressroom = await installation({
      intranet: true,
      env: { PRESSROOM_EGRESS_ALLOW: `127.0.0.1:${web.port}` },
    });
  });
  after(async () => {
    await pressroom.stop();
    await web.close();
  });

  /** Resolves when every slot that served a render has been closed. */
  const slotsClosed = async () => {
    await pressroom.worker.until({ busy: 0, ready: 2 });
    await eventually(async () =>
      expect(
        readSamples(await pressroom.worker.metrics.text()).by('pressroom_slots', 'state'),
      ).to.include({ closing: 0, claimed: 0 }),
    );
  };

  it('ends timers, workers, beacons and endless responses with the render', async () => {
    await pressroom.pdf({
      url: `http://127.0.0.1:${web.port}/`,
      wait_for_expression: 'window.done',
    });
    for (const kind of KINDS)
      expect(
        web.requests.map(({ url }) => url),
        'the activity ran',
      ).to.include(`/${kind}`);
    await slotsClosed();
    await eventually(() => expect(connectionsAt(web.port)).to.equal(0));
    const before = web.requests.length;
    for (let i = 0; i < 4; i++)
      await pressroom.pdf({
        html: html(`<h1>${i}</h1><script>document.title = 1</script>`),
        wait_delay: '500ms',
      });
    expect(web.requests.slice(before).map(({ url }) => url)).to.deep.equal([]);
    expect(connectionsAt(web.port)).to.equal(0);
  });
});
