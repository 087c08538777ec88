import { expect } from 'chai';
import {
  type BillingFixture,
  billingFixture,
  type Customer,
} from '../support/console/billing-fixture.ts';
import { type ConsoleBrowser, consoleBrowser } from '../support/console/console-browser.ts';
import { type ConsoleFixture, consoleFixture } from '../support/console/console-fixture.ts';

describe('billing screen with Stripe', function () {
  this.timeout(120_000);
  let fixture: BillingFixture;
  let browser: ConsoleBrowser;
  let customer: Customer;
  before(async () => {
    fixture = await billingFixture();
    browser = await consoleBrowser(fixture);
  });
  after(async () => {
    await browser.close();
    await fixture.stop();
  });
  beforeEach(async () => {
    customer = await fixture.customer();
  });

  it('shows plans and prices, and opens the checkout page', async () => {
    const { page } = await browser.open(customer.owner, '/billing');
    const growth = page
      .getByRole('list', { name: 'Plans' })
      .getByRole('listitem')
      .filter({ hasText: 'Growth' });
    expect(await growth.textContent())
      .to.include('49')
      .and.to.include('4 concurrent renders');
    // A stub stands in for Stripe's page: only the navigation is checked.
    await page.route('https://checkout.stripe.test/**', route =>
      route.fulfill({ contentType: 'text/html', body: '<title>Pay</title>' }),
    );
    await page.getByRole('button', { name: 'Choose Growth' }).click();
    await page.waitForURL('https://checkout.stripe.test/**');
  });

  it('shows what to do after a failed payment, and until when renders work', async () => {
    await customer.buy('starter');
    await fixture.store.accounts.updateOne(
      { _id: customer.id },
      { $set: { state: 'past_due', pastDueSince: new Date() } },
    );
    const { page } = await browser.open(customer.owner, '/billing');
    const main = page.getByRole('main');
    await main.getByText(/Renders still work until \w+ \d+, \d{4}/).waitFor();
    await main.getByRole('button', { name: 'Manage billing' }).waitFor();
  });

  it('shows the end date of a subscription that will not renew', async () => {
    await customer.buy('starter');
    await fixture.store.accounts.updateOne(
      { _id: customer.id },
      { $set: { 'billing.cancelAtPeriodEnd': true } },
    );
    const { page } = await browser.open(customer.owner, '/billing');
    await page.getByText(/^Your subscription ends on/).waitFor();
  });

  it('shows the plan to an admin without actions', async () => {
    const admin = await fixture.createUser({ role: 'admin', account: customer.id });
    const { page, expectNoErrors } = await browser.open(admin, '/billing');
    await page.getByText('View only').waitFor();
    expect(await page.getByRole('button', { name: /^Choose/ }).count()).to.equal(0);
    expectNoErrors();
  });

  it('is accessible', async () => {
    await customer.buy('starter');
    await fixture.store.accounts.updateOne({ _id: customer.id }, { $set: { state: 'unpaid' } });
    await browser.looks(customer.owner, '/billing', 'billing', page =>
      page.getByRole('button', { name: 'Choose Growth' }).waitFor(),
    );
  });
});

describe('billing and Connect screens without Stripe', function () {
  this.timeout(120_000);
  let fixture: ConsoleFixture;
  let browser: ConsoleBrowser;
  const begin = async (mode: string) => {
    fixture = await consoleFixture({ workers: 0, env: { PRESSROOM_BILLING: mode } });
    browser = await consoleBrowser(fixture);
    return fixture.createUser({ role: 'owner' });
  };
  afterEach(async () => {
    await browser.close();
    await fixture.stop();
  });

  it('shows that the installation has no billing', async () => {
    const owner = await begin('none');
    const { page, expectNoErrors } = await browser.open(owner, '/billing');
    await page.getByText('This installation has no billing.').waitFor();
    expect(await page.getByRole('button', { name: /^Choose/ }).count()).to.equal(0);
    expectNoErrors();
  });

  it('refers to the administrator for plan changes, and shows how to connect', async () => {
    const owner = await begin('manual');
    const { page, expectNoErrors } = await browser.open(owner, '/billing');
    await page.getByText('Your administrator manages this plan.').waitFor();
    await page.goto(`${browser.origin}/app/connect`);
    expect(await page.getByRole('region', { name: 'curl' }).textContent()).to.include('/v1/render');
    expect(await page.getByRole('region', { name: 'Claude Code' }).textContent()).to.equal(
      'claude mcp add --transport http --scope user pressroom http://localhost:8080/mcp',
    );
    expect(
      await page.getByRole('link', { name: 'Interactive API reference' }).getAttribute('href'),
    ).to.equal('/docs');
    await page.getByRole('link', { name: 'Create API key' }).click();
    await page.getByRole('heading', { level: 1, name: 'API keys' }).waitFor();
    expectNoErrors();
    await browser.looks(owner, '/connect', 'connect', each =>
      each.getByRole('region', { name: 'curl' }).waitFor(),
    );
  });
});
