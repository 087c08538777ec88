import { expect } from 'chai';
import {
  type BillingFixture,
  billingFixture,
  type Customer,
} from '../support/console/billing-fixture.ts';
import { type ConsoleBrowser, consoleBrowser } from '../support/console/console-browser.ts';
import { type ConsoleFixture, consoleFixture } from '../support/console/console-fixture.ts';

describe('plan and billing in a browser', function () {
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

  it('shows the plans with their prices, and leads to the page on which one is paid', async () => {
    const { page } = await browser.open(customer.owner, '/billing');
    const growth = page
      .getByRole('list', { name: 'Plans' })
      .getByRole('listitem')
      .filter({ hasText: 'Growth' });
    expect(await growth.textContent())
      .to.include('49')
      .and.to.include('4 renders at once');
    // The provider's page is not ours: that the browser goes there is all that is looked at.
    await page.route('https://checkout.stripe.test/**', route =>
      route.fulfill({ contentType: 'text/html', body: '<title>Pay</title>' }),
    );
    await page.getByRole('button', { name: 'Choose Growth' }).click();
    await page.waitForURL('https://checkout.stripe.test/**');
  });

  it('says what to do after a failed payment, and until when renders work', async () => {
    await customer.buy('starter');
    await fixture.store.accounts.updateOne(
      { _id: customer.id },
      { $set: { state: 'past_due', pastDueSince: new Date() } },
    );
    const { page } = await browser.open(customer.owner, '/billing');
    const main = page.getByRole('main');
    await main.getByText(/Renders still work until \w+ \d+, \d{4}/).waitFor();
    await main.getByRole('button', { name: 'Invoices and payment' }).waitFor();
  });

  it('says when a subscription that was canceled ends', async () => {
    await customer.buy('starter');
    await fixture.store.accounts.updateOne(
      { _id: customer.id },
      { $set: { 'billing.cancelAtPeriodEnd': true } },
    );
    const { page } = await browser.open(customer.owner, '/billing');
    await page.getByText(/^The subscription ends on/).waitFor();
  });

  it('lets an admin look and not pay', async () => {
    const admin = await fixture.person({ role: 'admin', account: customer.id });
    const { page, expectNoErrors } = await browser.open(admin, '/billing');
    await page.getByText('You can look, not pay').waitFor();
    expect(await page.getByRole('button', { name: /^Choose/ }).count()).to.equal(0);
    expectNoErrors();
  });

  it('has no barrier', async () => {
    await customer.buy('starter');
    await fixture.store.accounts.updateOne({ _id: customer.id }, { $set: { state: 'unpaid' } });
    await browser.looks(customer.owner, '/billing', 'billing', page =>
      page.getByRole('button', { name: 'Choose Growth' }).waitFor(),
    );
  });
});

describe('plan and billing without payments, and what connects, in a browser', function () {
  this.timeout(120_000);
  let fixture: ConsoleFixture;
  let browser: ConsoleBrowser;
  const begin = async (mode: string) => {
    fixture = await consoleFixture({ workers: 0, env: { PRESSROOM_BILLING: mode } });
    browser = await consoleBrowser(fixture);
    return fixture.person({ role: 'owner' });
  };
  afterEach(async () => {
    await browser.close();
    await fixture.stop();
  });

  it('says that there is nothing to pay', async () => {
    const owner = await begin('none');
    const { page, expectNoErrors } = await browser.open(owner, '/billing');
    await page.getByText('there is nothing to pay').waitFor();
    expect(await page.getByRole('button', { name: /^Choose/ }).count()).to.equal(0);
    expectNoErrors();
  });

  it('says who changes the plan, and connects by curl', async () => {
    const owner = await begin('manual');
    const { page, expectNoErrors } = await browser.open(owner, '/billing');
    await page.getByText('Who runs this installation changes the plan.').waitFor();
    await page.goto(`${browser.origin}/app/connect`);
    expect(await page.getByRole('region', { name: 'curl' }).textContent()).to.include('/v1/render');
    expect(await page.getByRole('region', { name: 'Claude Code' }).textContent()).to.equal(
      'claude mcp add --transport http --scope user pressroom http://localhost:8080/mcp',
    );
    expect(await page.getByRole('link', { name: 'Documentation' }).getAttribute('href')).to.equal(
      '/docs',
    );
    await page.getByRole('link', { name: 'Create an API key' }).click();
    await page.getByRole('heading', { level: 1, name: 'API keys' }).waitFor();
    expectNoErrors();
    await browser.looks(owner, '/connect', 'connect', each =>
      each.getByRole('region', { name: 'curl' }).waitFor(),
    );
  });
});
