import { expect } from 'chai';
import { Secret, TOTP } from 'otpauth';
import type { Page } from 'playwright-core';
import { createSetup } from '../../api/console/auth/bootstrap.ts';
import { TwoFactor } from '../../api/console/auth/two-factor.ts';
import { createUsers } from '../../api/console/users/users.ts';
import { type ConsoleBrowser, consoleBrowser } from '../support/console/console-browser.ts';
import {
  CONSOLE_SECRET,
  type ConsoleFixture,
  consoleFixture,
} from '../support/console/console-fixture.ts';

const EMAIL = 'ada@example.com';
const PASSWORD = 'correct horse battery';
/** The browser's console message for a 4xx response. */
const CLIENT_ERROR = /^Failed to load resource: the server responded with a status of 4\d\d/;
const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true });
const active = (page: Page) =>
  page.evaluate<string>('document.activeElement.name || document.activeElement.textContent');

describe('sign-in pages', function () {
  this.timeout(120_000);
  let fixture: ConsoleFixture;
  let browser: ConsoleBrowser;

  before(async () => {
    fixture = await consoleFixture({ workers: 0 });
    browser = await consoleBrowser(fixture);
  });
  after(async () => {
    await browser.close();
    await fixture.stop();
  });
  /** All tests share one IP address and would hit the sign-in limit. */
  beforeEach(() => fixture.store.console.signInLimits.deleteMany({}));

  const looks = (
    path: string,
    name: string,
    act: (page: Page) => Promise<unknown> = async () => {},
    expected?: RegExp,
  ) => browser.looks(undefined, path, name, act, expected);

  async function typed(page: Page, password = PASSWORD): Promise<void> {
    await page.getByLabel('Email').fill(EMAIL);
    await page.getByLabel('Password', { exact: true }).fill(password);
    await button(page, 'Sign in').click();
  }

  describe('before the setup', () => {
    it('has an accessible setup page', () => looks('/setup', 'setup'));

    it('shows setup errors at their fields', () =>
      looks(
        '/setup',
        'setup-wrong',
        async page => {
          await page.getByLabel('Setup token').fill('x');
          await page.getByLabel('Your name').fill('Ada');
          await page.getByLabel('Email').fill(EMAIL);
          await page.getByLabel('Password', { exact: true }).fill(PASSWORD);
          await page.getByLabel('Account name').fill('Team');
          await button(page, 'Set up').click();
          await page.getByText('This token is incorrect').waitFor();
          expect(await active(page)).to.equal('token');
        },
        CLIENT_ERROR,
      ));

    it('moves the setup token from the link to its field, and works by keyboard', async () => {
      const token = await createSetup(fixture.store).createToken();
      const { page, expectNoErrors } = await browser.open(undefined, `/setup#${token}`);
      expect(await page.getByLabel('Setup token').inputValue()).to.equal(token);
      expect(page.url()).to.equal(`${browser.origin}/app/setup`);
      expect(await active(page)).to.equal('name');
      await page.keyboard.type('Ada');
      await page.keyboard.press('Tab');
      await page.keyboard.type(EMAIL);
      await page.keyboard.press('Tab');
      await page.keyboard.type(PASSWORD);
      await page.keyboard.press('Tab');
      await page.keyboard.press('Space');
      expect(await page.getByLabel('Password', { exact: true }).getAttribute('type')).to.equal(
        'text',
      );
      await page.keyboard.press('Tab');
      await page.keyboard.type('My team');
      await page.keyboard.press('Enter');
      await page.waitForURL(`${browser.origin}/app`);
      expectNoErrors();
      await page.context().close();
    });
  });

  describe('after the setup', () => {
    it('has an accessible page for a completed setup', () => looks('/setup', 'setup-done'));

    it('has an accessible sign-in page', () => looks('/sign-in', 'sign-in'));

    it('shows a sign-in error and focuses the password', () =>
      looks(
        '/sign-in',
        'sign-in-wrong',
        async page => {
          await typed(page, 'wrong');
          await page.getByRole('alert').waitFor();
          expect(await active(page)).to.equal('password');
          expect(await page.getByLabel('Email').inputValue()).to.equal(EMAIL);
        },
        CLIENT_ERROR,
      ));

    it('signs in without JavaScript and redirects to the requested page', async () => {
      const { page } = await browser.open(undefined, '/keys', { javaScriptEnabled: false });
      await typed(page);
      await page.waitForURL(`${browser.origin}/app/keys`);
      const cookies = await page.context().cookies();
      expect(
        cookies.map(({ name, httpOnly, secure, sameSite }) => ({
          name,
          httpOnly,
          secure,
          sameSite,
        })),
      ).to.deep.equal([
        { name: '__Host-pressroom-session', httpOnly: true, secure: true, sameSite: 'Lax' },
        { name: '__Host-pressroom-device', httpOnly: true, secure: true, sameSite: 'Lax' },
      ]);
      await page.context().close();
    });

    it('has an accessible two-factor page that works without JavaScript', async () => {
      const users = createUsers(fixture.store);
      const user = async () => (await users.byEmail(EMAIL))!;
      const anHourAgo = Date.now() - 3600e3;
      const twoFactor = new TwoFactor(
        fixture.store,
        { secret: CONSOLE_SECRET, label: 'Pressroom' },
        () => anHourAgo,
      );
      const secret = Secret.fromBase32((await twoFactor.begin(await user())).secret);
      await twoFactor.confirm(await user(), TOTP.generate({ secret, timestamp: anHourAgo }));
      const toCode = async (page: Page) => {
        await typed(page);
        await page.getByLabel('Code').waitFor();
      };
      await looks('/sign-in', 'second-factor', toCode);
      await fixture.store.console.signInLimits.deleteMany({});
      await looks(
        '/sign-in',
        'recovery-code-wrong',
        async page => {
          await toCode(page);
          await page.getByRole('link', { name: 'Use a recovery code' }).click();
          await page.getByLabel('Recovery code').fill('not one of them');
          await button(page, 'Sign in').click();
          await page.getByText('This code is incorrect').waitFor();
        },
        CLIENT_ERROR,
      );
      await fixture.store.console.signInLimits.deleteMany({});
      const { page } = await browser.open(undefined, '/sign-in?next=/app/keys', {
        javaScriptEnabled: false,
      });
      await toCode(page);
      await page.getByLabel('Code').fill(TOTP.generate({ secret }));
      await button(page, 'Sign in').click();
      await page.waitForURL(`${browser.origin}/app/keys`);
      await page.context().close();
    });
  });
});
