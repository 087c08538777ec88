import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { type ConsoleBrowser, consoleBrowser } from '../support/console/console-browser.ts';
import {
  type ConsoleFixture,
  consoleFixture,
  type TestUser,
} from '../support/console/console-fixture.ts';
import { eventually } from '../support/eventually.ts';
import { renderCall } from '../support/http-call.ts';

const row = (page: Page, text: string) => page.getByRole('row').filter({ hasText: text });
const dialog = (page: Page) => page.getByRole('dialog');
const notice = (page: Page, text: string) =>
  page.getByRole('region', { name: 'Notices' }).getByText(text).waitFor();

describe('operator screens', function () {
  this.timeout(120_000);
  let fixture: ConsoleFixture;
  let browser: ConsoleBrowser;
  let operator: TestUser;
  before(async () => {
    fixture = await consoleFixture({ env: { PRESSROOM_BILLING: 'manual' } });
    browser = await consoleBrowser(fixture);
    operator = await fixture.createUser({ operator: true });
  });
  after(async () => {
    await browser.close();
    await fixture.stop();
  });

  it('creates an account and an invitation link for its owner', async () => {
    const { page, expectNoErrors } = await browser.open(operator, '/operator/accounts');
    await page.getByRole('button', { name: 'Create account' }).click();
    await dialog(page).getByLabel('Name').fill('Globex Ltd');
    await dialog(page).getByLabel('Plan').selectOption('growth');
    await dialog(page).getByRole('button', { name: 'Create account' }).click();
    await page.getByRole('heading', { level: 1, name: 'Globex Ltd' }).waitFor();
    await page.getByRole('button', { name: 'Invite member' }).click();
    await dialog(page).getByLabel('Email address').fill('owner@example.com');
    expect(await dialog(page).getByLabel('Owner').isChecked()).to.equal(true);
    await dialog(page).getByRole('button', { name: 'Create link' }).click();
    await dialog(page)
      .getByLabel('Invitation link')
      .filter({ hasText: /\/app\/invitation#/ })
      .waitFor();
    expectNoErrors();
  });

  it('suspends and reactivates an account', async () => {
    const { page, expectNoErrors } = await browser.open(
      operator,
      `/operator/accounts?account=${fixture.accountId}`,
    );
    const render = async () =>
      (await renderCall(fixture.api.port(), fixture.key, { html: '<p>x', sandbox: true })).status;
    expect(await render()).to.equal(200);
    await page.getByRole('button', { name: 'Suspend account' }).click();
    await dialog(page).getByText('403 subscription_inactive').waitFor();
    await dialog(page).getByRole('button', { name: 'Suspend account' }).click();
    await notice(page, 'Account suspended.');
    expect(await render()).to.equal(403);
    await page.getByText('Suspended', { exact: true }).first().waitFor();
    await page.getByRole('button', { name: 'Reactivate account' }).click();
    await dialog(page).getByRole('button', { name: 'Reactivate account' }).click();
    await notice(page, 'Account reactivated.');
    expect(await render()).to.equal(200);
    expectNoErrors();
  });

  it('deletes an account whose name is typed', async () => {
    const { id, name } = await fixture.accounts.createAccount('Vandelay Ltd');
    const { page, expectNoErrors } = await browser.open(
      operator,
      `/operator/accounts?account=${id}`,
    );
    await page.getByRole('button', { name: 'Delete account' }).click();
    const button = dialog(page).getByRole('button', { name: 'Delete account' });
    await dialog(page).getByText('This cannot be undone.').waitFor();
    expect(await button.isDisabled()).to.equal(true);
    await dialog(page).getByRole('textbox').fill('Vandelay');
    expect(await button.isDisabled()).to.equal(true);
    await dialog(page).getByRole('textbox').fill(name);
    await button.click();
    await notice(page, 'Account Vandelay Ltd deleted.');
    await page.getByRole('heading', { level: 1, name: 'Accounts' }).waitFor();
    await eventually(async () => expect(await row(page, name).count()).to.equal(0));
    expect(await fixture.store.accounts.countDocuments({ _id: id })).to.equal(0);
    await page.goto(`${new URL(page.url()).origin}/app/operator/audit`);
    await page.getByText('Deleted the account').first().waitFor();
    expectNoErrors();
  });

  it('changes plan and intranet access of an account, and shows its renders and team', async () => {
    const account = await fixture.account2('free');
    const owner = await fixture.createUser({ role: 'owner', account });
    const { page, expectNoErrors } = await browser.open(
      operator,
      `/operator/accounts?account=${account}`,
    );
    await page.getByLabel('Plan', { exact: true }).selectOption('scale');
    await page.getByLabel('Intranet access').click();
    await page.getByLabel('Renderer reuse').click();
    await page.getByRole('button', { name: 'Save' }).click();
    await notice(page, 'Account updated.');
    expect(await operator.good(`GET`, `/operator/accounts/${account}`)).to.deep.include({
      plan: 'scale',
      intranet: true,
      rendererReuse: false,
    });
    await row(page, owner.email).filter({ hasText: 'Owner' }).waitFor();
    await page.getByText('No renders yet.').waitFor();
    expectNoErrors();
  });

  it('shows reference and number of repeated errors in the renders of an account', async () => {
    const account = await fixture.account2();
    const record = {
      account,
      at: new Date(),
      via: 'api' as const,
      sandbox: false,
      counted: false,
      source: 'html' as const,
      options: {},
      timings: {},
      totalMs: 1,
    };
    await fixture.store.console.renders.insertMany([
      { ...record, _id: randomUUID(), outcome: 'ok', reference: 'order-1042' },
      { ...record, _id: randomUUID(), outcome: 'error', code: 'validation_error', times: 37 },
    ]);
    const { page, expectNoErrors } = await browser.open(
      operator,
      `/operator/accounts?account=${account}`,
    );
    await row(page, 'order-1042').filter({ hasText: 'Succeeded' }).waitFor();
    await row(page, 'validation_error ×37').filter({ hasText: 'Rejected' }).waitFor();
    expectNoErrors();
  });

  it('searches accounts by name and state', async () => {
    await fixture.accounts.createAccount('Zebra Works', { plan: 'free' });
    const { page, expectNoErrors } = await browser.open(operator, '/operator/accounts');
    await row(page, 'Zebra Works').waitFor();
    await page.getByLabel('Search').fill('zebra');
    await row(page, 'scale').first().waitFor({ state: 'detached' });
    await page.getByLabel('State').selectOption('unpaid');
    await page.getByText('No matching accounts').waitFor();
    await page.getByLabel('State').selectOption('active');
    await page.getByRole('link', { name: 'Zebra Works' }).click();
    await page.getByRole('heading', { level: 1, name: 'Zebra Works' }).waitFor();
    expectNoErrors();
  });

  it('disables a user and grants administrator access to another', async () => {
    const gone = await fixture.createUser({ role: 'viewer' });
    await gone.good('PATCH', '/me', { name: 'Gerd Gone' });
    const raised = await fixture.createUser({});
    await raised.good('PATCH', '/me', { name: 'Rosa Raised' });
    const { page, expectNoErrors } = await browser.open(operator, '/operator/people');
    await page.getByLabel('Search').fill('gerd');
    await row(page, 'Rosa Raised').waitFor({ state: 'detached' });
    await page.getByRole('button', { name: 'Disable Gerd Gone' }).click();
    await dialog(page).getByRole('button', { name: 'Disable', exact: true }).click();
    await row(page, 'Gerd Gone').filter({ hasText: 'Disabled' }).waitFor();
    expect((await gone.call('GET', '/me')).status).to.equal(401);
    await page.getByLabel('Search').fill('');
    await page.getByRole('button', { name: 'Make administrator: Rosa Raised' }).click();
    await dialog(page).getByRole('button', { name: 'Make administrator' }).click();
    await row(page, 'Rosa Raised')
      .filter({ hasText: 'Administrator' })
      .getByText('Administrator', { exact: true })
      .first()
      .waitFor();
    expect((await raised.call('GET', '/operator/users')).status).to.equal(200);
    expectNoErrors();
  });

  it('shows busy slots while a render runs', async () => {
    const { page, expectNoErrors } = await browser.open(operator, '/operator/live');
    const busy = page
      .getByRole('term')
      .filter({ hasText: 'Busy slots' })
      .locator('xpath=following-sibling::dd');
    await busy.filter({ hasText: /^0 of \d/ }).waitFor();
    const rendering = renderCall(fixture.api.port(), fixture.key, {
      html: '<p>x',
      sandbox: true,
      wait_delay: '30s',
    });
    const left = rendering.catch(() => 'left');
    await busy.filter({ hasText: /^1 of \d/ }).waitFor();
    await page.getByText(/^1 of \d+ busy$/).waitFor();
    await page.getByText(/^Last \d+ minutes\. Peak: \d+\/min\.$/).waitFor();
    await page.getByText(/^\d+ rejected \(not in the chart\)$/).waitFor();
    rendering.disconnect();
    expect(await left).to.equal('left');
    await busy.filter({ hasText: /^0 of \d/ }).waitFor();
    expectNoErrors();
  });

  it('shows the health checks', async () => {
    const { page, expectNoErrors } = await browser.open(operator, '/operator/health');
    const checks = page.getByRole('list', { name: 'Checks' });
    await checks.getByRole('heading', { name: 'Database', exact: true }).waitFor();
    await page.getByRole('button', { name: 'Check again' }).click();
    await checks.getByText('OK', { exact: true }).first().waitFor();
    expectNoErrors();
  });

  it('denies access to users who are not operators', async () => {
    const owner = await fixture.createUser({ role: 'owner' });
    const { page } = await browser.open(owner, '/operator/accounts');
    expect(await page.getByRole('link', { name: 'Workers & queue' }).count()).to.equal(0);
    await page.getByText('You need administrator access to view this page.').waitFor();
    expect((await owner.call('GET', '/operator/accounts')).status).to.equal(403);
  });

  it('hides outdated health checks and shows the time of outdated figures on a network error', async () => {
    const [{ page }, { page: live }] = await Promise.all([
      browser.open(operator, '/operator/health'),
      browser.open(operator, '/operator/live'),
    ]);
    await page.getByRole('list', { name: 'Checks' }).waitFor();
    await live.getByText('Busy slots').waitFor();
    for (const each of [page, live]) await each.route('**/console/v1/**', route => route.abort());
    await page.getByRole('button', { name: 'Check again' }).click();
    await page.getByRole('alert').filter({ hasText: 'Could not run the health checks' }).waitFor();
    expect(await page.getByRole('list', { name: 'Checks' }).count()).to.equal(0);
    await live.getByRole('alert').filter({ hasText: 'Showing data from' }).waitFor();
  });

  it('does not truncate the state of an account with a long name', async () => {
    await fixture.accounts.createAccount(
      'The Extraordinarily Long Names Department of Example Company',
      { plan: 'free' },
    );
    const { page } = await browser.open(operator, '/operator/accounts');
    const label = row(page, 'Extraordinarily').locator('.mantine-Badge-label');
    await label.waitFor();
    expect(
      await label.evaluate(({ scrollWidth, clientWidth }) => scrollWidth - clientWidth),
    ).to.equal(0);
  });

  describe('accessibility', () => {
    const SCREENS: Record<string, [path: () => string, ready: (page: Page) => Promise<void>]> = {
      accounts: [() => '/operator/accounts', page => row(page, 'Active').first().waitFor()],
      account: [
        () => `/operator/accounts?account=${fixture.accountId}`,
        page => page.getByRole('table', { name: 'Recent renders' }).waitFor(),
      ],
      users: [() => '/operator/people', page => row(page, operator.email).waitFor()],
      live: [
        () => '/operator/live',
        page =>
          page
            .getByText(/^\d+ of \d+ busy$/)
            .first()
            .waitFor(),
      ],
      health: [
        () => '/operator/health',
        page => page.getByRole('list', { name: 'Checks' }).waitFor(),
      ],
      audit: [() => '/operator/audit', page => row(page, 'Initech Ltd').first().waitFor()],
    };
    before(async () => {
      await operator.good('POST', '/operator/accounts', { name: 'Initech Ltd' });
      expect(
        (await renderCall(fixture.api.port(), fixture.key, { html: '<p>x', sandbox: true })).status,
      ).to.equal(200);
    });
    for (const [name, [path, ready]] of Object.entries(SCREENS))
      it(`has an accessible ${name} screen`, () =>
        browser.looks(operator, path(), `operator-${name}`, ready));
  });
});
