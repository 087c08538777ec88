// What there is to compare with: the same Chrome with the same flags, and nothing around it. A fresh context for each render, over the pipe.
import { silentLog } from '../../common/log.ts';
import { launchChrome } from '../../worker/chrome.ts';
import { readWorkerConfig } from '../../worker/config.ts';
import { findChrome } from '../../worker/find-chrome.ts';

export interface BareChrome {
  pid: number;
  version: string;
  render(html: string): Promise<Buffer>;
  close(): Promise<void>;
}

const MARGIN_IN = 0.4;
const LOADED = Buffer.from('{"method":"Page.loadEventFired"');

export async function openBareChrome(env: NodeJS.ProcessEnv): Promise<BareChrome> {
  const { chrome: config } = readWorkerConfig(env);
  const chrome = await launchChrome({ ...config, executable: findChrome(config.executable) }, silentLog);
  const { command, route, unroute } = chrome.pipe;

  async function render(html: string): Promise<Buffer> {
    const { browserContextId } = await command<{ browserContextId: string }>('Target.createBrowserContext');
    try {
      const { targetId } = await command<{ targetId: string }>('Target.createTarget', { url: 'about:blank', browserContextId });
      const { sessionId } = await command<{ sessionId: string }>('Target.attachToTarget', { targetId, flatten: true });
      await command('Page.enable', {}, sessionId);
      const loaded = Promise.withResolvers<void>();
      route(sessionId, frame => {
        if (frame.subarray(0, LOADED.length).equals(LOADED)) loaded.resolve();
      });
      await command('Page.setDocumentContent', { frameId: targetId, html }, sessionId);
      await loaded.promise;
      unroute(sessionId);
      const paper = { paperWidth: 210 / 25.4, paperHeight: 297 / 25.4 };
      const margins = { marginTop: MARGIN_IN, marginRight: MARGIN_IN, marginBottom: MARGIN_IN, marginLeft: MARGIN_IN };
      const options = { ...paper, ...margins, scale: 1, printBackground: true, generateTaggedPDF: false, generateDocumentOutline: false };
      const { data } = await command<{ data: string }>('Page.printToPDF', options, sessionId);
      return Buffer.from(data, 'base64');
    } finally {
      await command('Target.disposeBrowserContext', { browserContextId });
    }
  }

  return { pid: chrome.pid, version: chrome.version, render, close: chrome.close };
}
