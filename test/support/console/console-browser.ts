// The dashboard in a real browser: pages with a person's session, what they may not do (errors,
// violations of the policy, foreign hosts), axe, and pictures for who looks at the run.
import { readFileSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import type { Browser, Page } from 'playwright-core';
import { launchBrowser } from '../browser.ts';
import type { ConsoleFixture, Person } from './console-fixture.ts';

const PICTURES = fileURLToPath(new URL('../../../artifacts/dashboard', import.meta.url));
export const SIZES = {
  desktop: { width: 1_280, height: 800 },
  phone: { width: 390, height: 844 },
} as const;

/** Runs in the page. */
const TELL_VIOLATIONS = `document.addEventListener('securitypolicyviolation', ({ effectiveDirective, blockedURI, sample }) =>
  console.error('against the policy:', effectiveDirective, blockedURI, sample))`;

export interface OpenPage {
  page: Page;
  /**
   * Throws what the page logged as an error, threw, did against its policy or asked of a foreign
   * host. `expected`: errors that the test brought about.
   */
  expectNoErrors(expected?: RegExp): void;
}
type ContextOptions = NonNullable<Parameters<Browser['newContext']>[0]>;

export interface ConsoleBrowser {
  /** `http://localhost:PORT`, where the person's cookie is good. */
  origin: string;
  /**
   * Opens `path` (below /app) as the person, in a context of its own; as nobody without a person.
   */
  open(person: Person | undefined, path: string, options?: ContextOptions): Promise<OpenPage>;
  /**
   * Opens the screen, waits by `ready`, then looks at it in light and dark, as on a desktop and a
   * phone: axe finds nothing, nothing sticks out sideways, the page is quiet but for `expected`.
   * Keeps pictures under `name`.
   */
  looks(
    person: Person | undefined,
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
/** The only rule that depends on the colour scheme. */
const CONTRAST = { runOnly: ['color-contrast'] };

/**
 * What axe finds wrong (https://github.com/dequelabs/axe-core), as rules with the elements that
 * break them, once nothing is loading any more.
 */
export async function axeViolations(
  page: Page,
  rules: typeof ALL_RULES | typeof CONTRAST = ALL_RULES,
): Promise<string[]> {
  await page.getByText('Loading…').first().waitFor({ state: 'hidden' });
  // The page's policy forbids foreign scripts, so axe comes by the debugger's way.
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
    // Skips details of passed rules and a second request for each style sheet: no rule here needs
    // them.
    { ...rules, resultTypes: ['violations' as const], preload: false },
  );
}

/** Keeps a picture in artifacts/dashboard. */
export async function picture(page: Page, name: string): Promise<void> {
  await mkdir(PICTURES, { recursive: true });
  await page.screenshot({ path: join(PICTURES, `${name}.png`), fullPage: true });
}

const SCHEMES = ['light', 'dark'] as const;
const KINDS = ['desktop', 'phone'] as const;
/** A picture of a long page takes as long as axe. */
const PICTURED = new Set(['desktop-light', 'phone-dark']);

const TRANSITIONS_END = `Promise.allSettled(
  document.getAnimations().filter(each => each instanceof CSSTransition).map(({ finished }) => finished))`;

/**
 * The dashboard follows the scheme a moment later than the style sheets, and colours that pass into
 * one another are measured in between.
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
 * The page in light and dark, as on a desktop and a phone: keeps two pictures, and expects that axe
 * finds nothing in it and that nothing sticks out sideways.
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
      expect(width, `${name} sticks out on a ${size}`).to.be.at.most(SIZES[size].width);
    }
  }
}

export async function consoleBrowser(fixture: ConsoleFixture): Promise<ConsoleBrowser> {
  const browser = await launchBrowser();
  const origin = `http://localhost:${fixture.api.port()}`;

  const open: ConsoleBrowser['open'] = async (person, path, options = {}) => {
    // Things that move are measured by axe in the middle of it.
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
    const faults: string[] = [];
    page.on('console', message => message.type() === 'error' && faults.push(message.text()));
    page.on('pageerror', error => faults.push(String(error)));
    page.on('request', request => {
      if (!request.url().startsWith(`${origin}/`) && !/^(blob|data):/.test(request.url()))
        faults.push(`asked for ${request.url()}`);
    });
    await page.addInitScript({ content: TELL_VIOLATIONS });
    await page.goto(`${origin}/app${path}`);
    return {
      page,
      expectNoErrors(expected) {
        const left = faults.filter(fault => !expected?.test(fault));
        if (left.length > 0) throw new Error(`the page is not quiet:\n${left.join('\n')}`);
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
