// The dashboard in a real browser: pages with a person's session, what they may not do (errors, violations of the policy, foreign hosts), axe, and pictures for who looks at the run.
import { mkdir, readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import type { Browser, Page } from 'playwright-core';
import { launchBrowser } from './browser.ts';
import type { ConsoleRig, Person } from './console-rig.ts';

const AXE = createRequire(import.meta.url).resolve('axe-core/axe.min.js');
const PICTURES = fileURLToPath(new URL('../../artifacts/dashboard', import.meta.url));
export const SIZES = { desktop: { width: 1_280, height: 800 }, phone: { width: 390, height: 844 } } as const;

/** Runs in the page. */
const TELL_VIOLATIONS = `document.addEventListener('securitypolicyviolation', ({ effectiveDirective, blockedURI, sample }) =>
  console.error('against the policy:', effectiveDirective, blockedURI, sample))`;

export interface OpenPage {
  page: Page;
  /** Throws what the page logged as an error, threw, did against its policy or asked of a foreign host. `expected`: errors that the test brought about. */
  quiet(expected?: RegExp): void;
}
type ContextOptions = NonNullable<Parameters<Browser['newContext']>[0]>;

export interface ConsoleBrowser {
  /** `http://localhost:PORT`, where the person's cookie is good. */
  origin: string;
  /** Opens `path` (below /app) as the person, in a context of its own; as nobody without a person. */
  open(person: Person | undefined, path: string, options?: ContextOptions): Promise<OpenPage>;
  /**
   * Opens the screen in light and dark, on a desktop and a phone; waits by `ready`; expects that axe finds nothing, that nothing sticks out sideways and that
   * the page is quiet; keeps a picture of each under `name`.
   */
  looks(person: Person, path: string, name: string, ready: (page: Page) => Promise<unknown>): Promise<void>;
  close(): Promise<void>;
}

/** What axe finds wrong (https://github.com/dequelabs/axe-core), as rules with the elements that break them, once nothing is loading any more. */
export async function barriers(page: Page): Promise<string[]> {
  await page.getByText('Loading…').first().waitFor({ state: 'hidden' });
  // The page's policy forbids foreign scripts, so axe comes by the debugger's way.
  await page.evaluate(await readFile(AXE, 'utf8'));
  return page.evaluate(async () => {
    const { violations } = await (globalThis as unknown as { axe: typeof import('axe-core') }).axe.run({
      rules: { 'target-size': { enabled: true } },
    });
    return violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ target }) => target.join(' ')).join(', ')}`);
  });
}

/** Keeps a picture in artifacts/dashboard. */
export async function picture(page: Page, name: string): Promise<void> {
  await mkdir(PICTURES, { recursive: true });
  await page.screenshot({ path: join(PICTURES, `${name}.png`), fullPage: true });
}

const SCHEMES = ['light', 'dark'] as const;
const KINDS = ['desktop', 'phone'] as const;

/** Keeps a picture of the page, and expects that axe finds nothing in it and that nothing sticks out sideways. */
async function expectGood(page: Page, name: string, size: keyof typeof SIZES, colorScheme: (typeof SCHEMES)[number]): Promise<void> {
  await picture(page, `${name}-${size}-${colorScheme}`);
  expect(await barriers(page), `${name}, ${size}, ${colorScheme}`).to.deep.equal([]);
  const width = await page.evaluate('document.documentElement.scrollWidth');
  expect(width, `${name} sticks out on a ${size}`).to.be.at.most(SIZES[size].width);
}

/** The page as it is, as `ConsoleBrowser.looks` looks at a screen that it opens itself. */
export async function looks(page: Page, name: string): Promise<void> {
  for (const colorScheme of SCHEMES)
    for (const size of KINDS) {
      await page.emulateMedia({ colorScheme });
      await page.setViewportSize(SIZES[size]);
      await expectGood(page, name, size, colorScheme);
    }
}

export async function consoleBrowser(rig: ConsoleRig): Promise<ConsoleBrowser> {
  const browser = await launchBrowser();
  const origin = `http://localhost:${rig.api.port()}`;

  const open: ConsoleBrowser['open'] = async (person, path, options = {}) => {
    // Things that move are measured by axe in the middle of it.
    const context = await browser.newContext({ reducedMotion: 'reduce', viewport: SIZES.desktop, ...options });
    if (person) {
      const [name = '', value = ''] = person.cookie.split('=');
      await context.addCookies([{ name, value, domain: 'localhost', path: '/', secure: true, httpOnly: true, sameSite: 'Lax' }]);
    }
    const page = await context.newPage();
    const faults: string[] = [];
    page.on('console', message => message.type() === 'error' && faults.push(message.text()));
    page.on('pageerror', error => faults.push(String(error)));
    page.on('request', request => {
      if (!request.url().startsWith(`${origin}/`) && !/^(blob|data):/.test(request.url())) faults.push(`asked for ${request.url()}`);
    });
    await page.addInitScript({ content: TELL_VIOLATIONS });
    await page.goto(`${origin}/app${path}`);
    return {
      page,
      quiet(expected) {
        const left = faults.filter(fault => !expected?.test(fault));
        if (left.length > 0) throw new Error(`the page is not quiet:\n${left.join('\n')}`);
      },
    };
  };

  return {
    origin,
    open,
    async looks(person, path, name, ready) {
      for (const colorScheme of SCHEMES)
        for (const size of KINDS) {
          const { page, quiet } = await open(person, path, { colorScheme, viewport: SIZES[size] });
          await ready(page);
          await expectGood(page, name, size, colorScheme);
          quiet();
          await page.context().close();
        }
    },
    close: () => browser.close(),
  };
}
