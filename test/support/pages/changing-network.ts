// A page whose images wait for connections while the addresses of the machine change.
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { silentLog } from '../../../common/log.ts';
import { launchChrome } from '../../../worker/browser/chrome.ts';
import { findChrome } from '../../../worker/browser/find-chrome.ts';
import { readWorkerConfig } from '../../../worker/config.ts';
import { eventually } from '../eventually.ts';

/** Number of images that loaded and failed. */
export interface ImagesOfPage {
  shown: number;
  lost: number;
}

export const IMAGES = 60;
/** One change suffices while images wait, but the start of the wait is unknown. */
const CHANGES = 40;
const CHANGE_MS = 50;

const PAGE = `<!doctype html><h1>Images</h1><script>
const images = { shown: 0, lost: 0 };
for (let i = 0; i < ${IMAGES}; i++) {
  const image = new Image();
  image.onload = () => images.shown++;
  image.onerror = () => images.lost++;
  image.src = '/image?' + i;
  document.body.append(image);
}
</script>`;
const IMAGE = '<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"/>';

const ip = (...args: string[]) => promisify(execFile)('ip', args);

/** A proxy that serves the page and holds image responses until `release`. */
function webByProxy() {
  const held: ServerResponse[] = [];
  let released = false;
  const answer = (response: ServerResponse) =>
    response.writeHead(200, { 'content-type': 'image/svg+xml' }).end(IMAGE);
  const server = createServer((request, response) => {
    if (!request.url!.includes('/image'))
      response.writeHead(200, { 'content-type': 'text/html' }).end(PAGE);
    else if (released) answer(response);
    else held.push(response);
  }).listen(0, '127.0.0.1');
  return {
    port: () => (server.address() as AddressInfo).port,
    listening: once(server, 'listening'),
    held: () => held.length,
    release: () => {
      released = true;
      held.forEach(answer);
    },
  };
}

/**
 * Loads a page with more images than Chrome opens connections and changes addresses while most of
 * them wait, until one is lost or 2 s have passed. `unfiltered` starts Chrome without the filter of
 * network notifications, as without Perl. Run only in a separate network namespace.
 */
export async function imagesThroughChange(unfiltered: boolean): Promise<ImagesOfPage> {
  await ip('link', 'set', 'lo', 'up');
  const web = webByProxy();
  await web.listening;
  const config = readWorkerConfig(process.env).chrome;
  const executable = findChrome(config.executable);
  const path = process.env.PATH;
  if (unfiltered) process.env.PATH = '/nowhere';
  const { pipe, close } = await launchChrome({ ...config, executable }, silentLog);
  process.env.PATH = path;
  try {
    const context = {
      proxyServer: `http://127.0.0.1:${web.port()}`,
      proxyBypassList: '<-loopback>',
    };
    const { browserContextId } = await pipe.command<{ browserContextId: string }>(
      'Target.createBrowserContext',
      context,
    );
    const { targetId } = await pipe.command<{ targetId: string }>('Target.createTarget', {
      url: 'http://pages.test/',
      browserContextId,
    });
    const { sessionId } = await pipe.command<{ sessionId: string }>('Target.attachToTarget', {
      targetId,
      flatten: true,
    });
    const images = async () => {
      const params = { expression: 'images', returnByValue: true };
      return (
        await pipe.command<{ result: { value: ImagesOfPage } }>(
          'Runtime.evaluate',
          params,
          sessionId,
        )
      ).result.value;
    };
    await eventually(() => {
      if (web.held() === 0) throw new Error('no image was requested');
    });
    for (let change = 0; change < CHANGES && (await images()).lost === 0; change++) {
      await ip('address', change % 2 === 0 ? 'add' : 'delete', '192.0.2.1/32', 'dev', 'lo');
      await sleep(CHANGE_MS);
    }
    web.release();
    return await eventually(async () => {
      const { shown, lost } = await images();
      if (shown + lost < IMAGES) throw new Error(`${shown} images are shown and ${lost} lost`);
      return { shown, lost };
    });
  } finally {
    await close();
  }
}
