// Headless Chrome, driven by Playwright, for tests of our own pages.
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Browser, chromium, type Page } from 'playwright-core';
import { startCommand } from '../../worker/browser/chrome-start.ts';
import { faultsOf } from './page-faults.ts';

export interface TestBrowser {
  /**
   * Opens a page in a new context. `expectNoErrors` throws if the page logged an error, threw or
   * sent a request to a foreign host.
   */
  page(
    options?: Parameters<Browser['newContext']>[0],
  ): Promise<{ page: Page; expectNoErrors(): void }>;
  close(): Promise<void>;
}

const shellQuoted = (text: string) => `'${text.replaceAll("'", "'\\''")}'`;

/** Launches a Chrome that ignores network changes that other tests make. */
export async function launchBrowser(): Promise<Browser> {
  const folder = await mkdtemp(join(tmpdir(), 'pressroom-browser-'));
  try {
    // Playwright starts a single executable and adds its own arguments.
    const [shell, args] = startCommand(
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
      const faults = faultsOf(page, url => /^(blob:|data:|http:\/\/127\.0\.0\.1:)/.test(url));
      return {
        page,
        expectNoErrors() {
          if (faults.length > 0) throw new Error(`the page reported errors:\n${faults.join('\n')}`);
        },
      };
    },
    close: () => browser.close(),
  };
}
