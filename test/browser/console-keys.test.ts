// API keys in a real browser: made, shown once, rotated, revoked, and looked at by who may not
// change them.
import { expect } from 'chai';
import type { Page } from 'playwright-core';
import {
  axeViolations,
  type ConsoleBrowser,
  consoleBrowser,
  picture,
} from '../support/console/console-browser.ts';
import {
  type ConsoleFixture,
  consoleFixture,
  type Person,
} from '../support/console/console-fixture.ts';
import { renderCall } from '../support/http-call.ts';

describe('API keys in the dashboard', function () {
  this.timeout(120_000);
  let fixture: ConsoleFixture;
  let browser: ConsoleBrowser;
  let owner: Person;
  before(async () => {
    fixture = await consoleFixture({ workers: 0 });
    [browser, owner] = await Promise.all([
      consoleBrowser(fixture),
      fixture.person({ role: 'owner' }),
    ]);
  });
  after(async () => {
    await browser.close();
    await fixture.stop();
  });

  /** A good key is asked for a better body, any other is refused before. */
  const works = async (key: string) =>
    (await renderCall(fixture.api.port(), key, {})).status === 400;
  const row = (page: Page, name: string) => page.getByRole('row', { name });
  const shownKey = async (page: Page, name: string) =>
    (await page.getByRole('dialog').getByRole('region', { name, exact: true }).textContent()) ?? '';

  async function create(page: Page, name: string): Promise<string> {
    await page.getByRole('button', { name: 'Create a key' }).click();
    await page.getByLabel('Name').fill(name);
    await page.getByRole('button', { name: 'Create the key' }).click();
    await page.getByText('This key is shown only now').waitFor();
    return shownKey(page, name);
  }

  it('shows a new key once, in full and in a call, and afterwards only its ends', async () => {
    const { page, expectNoErrors } = await browser.open(owner, '/keys', {
      permissions: ['clipboard-read', 'clipboard-write'],
    });
    const key = await create(page, 'shown once');
    expect(await works(key)).to.equal(true);
    expect(await shownKey(page, 'Try it with curl')).to.include(`Bearer ${key}`);
    await picture(page, 'key-shown-desktop-light');
    expect(await axeViolations(page)).to.deep.equal([]);
    await page.getByRole('button', { name: 'Copy the key' }).click();
    await page.getByText('Copied').waitFor();
    expect(await page.evaluate('navigator.clipboard.readText()')).to.equal(key);
    await page.getByRole('button', { name: 'I saved the key' }).click();
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    expect(await row(page, 'shown once').textContent()).to.include(`…${key.slice(-4)}`);
    expect(await page.content()).not.to.include(key);
    expectNoErrors();
  });

  it('keeps the dialog with the key open when somebody clicks beside it', async () => {
    const { page } = await browser.open(owner, '/keys');
    await create(page, 'beside');
    await page.mouse.click(5, 400);
    await page.getByRole('button', { name: 'I saved the key' }).click();
    await page.getByRole('dialog').waitFor({ state: 'detached' });
  });

  it('keeps a new key on the screen when Escape is pressed, with the focus in its dialog', async () => {
    const { page } = await browser.open(owner, '/keys');
    await create(page, 'escape');
    await page.waitForFunction(
      'document.querySelector("[role=dialog]").contains(document.activeElement)',
    );
    await page.keyboard.press('Escape');
    await page.getByRole('button', { name: 'I saved the key' }).click();
    await page.getByRole('dialog').waitFor({ state: 'detached' });
  });

  it('gives the focus back when a dialog is closed, and to the heading when the key has gone', async () => {
    const { page } = await browser.open(owner, '/keys');
    await create(page, 'focus');
    await page.getByRole('button', { name: 'I saved the key' }).click();
    await page.waitForFunction('document.activeElement.textContent === "Create a key"');
    const revoke = page.getByRole('button', { name: 'Revoke focus' });
    await revoke.press('Enter');
    await page.getByRole('dialog').getByRole('button', { name: 'Cancel' }).press('Enter');
    await page.waitForFunction('document.activeElement.ariaLabel?.startsWith("Revoke focus")');
    await revoke.press('Enter');
    await page.getByLabel('Type focus to confirm').fill('focus');
    await page.getByLabel('Type focus to confirm').press('Enter');
    await row(page, 'focus').waitFor({ state: 'detached' });
    await page.waitForFunction('document.activeElement.tagName === "H1"');
  });

  it('says at the field which address is none, and keeps what was typed', async () => {
    const { page, expectNoErrors } = await browser.open(owner, '/keys');
    await page.getByRole('button', { name: 'Create a key' }).click();
    await page.getByLabel('Name').fill('with addresses');
    await page.getByLabel('Allowed IP addresses').fill('203.0.113.0/24\n300.1.1.1');
    await page.getByRole('button', { name: 'Create the key' }).click();
    const field = page.getByLabel('Allowed IP addresses');
    await page.getByText('300.1.1.1 is no IP address').waitFor();
    expect(await field.getAttribute('aria-invalid')).to.equal('true');
    expect(await axeViolations(page)).to.deep.equal([]);
    await field.fill('203.0.113.0/24\n2001:db8::/32');
    await page.getByLabel('Expires').selectOption('In 90 days');
    await page.getByRole('button', { name: 'Create the key' }).click();
    await page.getByRole('button', { name: 'I saved the key' }).click();
    const cells = await row(page, 'with addresses').getByRole('cell').allTextContents();
    expect(cells).to.include('203.0.113.0/24 and 1 more').and.to.include('in 3 months');
    expectNoErrors(/status of 400/);
  });

  it('rotates a key, which works on for the chosen time', async () => {
    const { page, expectNoErrors } = await browser.open(owner, '/keys');
    const former = await create(page, 'to rotate');
    await page.getByRole('button', { name: 'I saved the key' }).click();
    await page.getByRole('button', { name: `Rotate to rotate …${former.slice(-4)}` }).click();
    await page.getByRole('radio', { name: 'Works for one more hour' }).check();
    await page.getByRole('button', { name: 'Rotate the key' }).click();
    await page.getByText('This key is shown only now').waitFor();
    const next = await shownKey(page, 'to rotate');
    await page.getByRole('button', { name: 'I saved the key' }).click();
    expect(next).not.to.equal(former);
    expect([await works(former), await works(next)]).to.deep.equal([true, true]);
    await page.getByText('Replaced').waitFor();
    expect(
      await row(page, `…${former.slice(-4)}`)
        .getByRole('cell')
        .allTextContents(),
    ).to.include('in 1 hour');
    expectNoErrors();
  });

  it('revokes a key once its name was typed: its next request is refused', async () => {
    const { page, expectNoErrors } = await browser.open(owner, '/keys');
    const key = await create(page, 'to revoke');
    await page.getByRole('button', { name: 'I saved the key' }).click();
    await page.getByRole('button', { name: 'Revoke to revoke' }).click();
    const dialog = page.getByRole('dialog');
    expect(await dialog.getByRole('button', { name: 'Revoke the key' }).isDisabled()).to.equal(
      true,
    );
    expect(await axeViolations(page)).to.deep.equal([]);
    await dialog.getByLabel('Type to revoke to confirm').fill('to revoke');
    await dialog.getByRole('button', { name: 'Revoke the key' }).click();
    await page.getByText('The key to revoke is revoked.').waitFor();
    await row(page, 'to revoke').waitFor({ state: 'detached' });
    expect(await works(key)).to.equal(false);
    expectNoErrors();
  });

  it('marks a key that has expired, and removes it without its name', async () => {
    const { page } = await browser.open(owner, '/keys');
    await create(page, 'old one');
    await fixture.store.accounts.updateOne(
      { _id: fixture.accountId, 'keys.name': 'old one' },
      { $set: { 'keys.$.expiresAt': new Date('2026-01-01T00:00:00Z') } },
    );
    await page.reload();
    await row(page, 'old one').getByText('Expired').waitFor();
    await row(page, 'old one').getByRole('button', { name: 'Remove' }).click();
    await page.getByRole('dialog').getByText('has expired and works no more').waitFor();
    await page.getByRole('dialog').getByRole('button', { name: 'Remove the key' }).click();
    await row(page, 'old one').waitFor({ state: 'detached' });
  });

  it('shows a name as it was typed, whatever is in it', async () => {
    const { page, expectNoErrors } = await browser.open(owner, '/keys');
    const name = '<img src=x onerror="console.error(1)">';
    await create(page, name);
    await page.getByRole('button', { name: 'I saved the key' }).click();
    await row(page, name).waitFor();
    expect(await page.getByRole('main').locator('img').count()).to.equal(0);
    expectNoErrors();
  });

  it('gives a viewer the list and no buttons', async () => {
    const { page, expectNoErrors } = await browser.open(
      await fixture.person({ role: 'viewer' }),
      '/keys',
    );
    await page.getByRole('table', { name: 'API keys' }).waitFor();
    expect(await page.getByRole('main').getByRole('button').count()).to.equal(0);
    expectNoErrors();
  });

  it('has no barrier, in either colours and on either size', async () => {
    await browser.looks(owner, '/keys', 'keys', page =>
      page.getByRole('table', { name: 'API keys' }).waitFor(),
    );
  });

  it('says how to begin where there is no key', async () => {
    const fresh = await fixture.person({ role: 'developer', account: await fixture.account2() });
    await browser.looks(fresh, '/keys', 'keys-empty', page =>
      page.getByText('No API keys yet').waitFor(),
    );
  });
});
