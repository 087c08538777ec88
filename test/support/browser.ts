// A real browser for our own pages: headless Chrome by Playwright, one for each test file, closed at its end.
import { type Browser, chromium, type Page } from 'playwright-core';

export interface TestBrowser {
  /** A page of its own in a context of its own. What it logs as an error, throws, or asks of a foreign host fails the test that calls `quiet`. */
  page(options?: Parameters<Browser['newContext']>[0]): Promise<{ page: Page; quiet(): void }>;
  close(): Promise<void>;
}

export async function startBrowser(): Promise<TestBrowser> {
  const browser = await chromium.launch({ executablePath: process.env.PRESSROOM_CHROME!, args: ['--no-sandbox'] });
  return {
    async page(options) {
      const context = await browser.newContext(options);
      const page = await context.newPage();
      const faults: string[] = [];
      page.on('console', message => message.type() === 'error' && faults.push(message.text()));
      page.on('pageerror', error => faults.push(String(error)));
      page.on('request', request => {
        if (!/^(blob:|data:|http:\/\/127\.0\.0\.1:)/.test(request.url())) faults.push(`asked for ${request.url()}`);
      });
      return {
        page,
        quiet() {
          if (faults.length > 0) throw new Error(`the page is not quiet:\n${faults.join('\n')}`);
        },
      };
    },
    close: () => browser.close(),
  };
}
