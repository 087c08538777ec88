import { expect } from 'chai';
import type { Page } from 'playwright-core';
import type { Role } from '../../api/store/store.ts';
import { type ConsoleBrowser, consoleBrowser } from '../support/console/console-browser.ts';
import {
  type ConsoleFixture,
  consoleFixture,
  type TestUser,
} from '../support/console/console-fixture.ts';

const NAMES: Record<string, Role> = { Olga: 'owner', Adam: 'admin', Vera: 'viewer' };

describe('team, audit log and settings screens', function () {
  this.timeout(120_000);
  let fixture: ConsoleFixture;
  let browser: ConsoleBrowser;
  let account: string;
  let people: Record<string, TestUser>;
  before(async () => {
    fixture = await consoleFixture({ workers: 0 });
    browser = await consoleBrowser(fixture);
  });
  after(async () => {
    await browser.close();
    await fixture.stop();
  });
  beforeEach(async () => {
    account = await fixture.account2();
    people = {};
    for (const [name, role] of Object.entries(NAMES)) {
      people[name] = await fixture.createUser({ role, account });
      await people[name].good('PATCH', '/me', { name });
    }
  });

  const open = (name: string, path = '/team') => browser.open(people[name]!, path);
  const row = (page: Page, name: string) => page.getByRole('row').filter({ hasText: name });
  const dialog = (page: Page) => page.getByRole('dialog');
  const notice = (page: Page, text: string) =>
    page.getByRole('region', { name: 'Notices' }).getByText(text).waitFor();

  it('shows an invitation link once and revokes the invitation', async () => {
    const { page, expectNoErrors } = await open('Olga');
    await page.getByRole('button', { name: 'Invite member' }).click();
    await dialog(page).getByLabel('Email address').fill('new@example.com');
    await dialog(page).getByLabel('Billing').check();
    await dialog(page).getByRole('button', { name: 'Create link' }).click();
    const link = await dialog(page).getByLabel('Invitation link').textContent();
    expect(link).to.match(/\/app\/invitation#\S{20,}$/);
    await dialog(page).getByText('you won’t be able to see it again').waitFor();
    await dialog(page).getByRole('button', { name: 'Done' }).click();
    const invited = page
      .getByRole('table', { name: 'Pending invitations' })
      .getByRole('row')
      .filter({ hasText: 'new@example.com' });
    expect(await invited.textContent())
      .to.include('Billing')
      .and.to.include('Olga');
    expect(await page.content()).not.to.include(link!.split('#')[1]);
    await page.getByRole('button', { name: 'Revoke invitation for new@example.com' }).click();
    await dialog(page).getByRole('button', { name: 'Revoke invitation' }).click();
    await invited.waitFor({ state: 'detached' });
    expectNoErrors();
  });

  it('shows an invalid email address at its field', async () => {
    const { page } = await open('Olga');
    await page.getByRole('button', { name: 'Invite member' }).click();
    await dialog(page).getByLabel('Email address').fill('not an address');
    await dialog(page).getByRole('button', { name: 'Create link' }).click();
    await dialog(page).getByText('an email address such as').waitFor();
    expect(await dialog(page).getByLabel('Email address').getAttribute('aria-invalid')).to.equal(
      'true',
    );
  });

  it('changes a role and describes each role', async () => {
    const { page, expectNoErrors } = await open('Adam');
    await page.getByRole('button', { name: 'Change role of Vera' }).click();
    await dialog(page).getByText('API keys, renders, playground and usage').waitFor();
    expect(
      await dialog(page).getByRole('radio', { name: 'Owner' }).count(),
      'an admin cannot assign the Owner role',
    ).to.equal(0);
    await dialog(page).getByLabel('Developer').check();
    await dialog(page).getByRole('button', { name: 'Change role' }).click();
    await row(page, 'Vera').filter({ hasText: 'Developer' }).waitFor();
    expect(
      await page.getByRole('button', { name: 'Change role of Olga' }).count(),
      'an admin cannot change an owner',
    ).to.equal(0);
    expectNoErrors();
  });

  it('removes a member', async () => {
    const { page, expectNoErrors } = await open('Olga');
    await page.getByRole('button', { name: 'Remove Vera' }).click();
    await dialog(page).getByRole('button', { name: 'Remove', exact: true }).click();
    await notice(page, 'Vera removed.');
    await row(page, 'Vera').waitFor({ state: 'detached' });
    expect((await people['Vera']!.call('GET', `/accounts/${account}/team`)).status).to.equal(404);
    expectNoErrors();
  });

  it('shows the server’s error when the last owner leaves', async () => {
    const { page } = await open('Olga');
    await page.getByRole('button', { name: 'Leave account' }).click();
    await dialog(page).getByRole('button', { name: 'Leave', exact: true }).click();
    await dialog(page).getByRole('alert').filter({ hasText: 'needs at least one owner' }).waitFor();
  });

  it('lets a viewer only leave', async () => {
    const { page, expectNoErrors } = await open('Vera');
    await row(page, 'Olga').waitFor();
    const buttons = await page.getByRole('main').getByRole('button').allTextContents();
    expect(buttons).to.deep.equal(['Leave']);
    await page.getByRole('button', { name: 'Leave account' }).click();
    await dialog(page).getByRole('button', { name: 'Leave', exact: true }).click();
    await notice(page, 'You left');
    expectNoErrors();
  });

  it('shows and filters the entries of the audit log', async () => {
    await people['Olga']!.good('POST', `/accounts/${account}/team/invitations`, {
      email: 'guest@example.com',
      role: 'viewer',
    });
    await people['Adam']!.good('PATCH', `/accounts/${account}/team/members/${people['Vera']!.id}`, {
      role: 'developer',
    });
    const { page, expectNoErrors } = await open('Olga', '/audit');
    await row(page, 'Invited guest@example.com')
      .filter({ hasText: people['Olga']!.email })
      .waitFor();
    await row(page, 'Changed the role of')
      .filter({ hasText: 'role: viewer → developer' })
      .waitFor();
    await page.getByLabel('Filter loaded entries').fill('guest@');
    await row(page, 'Changed the role of').waitFor({ state: 'detached' });
    await row(page, 'Invited').waitFor();
    await page.getByLabel('Filter loaded entries').fill('nothing of the kind');
    await page.getByRole('status').filter({ hasText: 'No matches for' }).waitFor();
    expectNoErrors();
  });

  it('loads more audit log entries and keeps the loaded ones', async () => {
    const entries = Array.from({ length: 60 }, (_, index) => ({
      _id: `entry${index}`,
      at: new Date(Date.UTC(2026, 0, 1, 0, index)),
      account,
      actor: 'member@example.com',
      action: 'account.renamed',
      target: `name ${index}`,
    }));
    await fixture.store.console.audit.insertMany(entries);
    const { page, expectNoErrors } = await open('Olga', '/audit');
    await row(page, 'name 59').waitFor();
    expect(await row(page, 'name 0').count()).to.equal(0);
    await page.getByRole('button', { name: 'Load more' }).click();
    await page.getByText('name 0', { exact: true }).waitFor();
    await row(page, 'name 59').waitFor();
    expectNoErrors();
  });

  it('shows a new account name everywhere', async () => {
    const { page, expectNoErrors } = await open('Olga', '/settings');
    await page.getByRole('textbox', { name: 'Name' }).fill('Renamed Ltd');
    await page.getByRole('button', { name: 'Rename' }).click();
    await notice(page, 'Account renamed.');
    await page.getByRole('banner').first().getByText('Renamed Ltd').waitFor();
    await page.getByText(account, { exact: true }).waitFor();
    expectNoErrors();
  });

  it('shows markup in names as text', async () => {
    const evil = '<img src=x onerror="document.title=1"><script>alert(1)</script>';
    await people['Vera']!.good('PATCH', '/me', { name: evil });
    await people['Olga']!.good('PATCH', `/accounts/${account}`, { name: evil });
    const { page, expectNoErrors } = await open('Olga');
    await row(page, evil).waitFor();
    await page.goto(`${browser.origin}/app/audit`);
    await row(page, evil).first().waitFor();
    expectNoErrors();
  });

  it('has an accessible team screen', async () => {
    await people['Olga']!.good('POST', `/accounts/${account}/team/invitations`, {
      email: 'guest@example.com',
      role: 'viewer',
    });
    await browser.looks(people['Olga']!, '/team', 'team', page =>
      row(page, 'guest@example.com').waitFor(),
    );
  });
  it('has accessible audit log and settings screens', async () => {
    await people['Olga']!.good('POST', `/accounts/${account}/team/invitations`, {
      email: 'guest@example.com',
      role: 'viewer',
    });
    await browser.looks(people['Olga']!, '/audit', 'audit', page => row(page, 'Invited').waitFor());
    await browser.looks(people['Olga']!, '/settings', 'settings', page =>
      page.getByText(account, { exact: true }).waitFor(),
    );
  });
  it('has accessible dialogs', async () => {
    await browser.looks(people['Olga']!, '/team', 'team-invite', async page => {
      await page.getByRole('button', { name: 'Invite member' }).click();
      await dialog(page).getByLabel('Email address').waitFor();
    });
    await browser.looks(people['Olga']!, '/team', 'team-remove', async page => {
      await page.getByRole('button', { name: 'Remove Vera' }).click();
      await dialog(page).getByRole('button', { name: 'Remove', exact: true }).waitFor();
    });
  });
});
