// A real browser for our own pages: headless Chrome by Playwright, one for each test file, closed
// at its end.
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Browser, chromium, type Page } from 'playwright-core';
import { shellQuoted } from '../../common/contract/docs-page.ts';
import { startLine } from '../../worker/browser/chrome-start.ts';

export interface TestBrowser {
  /**
   * A page of its own in a context of its own. What it logs as an error, throws, or asks of a
   * foreign host fails the test that calls `quiet`.
   */
  page(
    options?: Parameters<Browser['newContext']>[0],
  ): Promise<{ page: Page; expectNoErrors(): void }>;
  close(): Promise<void>;
}

/** A Chrome that does not hear of it when other tests make networks of their own. */
export async function launchBrowser(): Promise<Browser> {
  const folder = await mkdtemp(join(tmpdir(), 'pressroom-browser-'));
  try {
    // Playwright starts one file, with arguments of its own.
    const [shell, args] = startLine(
      { executable: process.env.PRESSROOM_CHROME!, sandbox: false },
      [],
    );
    const executablePath = join(folder, 'chrome');
    await writeFile(
      executablePath,
      `#!/bin/sh\nexec ${[shell, ...args].map(shellQuoted).join(' ')} "$@"\n`,
      { mode: 0o755 },
    );
    return await chromium.launch({ executablePath, args: ['--no-sandbox'] });
  } finally {
    await rm(folder, { recursive: true });
  }
}

export async function startBrowser(): Promise<TestBrowser> {
  const browser = await launchBrowser();
  return {
    async page(options) {
      const context = await browser.newContext(options);
      const page = await context.newPage();
      const faults: string[] = [];
      page.on('console', message => message.type() === 'error' && faults.push(message.text()));
      page.on('pageerror', error => faults.push(String(error)));
      page.on('request', request => {
        if (!/^(blob:|data:|http:\/\/127\.0\.0\.1:)/.test(request.url()))
          faults.push(`asked for ${request.url()}`);
      });
      return {
        page,
        expectNoErrors() {
          if (faults.length > 0) throw new Error(`the page is not quiet:\n${faults.join('\n')}`);
        },
      };
    },
    close: () => browser.close(),
  };
}
