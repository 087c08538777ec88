// The baseline: the same Chrome without Pressroom, with the same flags except those for frame
// painting, network changes and scheduling. A fresh context per render over a pipe.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import type { Readable, Writable } from 'node:stream';
import { CdpPipe } from '../worker/browser/cdp-pipe.ts';
import { chromeFlags, NO_PAINTING } from '../worker/browser/chrome.ts';
import { findChrome } from '../worker/browser/find-chrome.ts';
import { makeProfile } from '../worker/browser/profile.ts';
import { readWorkerConfig } from '../worker/config.ts';
import type { Job } from './documents.ts';
import type { Engine } from './engine.ts';

const MARGIN_IN = 0.4;
const LOADED = Buffer.from('{"method":"Page.loadEventFired"');
const FONTS_READY = 'document.fonts.ready.then(() => true)';
/** Allows network access, which Pressroom's Chrome flags block. */
const NETWORK = { proxyServer: 'direct://' };

async function startChrome(env: NodeJS.ProcessEnv) {
  const { chrome: config } = readWorkerConfig(env);
  const profile = await makeProfile(config.uid);
  const flags = chromeFlags(config, profile.path).filter(flag => !NO_PAINTING.includes(flag));
  const child = spawn(findChrome(config.executable), flags, {
    stdio: ['ignore', 'ignore', 'ignore', 'pipe', 'pipe'],
    cwd: '/',
    env: { HOME: profile.path, PATH: env.PATH, LANG: 'C.UTF-8', TZ: 'UTC', TMPDIR: profile.path },
    ...(config.uid === undefined ? {} : { uid: config.uid, gid: config.uid }),
  });
  const [input, output] = [child.stdio[3] as Writable, child.stdio[4] as Readable];
  const pipe = new CdpPipe(input, output);
  const exited = once(child, 'exit');
  const close = async () => {
    input.destroy();
    output.destroy();
    await exited;
    await profile.remove();
  };
  const { product } = await pipe.command<{ product: string }>('Browser.getVersion');
  return { pipe, version: product, close };
}

export async function openBareChrome(env: NodeJS.ProcessEnv): Promise<Engine> {
  const chrome = await startChrome(env);
  const { pipe } = chrome;

  async function render({ source, until, fonts }: Job): Promise<Buffer> {
    const way = 'url' in source ? NETWORK : {};
    const { browserContextId } = await pipe.command<{ browserContextId: string }>(
      'Target.createBrowserContext',
      way,
    );
    try {
      const { targetId } = await pipe.command<{ targetId: string }>('Target.createTarget', {
        url: 'about:blank',
        browserContextId,
      });
      const { sessionId } = await pipe.command<{ sessionId: string }>('Target.attachToTarget', {
        targetId,
        flatten: true,
      });
      await pipe.command('Page.enable', {}, sessionId);
      const loaded = Promise.withResolvers<void>();
      pipe.route(sessionId, frame => {
        if (frame.subarray(0, LOADED.length).equals(LOADED)) loaded.resolve();
      });
      if ('url' in source) {
        const { errorText } = await pipe.command<{ errorText?: string }>(
          'Page.navigate',
          source,
          sessionId,
        );
        if (errorText) throw new Error(`${source.url}: ${errorText}`);
      } else
        await pipe.command('Page.setDocumentContent', { frameId: targetId, ...source }, sessionId);
      await loaded.promise;
      pipe.unroute(sessionId);
      for (const expression of [...(fonts ? [FONTS_READY] : []), ...(until ? [until] : [])])
        await pipe.command('Runtime.evaluate', { expression, awaitPromise: true }, sessionId);
      const paper = { paperWidth: 210 / 25.4, paperHeight: 297 / 25.4 };
      const margins = {
        marginTop: MARGIN_IN,
        marginRight: MARGIN_IN,
        marginBottom: MARGIN_IN,
        marginLeft: MARGIN_IN,
      };
      const options = {
        ...paper,
        ...margins,
        scale: 1,
        printBackground: true,
        generateTaggedPDF: false,
        generateDocumentOutline: false,
      };
      const { data } = await pipe.command<{ data: string }>('Page.printToPDF', options, sessionId);
      return Buffer.from(data, 'base64');
    } finally {
      await pipe.command('Target.disposeBrowserContext', { browserContextId });
    }
  }

  return { version: chrome.version, render, close: chrome.close };
}
