// The render log in a real browser: filters, pagination and the details of a render.
import { expect } from 'chai';
import type { Page } from 'playwright-core';
import type { RenderDocument } from '../../api/store/store.ts';
import { type ConsoleBrowser, consoleBrowser } from '../support/console/console-browser.ts';
import {
  type ConsoleFixture,
  consoleFixture,
  type TestUser,
} from '../support/console/console-fixture.ts';

describe('render log', function () {
  this.timeout(120_000);
  let fixture: ConsoleFixture;
  let browser: ConsoleBrowser;
  let developer: TestUser;
  let keyId: string;

  /** A day with a single render, at 10:30 UTC. */
  const LONE_DAY = new Date(Date.now() - 10 * 86_400_000).toISOString().slice(0, 10);
  const FAILED_ID = '019ab000-0000-7000-8000-00000000fa11';
  const document = (index: number, over: Partial<RenderDocument> = {}): RenderDocument => ({
    _id: `render-${String(index).padStart(4, '0')}`,
    account: fixture.accountId,
    at: new Date(Date.now() - index * 60_000 - 5_000),
    key: keyId,
    via: 'api',
    outcome: 'ok',
    sandbox: false,
    counted: true,
    source: 'html',
    options: {},
    timings: { admit: 2, queue: 1, load: 10, print: 20, post: 3, settle: 2 },
    totalMs: 38,
    pages: 2,
    bytes: 20_480,
    ...over,
  });
  const failed: Partial<RenderDocument> = {
    outcome: 'error',
    code: 'render_failed',
    reason: 'page_unreachable',
    message: 'The page could not be reached: `net::ERR_CONNECTION_REFUSED`.',
    counted: false,
    source: 'url',
    url: 'https://example.com/invoices/7',
    reference: 'order-7',
  };

  before(async () => {
    fixture = await consoleFixture({ workers: 0 });
    [browser, developer] = await Promise.all([
      consoleBrowser(fixture),
      fixture.createUser({ role: 'developer' }),
    ]);
    keyId = (await fixture.store.accounts.findOne({ _id: fixture.accountId }))!.keys[0]!.id;
    const {
      pages: _pages,
      bytes: _bytes,
      ...without
    } = document(3, {
      ...failed,
      _id: FAILED_ID,
      options: { format: 'A4', landscape: true, css: '212 characters' },
      timings: { admit: 2, queue: 40, load: 900 },
      totalMs: 942,
      console: [
        { level: 'log', text: 'hello' },
        { level: 'error', text: '<img src=x onerror="console.error(1)">' },
      ],
      resourceErrors: 102,
      resources: [
        { method: 'GET', url: 'https://a.test/<b>.css', type: 'stylesheet', status: 404, ms: 12 },
        { method: 'POST', url: 'data: (26 characters)', type: 'fetch', reason: 'blocked', ms: 0.4 },
      ],
    });
    const { key: _key, ...played } = document(5, {
      via: 'playground',
      user: developer.id,
      sandbox: true,
      counted: false,
    });
    const { key: _none, ...asked } = document(90, {
      via: 'mcp',
      app: '<b>Claude</b>',
      user: developer.id,
      outcome: 'client_closed',
      counted: false,
    });
    await fixture.store.console.renders.insertMany([
      without,
      played,
      asked,
      ...Array.from({ length: 60 }, (_, index) => document(index + 10)),
      document(100, { at: new Date(`${LONE_DAY}T10:30:05Z`) }),
    ]);
  });
  after(async () => {
    await browser.close();
    await fixture.stop();
  });

  const rows = (page: Page) => page.getByRole('table', { name: 'Renders' }).getByRole('rowheader');
  const count = async (page: Page, expected: number) => {
    await rows(page)
      .nth(expected - 1)
      .waitFor();
    expect(await rows(page).count()).to.equal(expected);
  };

  it('loads more pages and keeps the focus', async () => {
    const { page, expectNoErrors } = await browser.open(developer, '/renders');
    await count(page, 50);
    const more = page.getByRole('button', { name: 'Load more' });
    await more.focus();
    await page.keyboard.press('Enter');
    await count(page, 64);
    await page.getByText('All 64 rows loaded.').waitFor();
    expect(await page.evaluate('document.activeElement.textContent')).to.equal(
      'All 64 rows loaded.',
    );
    expectNoErrors();
  });

  it('filters by status, error and API key, and keeps the filters in the URL', async () => {
    const { page, expectNoErrors } = await browser.open(developer, '/renders');
    await count(page, 50);
    await page.getByLabel('Status').selectOption('Failed');
    await count(page, 1);
    await page.getByLabel('Error', { exact: true }).selectOption('ssrf_blocked');
    await page.getByText('No renders match these filters').waitFor();
    expect(new URL(page.url()).search).to.equal('?status=failed&code=ssrf_blocked');
    await page.goBack();
    await count(page, 1);
    await page.reload();
    await count(page, 1);
    await page.getByRole('button', { name: 'Clear filters' }).click();
    const reference = page.getByLabel('Reference', { exact: true });
    await reference.fill('order-7');
    await reference.press('Enter');
    await count(page, 1);
    expect(await rows(page).textContent()).to.include('order-7');
    await page.getByRole('button', { name: 'Clear filters' }).click();
    await count(page, 50);
    await page.getByLabel('API key', { exact: true }).selectOption('No API key (playground, MCP)');
    await count(page, 2);
    expect(await rows(page).first().textContent()).to.include('Sandbox');
    expectNoErrors();
  });

  it('filters by time in the time zone of the browser', async () => {
    const { page } = await browser.open(developer, '/renders', { timezoneId: 'Asia/Tokyo' });
    await count(page, 50);
    await page.getByLabel('From', { exact: true }).fill(`${LONE_DAY}T19:30`);
    await page.getByLabel('To', { exact: true }).fill(`${LONE_DAY}T19:31`);
    await count(page, 1);
    expect(new URL(page.url()).searchParams.get('from')).to.equal(`${LONE_DAY}T10:30:00.000Z`);
    await page.getByLabel('To', { exact: true }).fill(`${LONE_DAY}T19:29`);
    await page.getByText('No renders match these filters').waitFor();
  });

  it('shows the error, a hint, the phases, the failed requests and the console output', async () => {
    const { page, expectNoErrors } = await browser.open(developer, '/renders?status=failed');
    await rows(page).getByRole('link').click();
    await page.getByRole('heading', { level: 1, name: 'Render', exact: true }).waitFor();
    await page.getByText('render_failed: page_unreachable').waitFor();
    await page.getByText('net::ERR_CONNECTION_REFUSED').waitFor();
    await page.getByText('Check the host name and port').waitFor();
    const phases = await page
      .getByRole('table', { name: 'Phases' })
      .getByRole('row')
      .allTextContents();
    expect(phases.slice(1).map(text => text.replace(/[A-Z].*?(?=\d)/, ' '))).to.deep.equal([
      'admit 2 ms',
      'queue 40 ms',
      'load 900 ms',
    ]);
    await page.getByText('212 characters').waitFor();
    await page.getByText('<img src=x onerror="console.error(1)">').waitFor();
    expect(await page.getByRole('main').locator('img').count()).to.equal(0);
    const requests = page.getByRole('table', { name: 'Failed requests' }).getByRole('row');
    expect((await requests.allInnerTexts()).map(text => text.split(/\s*\t\s*/))).to.deep.equal([
      ['URL', 'Type', 'Method', 'Result', 'Duration'],
      ['https://a.test/<b>.css', 'stylesheet', 'GET', '404', '12 ms'],
      ['data: (26 characters)', 'fetch', 'POST', 'blocked', '0.4 ms'],
    ]);
    await page.getByText('And 100 more.').waitFor();
    await page.getByRole('link', { name: 'Open in playground' }).click();
    await page.getByRole('heading', { level: 1, name: 'Playground' }).waitFor();
    await page.locator('input[value="https://example.com/invoices/7"]').waitFor();
    expectNoErrors();
  });

  it('shows an error for an unknown render, with a link back to the log', async () => {
    const { page, expectNoErrors } = await browser.open(developer, '/renders/nothing');
    await page.getByText('Render not found.').waitFor();
    await page.getByRole('link', { name: 'All renders' }).click();
    await count(page, 50);
    expectNoErrors(/status of 404/);
  });

  it('shows the self-reported name of the MCP app that requested a render', async () => {
    const { page, expectNoErrors } = await browser.open(developer, '/renders?status=client_closed');
    await count(page, 1);
    await page.getByRole('cell', { name: 'MCP, <b>Claude</b>' }).waitFor();
    await rows(page).first().click();
    await page.getByText('MCP, <b>Claude</b>, A TestUser').waitFor();
    expectNoErrors();
  });

  it('is accessible', async () => {
    await browser.looks(developer, '/renders', 'renders', page => count(page, 50));
    await browser.looks(developer, `/renders/${FAILED_ID}`, 'render', page =>
      page.getByText('212 characters').waitFor(),
    );
  });
});
