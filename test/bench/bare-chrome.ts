// What there is to compare with: the same Chrome with the same flags, except that it paints its screen frames, hears of the network and is scheduled as any program, and nothing around it. A fresh context for each render, over the pipe.
import { silentLog } from '../../common/log.ts';
import { launchChrome } from '../../worker/chrome.ts';
import { readWorkerConfig } from '../../worker/config.ts';
import { findChrome } from '../../worker/find-chrome.ts';
import type { Job } from './documents.ts';
import type { Engine } from './engine.ts';

const MARGIN_IN = 0.4;
const LOADED = Buffer.from('{"method":"Page.loadEventFired"');
const FONTS_READY = 'document.fonts.ready.then(() => true)';
/** Chrome itself is started so that it reaches no network. */
const NETWORK = { proxyServer: 'direct://' };

export async function openBareChrome(env: NodeJS.ProcessEnv): Promise<Engine> {
  const { chrome: config } = readWorkerConfig(env);
  const chrome = await launchChrome({ ...config, executable: findChrome(config.executable), plain: true }, silentLog);
  const { command, route, unroute } = chrome.pipe;

  async function render({ source, until, fonts }: Job): Promise<Buffer> {
    const way = 'url' in source ? NETWORK : {};
    const { browserContextId } = await command<{ browserContextId: string }>('Target.createBrowserContext', way);
    try {
      const { targetId } = await command<{ targetId: string }>('Target.createTarget', { url: 'about:blank', browserContextId });
      const { sessionId } = await command<{ sessionId: string }>('Target.attachToTarget', { targetId, flatten: true });
      await command('Page.enable', {}, sessionId);
      const loaded = Promise.withResolvers<void>();
      route(sessionId, frame => {
        if (frame.subarray(0, LOADED.length).equals(LOADED)) loaded.resolve();
      });
      if ('url' in source) {
        const { errorText } = await command<{ errorText?: string }>('Page.navigate', source, sessionId);
        if (errorText) throw new Error(`${source.url}: ${errorText}`);
      } else await command('Page.setDocumentContent', { frameId: targetId, ...source }, sessionId);
      await loaded.promise;
      unroute(sessionId);
      for (const expression of [...(fonts ? [FONTS_READY] : []), ...(until ? [until] : [])])
        await command('Runtime.evaluate', { expression, awaitPromise: true }, sessionId);
      const paper = { paperWidth: 210 / 25.4, paperHeight: 297 / 25.4 };
      const margins = { marginTop: MARGIN_IN, marginRight: MARGIN_IN, marginBottom: MARGIN_IN, marginLeft: MARGIN_IN };
      const options = { ...paper, ...margins, scale: 1, printBackground: true, generateTaggedPDF: false, generateDocumentOutline: false };
      const { data } = await command<{ data: string }>('Page.printToPDF', options, sessionId);
      return Buffer.from(data, 'base64');
    } finally {
      await command('Target.disposeBrowserContext', { browserContextId });
    }
  }

  return { version: chrome.version, render, close: chrome.close };
}
