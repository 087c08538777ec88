import { expect } from 'chai';
import { type BillingRig, billingRig, type Customer } from '../support/console/billing-rig.ts';
import { type ConsoleBrowser, consoleBrowser } from '../support/console/console-browser.ts';
import { type ConsoleRig, consoleRig } from '../support/console/console-rig.ts';

describe('plan and billing in a browser', function () {
  this.timeout(120_000);
  let rig: BillingRig;
  let browser: ConsoleBrowser;
  let customer: Customer;
  before(async () => {
    rig = await billingRig();
    browser = await consoleBrowser(rig);
  });
  after(async () => {
    await browser.close();
    await rig.stop();
  });
  beforeEach(async () => {
    customer = await rig.customer();
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
    await customer.buys('starter');
    await rig.store.accounts.updateOne(
      { _id: customer.id },
      { $set: { state: 'past_due', pastDueSince: new Date() } },
    );
    const { page } = await browser.open(customer.owner, '/billing');
    const main = page.getByRole('main');
    await main.getByText(/Renders still work until \w+ \d+, \d{4}/).waitFor();
    await main.getByRole('button', { name: 'Invoices and payment' }).waitFor();
  });

  it('says when a subscription that was canceled ends', async () => {
    await customer.buys('starter');
    await rig.store.accounts.updateOne(
      { _id: customer.id },
      { $set: { 'billing.cancelAtPeriodEnd': true } },
    );
    const { page } = await browser.open(customer.owner, '/billing');
    await page.getByText(/^The subscription ends on/).waitFor();
  });

  it('lets an admin look and not pay', async () => {
    const admin = await rig.person({ role: 'admin', account: customer.id });
    const { page, quiet } = await browser.open(admin, '/billing');
    await page.getByText('You can look, not pay').waitFor();
    expect(await page.getByRole('button', { name: /^Choose/ }).count()).to.equal(0);
    quiet();
  });

  it('has no barrier', async () => {
    await customer.buys('starter');
    await rig.store.accounts.updateOne({ _id: customer.id }, { $set: { state: 'unpaid' } });
    await browser.looks(customer.owner, '/billing', 'billing', page =>
      page.getByRole('button', { name: 'Choose Growth' }).waitFor(),
    );
  });
});

describe('plan and billing without payments, and what connects, in a browser', function () {
  this.timeout(120_000);
  let rig: ConsoleRig;
  let browser: ConsoleBrowser;
  const begin = async (mode: string) => {
    rig = await consoleRig({ workers: 0, env: { PRESSROOM_BILLING: mode } });
    browser = await consoleBrowser(rig);
    return rig.person({ role: 'owner' });
  };
  afterEach(async () => {
    await browser.close();
    await rig.stop();
  });

  it('says that there is nothing to pay', async () => {
    const owner = await begin('none');
    const { page, quiet } = await browser.open(owner, '/billing');
    await page.getByText('there is nothing to pay').waitFor();
    expect(await page.getByRole('button', { name: /^Choose/ }).count()).to.equal(0);
    quiet();
  });

  it('says who changes the plan, and connects by curl', async () => {
    const owner = await begin('manual');
    const { page, quiet } = await browser.open(owner, '/billing');
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
    quiet();
    await browser.looks(owner, '/connect', 'connect', each =>
      each.getByRole('region', { name: 'curl' }).waitFor(),
    );
  });
});
