// The API keys screen in a real browser: create, show once, rotate, revoke, and read-only roles.
import { expect } from 'chai';
import type { Locator, Page } from 'playwright-core';
import {
  axeViolations,
  type ConsoleBrowser,
  consoleBrowser,
  picture,
} from '../support/console/console-browser.ts';
import {
  type ConsoleFixture,
  consoleFixture,
  type TestUser,
} from '../support/console/console-fixture.ts';
import { renderCall } from '../support/http-call.ts';

describe('API keys screen', function () {
  this.timeout(120_000);
  let fixture: ConsoleFixture;
  let browser: ConsoleBrowser;
  let owner: TestUser;
  before(async () => {
    fixture = await consoleFixture({ workers: 0 });
    [browser, owner] = await Promise.all([
      consoleBrowser(fixture),
      fixture.createUser({ role: 'owner' }),
    ]);
  });
  after(async () => {
    await browser.close();
    await fixture.stop();
  });

  /** A valid key gets 400 for an empty body, an invalid one 401. */
  const works = async (key: string) =>
    (await renderCall(fixture.api.port(), key, {})).status === 400;
  /** Not by the name of the row: `…UvTo` before the button "Revoke" contains "to revoke". */
  const row = (page: Page, name: string) =>
    page.getByRole('row').filter({ has: page.getByText(name, { exact: true }) });
  const shownKey = async (page: Page, name: string) =>
    (await page.getByRole('dialog').getByRole('region', { name, exact: true }).textContent()) ?? '';

  async function create(page: Page, name: string): Promise<string> {
    await page.getByRole('button', { name: 'Create API key' }).click();
    await page.getByLabel('Name').fill(name);
    await page.getByRole('button', { name: 'Create key' }).click();
    await page.getByText('This key is shown only once').waitFor();
    return shownKey(page, name);
  }

  it('shows a new key in full only once', async () => {
    const { page, expectNoErrors } = await browser.open(owner, '/keys', {
      permissions: ['clipboard-read', 'clipboard-write'],
    });
    const key = await create(page, 'shown once');
    expect(await works(key)).to.equal(true);
    expect(await shownKey(page, 'Try it with curl')).to.include(`Bearer ${key}`);
    await picture(page, 'key-shown-desktop-light');
    expect(await axeViolations(page)).to.deep.equal([]);
    await page.getByRole('button', { name: 'Copy key' }).click();
    await page.getByText('Copied').waitFor();
    expect(await page.evaluate('navigator.clipboard.readText()')).to.equal(key);
    await page.getByRole('button', { name: 'I’ve saved my key' }).click();
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    expect(await row(page, 'shown once').textContent()).to.include(`…${key.slice(-4)}`);
    expect(await page.content()).not.to.include(key);
    expectNoErrors();
  });

  it('keeps the dialog with a new key open on a click outside', async () => {
    const { page } = await browser.open(owner, '/keys');
    await create(page, 'beside');
    await page.mouse.click(5, 400);
    await page.getByRole('button', { name: 'I’ve saved my key' }).click();
    await page.getByRole('dialog').waitFor({ state: 'detached' });
  });

  it('keeps the dialog with a new key open on Escape', async () => {
    const { page } = await browser.open(owner, '/keys');
    await create(page, 'escape');
    await page.waitForFunction(
      'document.querySelector("[role=dialog]").contains(document.activeElement)',
    );
    await page.keyboard.press('Escape');
    await page.getByRole('button', { name: 'I’ve saved my key' }).click();
    await page.getByRole('dialog').waitFor({ state: 'detached' });
  });

  it('does not open the command palette over a dialog', async () => {
    const { page, expectNoErrors } = await browser.open(owner, '/keys');
    const opener = page.getByRole('button', { name: 'Create API key' });
    const name = page.getByLabel('Name');
    const palette = page.getByRole('dialog', { name: 'Go to a page or account' });
    const shortcut = () => page.keyboard.press('Control+k');
    await opener.waitFor();
    // Its code has loaded after this, so that it would open at once.
    await shortcut();
    await palette.waitFor();
    await page.keyboard.press('Escape');
    await palette.waitFor({ state: 'detached' });
    await opener.click();
    await name.fill('palette');
    await shortcut();
    expect(await palette.count()).to.equal(0);
    await page.keyboard.type(' closed');
    expect(await name.inputValue()).to.equal('palette closed');
    await page.getByRole('button', { name: 'Create key' }).click();
    await page.getByText('This key is shown only once').waitFor();
    await shortcut();
    expect(await palette.count()).to.equal(0);
    expect(await works(await shownKey(page, 'palette closed'))).to.equal(true);
    await page.getByRole('button', { name: 'I’ve saved my key' }).click();
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    await shortcut();
    await palette.waitFor();
    expectNoErrors();
  });

  it('returns the focus to the opener of a dialog, or to the heading if the opener is gone', async () => {
    const { page } = await browser.open(owner, '/keys');
    await create(page, 'focus');
    await page.getByRole('button', { name: 'I’ve saved my key' }).click();
    await page.waitForFunction('document.activeElement.textContent === "Create API key"');
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

  it('shows an invalid IP address at its field and keeps the input', async () => {
    const { page, expectNoErrors } = await browser.open(owner, '/keys');
    await page.getByRole('button', { name: 'Create API key' }).click();
    await page.getByLabel('Name').fill('with addresses');
    await page.getByLabel('Allowed IP addresses').fill('203.0.113.0/24\n300.1.1.1');
    await page.getByRole('button', { name: 'Create key' }).click();
    const field = page.getByLabel('Allowed IP addresses');
    await page.getByText('300.1.1.1 is not a valid IP address').waitFor();
    expect(await field.getAttribute('aria-invalid')).to.equal('true');
    expect(await axeViolations(page)).to.deep.equal([]);
    await field.fill('203.0.113.0/24\n2001:db8::/32');
    await page.getByLabel('Expires').selectOption('In 90 days');
    await page.getByRole('button', { name: 'Create key' }).click();
    await page.getByRole('button', { name: 'I’ve saved my key' }).click();
    const cells = await row(page, 'with addresses').getByRole('cell').allTextContents();
    expect(cells).to.include('203.0.113.0/24 and 1 more').and.to.include('in 3 months');
    expectNoErrors(/status of 400/);
  });

  it('creates test keys and read-only keys, and rejects a key without scopes', async () => {
    const { page, expectNoErrors } = await browser.open(owner, '/keys');
    const dialog = page.getByRole('dialog');
    await page.getByRole('button', { name: 'Create API key' }).click();
    await page.getByLabel('Name').fill('monitoring');
    await dialog.getByRole('checkbox', { name: 'Render' }).uncheck();
    await dialog.getByRole('checkbox', { name: 'Read' }).uncheck();
    await page.getByRole('button', { name: 'Create key' }).click();
    await dialog.getByText('must be one or more of render, read').waitFor();
    await dialog.getByRole('checkbox', { name: 'Read' }).check();
    await picture(page, 'key-scopes-desktop-light');
    expect(await axeViolations(page)).to.deep.equal([]);
    await page.getByRole('button', { name: 'Create key' }).click();
    await page.getByText('This key is shown only once').waitFor();
    const read = await shownKey(page, 'monitoring');
    expect(await shownKey(page, 'Try it with curl')).to.include('/v1/account');
    expect(await works(read)).to.equal(false);
    await page.getByRole('button', { name: 'I’ve saved my key' }).click();

    await page.getByRole('button', { name: 'Create API key' }).click();
    await page.getByLabel('Name').fill('pipeline');
    await dialog.getByRole('checkbox', { name: 'Test key' }).check();
    await page.getByRole('button', { name: 'Create key' }).click();
    await page.getByText('This key is shown only once').waitFor();
    const test = await shownKey(page, 'pipeline');
    expect(test).to.match(/^pressroom_test_/);
    expect(await works(test)).to.equal(true);
    await page.getByRole('button', { name: 'I’ve saved my key' }).click();
    expect(await row(page, 'pipeline').textContent())
      .to.include('Test')
      .and.include('pressroom_test_…')
      .and.include('Render, Read');
    expect(await row(page, 'monitoring').textContent())
      .to.include('Read')
      .and.not.include('Render');
    const right = async (button: Locator) => {
      const box = (await button.boundingBox())!;
      return box.x + box.width;
    };
    // The table ends below the right edge of this button, and cuts what is wider.
    expect(
      await right(row(page, 'monitoring').getByRole('button', { name: 'Revoke' })),
    ).to.be.at.most(await right(page.getByRole('button', { name: 'Create API key' })));
    await picture(page, 'keys-desktop-light');
    await page.setViewportSize({ width: 390, height: 844 });
    await picture(page, 'keys-phone-light');
    await page.getByRole('button', { name: 'Create API key' }).click();
    await dialog.getByRole('checkbox', { name: 'Test key' }).waitFor();
    await picture(page, 'key-scopes-phone-light');
    const width = await page.evaluate('document.documentElement.scrollWidth');
    expect(width, 'no horizontal overflow on a phone').to.be.at.most(390);
    expectNoErrors(/status of 400/);
  });

  it('rotates a key and keeps the old one valid for the selected time', async () => {
    const { page, expectNoErrors } = await browser.open(owner, '/keys');
    const former = await create(page, 'to rotate');
    await page.getByRole('button', { name: 'I’ve saved my key' }).click();
    await page.getByRole('button', { name: `Rotate to rotate …${former.slice(-4)}` }).click();
    await page.getByRole('radio', { name: 'In 1 hour' }).check();
    await page.getByRole('button', { name: 'Rotate key' }).click();
    await page.getByText('This key is shown only once').waitFor();
    const next = await shownKey(page, 'to rotate');
    await page.getByRole('button', { name: 'I’ve saved my key' }).click();
    expect(next).not.to.equal(former);
    expect([await works(former), await works(next)]).to.deep.equal([true, true]);
    await page.getByText('Replaced').waitFor();
    // A minute less after half a minute on a busy machine.
    const old = page.getByRole('row').filter({ hasText: `…${former.slice(-4)}` });
    const expiry = old.getByRole('cell', {
      name: /^in (1 hour|5\d minutes)$/,
    });
    expect(await expiry.count()).to.equal(1);
    expectNoErrors();
  });

  it('revokes a key once its name is typed', async () => {
    const { page, expectNoErrors } = await browser.open(owner, '/keys');
    const key = await create(page, 'to revoke');
    await page.getByRole('button', { name: 'I’ve saved my key' }).click();
    await page.getByRole('button', { name: 'Revoke to revoke' }).click();
    const dialog = page.getByRole('dialog');
    expect(await dialog.getByRole('button', { name: 'Revoke key' }).isDisabled()).to.equal(true);
    expect(await axeViolations(page)).to.deep.equal([]);
    await dialog.getByLabel('Type to revoke to confirm').fill('to revoke');
    await dialog.getByRole('button', { name: 'Revoke key' }).click();
    await page.getByText('API key to revoke revoked.').waitFor();
    await row(page, 'to revoke').waitFor({ state: 'detached' });
    expect(await works(key)).to.equal(false);
    expectNoErrors();
  });

  it('creates a key while the browser says that it is offline', async () => {
    const { page, expectNoErrors } = await browser.open(owner, '/keys');
    await page.evaluate("void dispatchEvent(new Event('offline'))");
    await create(page, 'offline');
    await page.getByRole('button', { name: 'I’ve saved my key' }).click();
    await row(page, 'offline').waitFor();
    expectNoErrors();
  });

  it('deletes an expired key without asking for its name', async () => {
    const { page } = await browser.open(owner, '/keys');
    await create(page, 'old one');
    await fixture.store.accounts.updateOne(
      { _id: fixture.accountId, 'keys.name': 'old one' },
      { $set: { 'keys.$.expiresAt': new Date('2026-01-01T00:00:00Z') } },
    );
    await page.reload();
    await row(page, 'old one').getByText('Expired').waitFor();
    await row(page, 'old one').getByRole('button', { name: 'Delete' }).click();
    await page.getByRole('dialog').getByText('has expired and no longer works').waitFor();
    await page.getByRole('dialog').getByRole('button', { name: 'Delete key' }).click();
    await row(page, 'old one').waitFor({ state: 'detached' });
  });

  it('shows markup in a key name as text', async () => {
    const { page, expectNoErrors } = await browser.open(owner, '/keys');
    const name = '<img src=x onerror="console.error(1)">';
    await create(page, name);
    await page.getByRole('button', { name: 'I’ve saved my key' }).click();
    await row(page, name).waitFor();
    expect(await page.getByRole('main').locator('img').count()).to.equal(0);
    expectNoErrors();
  });

  it('shows a viewer the list without buttons', async () => {
    const { page, expectNoErrors } = await browser.open(
      await fixture.createUser({ role: 'viewer' }),
      '/keys',
    );
    await page.getByRole('table', { name: 'API keys' }).waitFor();
    expect(await page.getByRole('main').getByRole('button').count()).to.equal(0);
    expectNoErrors();
  });

  it('is accessible', async () => {
    await browser.looks(owner, '/keys', 'keys', page =>
      page.getByRole('table', { name: 'API keys' }).waitFor(),
    );
  });

  it('is accessible without any key', async () => {
    const fresh = await fixture.createUser({
      role: 'developer',
      account: await fixture.account2(),
    });
    await browser.looks(fresh, '/keys', 'keys-empty', page =>
      page.getByText('No API keys yet').waitFor(),
    );
  });
});
