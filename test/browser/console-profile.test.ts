import { readFile } from 'node:fs/promises';
import { expect } from 'chai';
import { Secret, TOTP } from 'otpauth';
import type { Page } from 'playwright-core';
import { createSessions } from '../../api/console/auth/sessions.ts';
import {
  axeViolations,
  type ConsoleBrowser,
  consoleBrowser,
  picture,
  SIZES,
} from '../support/console/console-browser.ts';
import {
  type ConsoleFixture,
  consoleFixture,
  type TestUser,
} from '../support/console/console-fixture.ts';
import { eventually } from '../support/eventually.ts';

const PASSWORD = 'correct horse battery staple';
const FIREFOX =
  'Mozilla/5.0 (Macintosh; Intel Mac OS X 15.0; rv:150.0) Gecko/20100101 Firefox/150.0';

describe('profile screen', function () {
  this.timeout(120_000);
  let fixture: ConsoleFixture;
  let browser: ConsoleBrowser;
  let person: TestUser;
  before(async () => {
    fixture = await consoleFixture({ workers: 0 });
    browser = await consoleBrowser(fixture);
  });
  after(async () => {
    await browser.close();
    await fixture.stop();
  });
  beforeEach(async () => {
    person = await fixture.createUser({ role: 'viewer' });
  });

  const dialog = (page: Page) => page.getByRole('dialog');
  const notice = (page: Page, text: string) =>
    page.getByRole('region', { name: 'Notices' }).getByText(text).waitFor();
  const session = (page: Page, text: string) =>
    page.getByRole('table', { name: 'Sessions' }).getByRole('row').filter({ hasText: text });
  const shownCodes = async (page: Page) => {
    const list = dialog(page).getByRole('list', { name: 'Recovery codes' });
    await list.waitFor();
    return list.getByRole('listitem').allTextContents();
  };
  const elsewhere = () =>
    createSessions(fixture.store).open({
      user: person.id,
      method: 'password',
      ip: '203.0.113.7',
      userAgent: FIREFOX,
    });

  it('changes the name and shows a dismissible notice', async () => {
    const { page, expectNoErrors } = await browser.open(person, '/profile', {
      viewport: SIZES.phone,
      colorScheme: 'dark',
    });
    await page.getByLabel('Name', { exact: true }).fill('Ada Lovelace');
    await page.getByRole('button', { name: 'Save' }).click();
    await notice(page, 'Name updated.');
    const notices = page.getByRole('region', { name: 'Notices' });
    expect(await notices.getAttribute('aria-live')).to.equal('polite');
    await picture(page, 'notice-phone-dark');
    expect(await axeViolations(page)).to.deep.equal([]);
    await notices.getByRole('button', { name: 'Dismiss' }).click();
    await notices.getByRole('alert').waitFor({ state: 'detached' });
    expectNoErrors();
  });

  it('shows the password rules, and errors at their fields', async () => {
    const { page } = await browser.open(person, '/profile');
    await page.getByText('At least 12 characters.').waitFor();
    const field = page.getByLabel('New password', { exact: true });
    await field.fill('short');
    await page.getByRole('button', { name: 'Set password' }).click();
    await page.getByText('Must be at least 12 characters').waitFor();
    await field.fill(PASSWORD);
    await page.getByRole('button', { name: 'Set password' }).click();
    await notice(page, 'Password updated.');
    await page.getByLabel('Current password', { exact: true }).fill('not this one at all');
    await field.fill(`${PASSWORD} again`);
    await page.getByRole('button', { name: 'Change password' }).click();
    await page.getByText('not your current password.').waitFor();
  });

  it('sets up two-factor authentication, replaces the recovery codes and turns it off', async () => {
    await person.good('POST', '/me/password', { next: PASSWORD });
    const { page, expectNoErrors } = await browser.open(person, '/profile');
    await page.getByRole('button', { name: 'Set up' }).click();
    await dialog(page).getByLabel('Password', { exact: true }).fill(PASSWORD);
    await dialog(page).getByRole('button', { name: 'Continue' }).click();
    const picture = dialog(page).getByRole('img', { name: 'QR code' });
    await picture.waitFor();
    await eventually(async () => {
      expect(
        await page.evaluate('document.querySelector("img[alt^=\'QR\']").naturalWidth'),
      ).to.be.greaterThan(0);
    });
    const secret = (await dialog(page)
      .getByText(/^[A-Z2-7]{32}$/)
      .textContent())!;
    const app = new TOTP({ secret: Secret.fromBase32(secret) });
    await dialog(page).getByLabel('Authentication code').fill(app.generate());
    await dialog(page).getByRole('button', { name: 'Turn on' }).click();
    const codes = await shownCodes(page);
    expect(codes).to.have.length(10);
    const download = page.waitForEvent('download');
    await dialog(page).getByRole('link', { name: 'Download' }).click();
    expect(
      (await readFile(await (await download).path(), 'utf8')).trim().split('\n'),
    ).to.deep.equal(codes);
    await dialog(page).getByRole('button', { name: 'I’ve saved my recovery codes' }).click();
    await page.getByText('10 recovery codes left').waitFor();

    await page.getByRole('button', { name: 'New recovery codes' }).click();
    await dialog(page).getByLabel('Authentication or recovery code').fill(codes[0]!);
    await dialog(page).getByRole('button', { name: 'Generate codes' }).click();
    const renewed = await shownCodes(page);
    expect(renewed).to.have.length(10);
    expect(renewed).not.to.include(codes[1]);
    await dialog(page).getByRole('button', { name: 'I’ve saved my recovery codes' }).click();

    await page.getByRole('button', { name: 'Turn off' }).click();
    await dialog(page).getByLabel('Authentication or recovery code').fill(codes[2]!);
    await dialog(page).getByRole('button', { name: 'Turn off' }).click();
    await dialog(page).getByText('incorrect or was already used').waitFor();
    await dialog(page).getByLabel('Authentication or recovery code').fill(renewed[0]!);
    await dialog(page).getByRole('button', { name: 'Turn off' }).click();
    await notice(page, 'Two-factor authentication turned off.');
    await page.getByRole('button', { name: 'Set up' }).waitFor();
    expectNoErrors(/400 \(Bad Request\)/);
  });

  it('lists sessions with their devices and signs out one or all others', async () => {
    await elsewhere();
    const { page, expectNoErrors } = await browser.open(person, '/profile');
    await session(page, 'Firefox on macOS').filter({ hasText: '203.0.113.7' }).waitFor();
    expect(await session(page, 'Current').count()).to.equal(1);
    await page.getByRole('button', { name: 'Sign out Firefox on macOS' }).click();
    await session(page, 'Firefox on macOS').waitFor({ state: 'detached' });

    await elsewhere();
    await elsewhere();
    await page.reload();
    await session(page, 'Firefox on macOS').first().waitFor();
    await page.getByRole('button', { name: 'Sign out others' }).click();
    await dialog(page).getByRole('button', { name: 'Sign out' }).click();
    await session(page, 'Firefox on macOS').first().waitFor({ state: 'detached' });
    await session(page, 'Current').waitFor();
    expectNoErrors();
  });

  it('is accessible, also during the setup of two-factor authentication', async () => {
    await elsewhere();
    await browser.looks(person, '/profile', 'profile', page => session(page, 'Firefox').waitFor());
    await browser.looks(person, '/profile', 'profile-two-factor', async page => {
      await page.getByRole('button', { name: 'Set up' }).click();
      await dialog(page).getByRole('button', { name: 'Continue' }).click();
      await dialog(page).getByRole('img', { name: 'QR code' }).waitFor();
    });
  });
});
