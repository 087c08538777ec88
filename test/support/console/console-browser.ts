// The dashboard in a real browser: pages with a session, checks for errors, CSP violations and
// requests to foreign hosts, accessibility checks with axe, and screenshots.
import { readFileSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import type { Browser, Page } from 'playwright-core';
import { launchBrowser } from '../browser.ts';
import { faultsOf } from '../page-faults.ts';
import type { ConsoleFixture, TestUser } from './console-fixture.ts';

const PICTURES = fileURLToPath(new URL('../../../artifacts/dashboard', import.meta.url));
export const SIZES = {
  desktop: { width: 1_280, height: 800 },
  phone: { width: 390, height: 844 },
} as const;

/** A script for the page that logs CSP violations as errors. */
const LOG_VIOLATIONS = `document.addEventListener('securitypolicyviolation', ({ effectiveDirective, blockedURI, sample }) =>
  console.error('CSP violation:', effectiveDirective, blockedURI, sample))`;

export interface OpenPage {
  page: Page;
  /**
   * Throws if the page logged an error, threw, violated its CSP or sent a request to a foreign
   * host. `expected` matches errors that the test provokes.
   */
  expectNoErrors(expected?: RegExp): void;
}
type ContextOptions = NonNullable<Parameters<Browser['newContext']>[0]>;

export interface ConsoleBrowser {
  /** `http://localhost:PORT`, the origin of the session cookie. */
  origin: string;
  /** Opens `path` (below /app) in a new context, signed in as `person` if given. */
  open(person: TestUser | undefined, path: string, options?: ContextOptions): Promise<OpenPage>;
  /**
   * Opens the screen, waits for `ready` and checks it in both colour schemes on desktop and phone:
   * no axe violations, no horizontal overflow, no errors but `expected`. Saves screenshots.
   */
  looks(
    person: TestUser | undefined,
    path: string,
    name: string,
    ready: (page: Page) => Promise<unknown>,
    expected?: RegExp,
  ): Promise<void>;
  close(): Promise<void>;
}

const axeSource = readFileSync(
  createRequire(import.meta.url).resolve('axe-core/axe.min.js'),
  'utf8',
);
const ALL_RULES = { rules: { 'target-size': { enabled: true } } };
/** The only axe rule that depends on the colour scheme. */
const CONTRAST = { runOnly: ['color-contrast'] };

/** Waits until the page has loaded, then returns the violations that axe finds, with elements. */
export async function axeViolations(
  page: Page,
  rules: typeof ALL_RULES | typeof CONTRAST = ALL_RULES,
): Promise<string[]> {
  await page.getByText('Loading…').first().waitFor({ state: 'hidden' });
  // The CSP forbids foreign scripts, so axe is injected through the debugger.
  if (!(await page.evaluate('"axe" in globalThis'))) await page.evaluate(axeSource);
  return page.evaluate(
    async options => {
      const { violations } = await (
        globalThis as unknown as { axe: typeof import('axe-core') }
      ).axe.run(options);
      return violations.map(
        ({ id, nodes }) => `${id}: ${nodes.map(({ target }) => target.join(' ')).join(', ')}`,
      );
    },
    // No rule needs details of passed rules or a second request for each style sheet.
    { ...rules, resultTypes: ['violations' as const], preload: false },
  );
}

/** Saves a screenshot in artifacts/dashboard. */
export async function picture(page: Page, name: string): Promise<void> {
  await mkdir(PICTURES, { recursive: true });
  await page.screenshot({ path: join(PICTURES, `${name}.png`), fullPage: true });
}

const SCHEMES = ['light', 'dark'] as const;
const KINDS = ['desktop', 'phone'] as const;
/** Only two combinations, because a screenshot of a long page takes as long as axe. */
const PICTURED = new Set(['desktop-light', 'phone-dark']);

const TRANSITIONS_END = `Promise.allSettled(
  document.getAnimations().filter(each => each instanceof CSSTransition).map(({ finished }) => finished))`;

/**
 * Waits until the dashboard has applied the scheme and colour transitions have ended, so that axe
 * measures the final colours.
 */
async function changeScheme(page: Page, colorScheme: (typeof SCHEMES)[number]): Promise<void> {
  await page.emulateMedia({ colorScheme });
  await page
    .locator(
      `html:not([data-mantine-color-scheme]), html[data-mantine-color-scheme=${colorScheme}]`,
    )
    .waitFor();
  await page.evaluate(TRANSITIONS_END);
}

/**
 * Checks the page in both colour schemes on desktop and phone: no axe violations and no horizontal
 * overflow. Saves two screenshots.
 */
export async function looks(page: Page, name: string): Promise<void> {
  for (const colorScheme of SCHEMES) {
    await changeScheme(page, colorScheme);
    for (const size of KINDS) {
      await page.setViewportSize(SIZES[size]);
      if (PICTURED.has(`${size}-${colorScheme}`))
        await picture(page, `${name}-${size}-${colorScheme}`);
      expect(
        await axeViolations(page, colorScheme === 'light' ? ALL_RULES : CONTRAST),
        `${name}, ${size}, ${colorScheme}`,
      ).to.deep.equal([]);
      const width = await page.evaluate('document.documentElement.scrollWidth');
      expect(width, `${name} overflows horizontally on a ${size}`).to.be.at.most(SIZES[size].width);
    }
  }
}

export async function consoleBrowser(fixture: ConsoleFixture): Promise<ConsoleBrowser> {
  const browser = await launchBrowser();
  const origin = `http://localhost:${fixture.api.port()}`;

  const open: ConsoleBrowser['open'] = async (person, path, options = {}) => {
    // Without reduced motion, axe measures elements during animations.
    const context = await browser.newContext({
      reducedMotion: 'reduce',
      viewport: SIZES.desktop,
      ...options,
    });
    if (person) {
      const [name = '', value = ''] = person.cookie.split('=');
      await context.addCookies([
        {
          name,
          value,
          domain: 'localhost',
          path: '/',
          secure: true,
          httpOnly: true,
          sameSite: 'Lax',
        },
      ]);
    }
    const page = await context.newPage();
    const faults = faultsOf(page, url => url.startsWith(`${origin}/`) || /^(blob|data):/.test(url));
    await page.addInitScript({ content: LOG_VIOLATIONS });
    await page.goto(`${origin}/app${path}`);
    return {
      page,
      expectNoErrors(expected) {
        const left = faults.filter(fault => !expected?.test(fault));
        if (left.length > 0) throw new Error(`the page reported errors:\n${left.join('\n')}`);
      },
    };
  };

  return {
    origin,
    open,
    async looks(person, path, name, ready, expected) {
      const { page, expectNoErrors } = await open(person, path);
      await ready(page);
      await looks(page, name);
      expectNoErrors(expected);
      await page.context().close();
    },
    close: () => browser.close(),
  };
}
