// The home and usage screens in a real browser with a real worker: quick start of a new account,
// figures, errors and CSV.
import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { MIN_SAMPLES } from '../../api/history/usage-buckets.ts';
import {
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

describe('home and usage screens', function () {
  this.timeout(120_000);
  let fixture: ConsoleFixture;
  let browser: ConsoleBrowser;
  let owner: TestUser;
  before(async () => {
    fixture = await consoleFixture();
    [browser, owner] = await Promise.all([
      consoleBrowser(fixture),
      fixture.createUser({ role: 'owner' }),
    ]);
  });
  after(async () => {
    await browser.close();
    await fixture.stop();
  });

  /** The box of a figure: title, value and note. */
  const figure = (page: Page, title: string) =>
    page.getByText(title, { exact: true }).locator('..');
  const userOfNewAccount = async (role: 'owner' | 'viewer' = 'owner') =>
    fixture.createUser({ role, account: await fixture.account2() });

  it('guides a new account from an API key to the first render', async () => {
    const { page, expectNoErrors } = await browser.open(await userOfNewAccount(), '/');
    await page.getByRole('heading', { name: 'Render your first PDF' }).waitFor();
    await picture(page, 'quick-start-desktop-light');
    await page.getByRole('button', { name: 'Create API key' }).click();
    await page.getByLabel('Name').fill('first');
    await page.getByRole('button', { name: 'Create key' }).click();
    await page.getByRole('button', { name: 'I’ve saved my key' }).click();
    const call = await page.getByRole('region', { name: 'curl' }).textContent();
    // Runs the command as shown, except for the port of this installation.
    const folder = await mkdtemp(join(tmpdir(), 'first-call-'));
    try {
      await promisify(execFile)(
        'bash',
        ['-c', call!.replace('http://localhost:8080', fixture.url)],
        {
          cwd: folder,
        },
      );
      expect((await readFile(join(folder, 'render.pdf'))).subarray(0, 5).toString()).to.equal(
        '%PDF-',
      );
    } finally {
      await rm(folder, { recursive: true });
    }
    await page.getByRole('table', { name: 'Recent renders' }).waitFor();
    expect(await page.getByRole('heading', { name: 'Render your first PDF' }).count()).to.equal(0);
    await figure(page, 'Last 24 hours').getByText('100% succeeded, 0 failed').waitFor();
    expectNoErrors();
  });

  it('keeps showing a new key when the first render finishes meanwhile', async () => {
    const { page } = await browser.open(await userOfNewAccount(), '/');
    await page.getByRole('button', { name: 'Create API key' }).click();
    await page.getByLabel('Name').fill('first');
    await page.getByRole('button', { name: 'Create key' }).click();
    const dialog = page.getByRole('dialog');
    const key = await dialog.getByRole('region', { name: 'first', exact: true }).textContent();
    expect((await renderCall(fixture.api.port(), key!, { html: 'x' })).status).to.equal(200);
    await page.getByText('100% succeeded, 0 failed').waitFor();
    expect(await dialog.getByRole('region', { name: 'first', exact: true }).textContent()).to.equal(
      key,
    );
    await dialog.getByRole('button', { name: 'I’ve saved my key' }).click();
    await page.getByRole('table', { name: 'Recent renders' }).waitFor();
  });

  it('tells a viewer of a new account which roles can create an API key', async () => {
    const { page, expectNoErrors } = await browser.open(await userOfNewAccount('viewer'), '/');
    await page.getByText('ask an owner, admin or developer', { exact: false }).waitFor();
    expect(await page.getByRole('button', { name: 'Create API key' }).count()).to.equal(0);
    expectNoErrors();
  });

  it('is accessible before the first render', async () => {
    await browser.looks(await userOfNewAccount(), '/', 'home-new', page =>
      page.getByRole('heading', { name: 'Render your first PDF' }).waitFor(),
    );
  });

  describe('home and usage screens of an account with renders', () => {
    before(async () => {
      await fixture.pdf({ html: '<h1>one</h1>' });
      await fixture.pdf({ html: '<h1>two</h1>', sandbox: true });
      await fixture.renderError({ url: 'http://localhost:1/' });
    });

    it('shows running renders', async () => {
      const { page } = await browser.open(owner, '/');
      await figure(page, 'Running now').getByText('No renders queued').waitFor();
      const running = fixture.render({ html: 'x', wait_delay: '20s' });
      await fixture.worker.until({ busy: 1 });
      await page.getByRole('progressbar', { name: '1 of 8 concurrent renders running' }).waitFor();
      const left = running.catch((error: Error) => error);
      running.disconnect();
      await left;
      await page
        .getByRole('progressbar', { name: '0 of 8 concurrent renders running' })
        .waitFor({ state: 'attached' });
    });

    it('shows figures but no renders to a member with the Billing role', async () => {
      const { page, expectNoErrors } = await browser.open(
        await fixture.createUser({ role: 'billing' }),
        '/',
      );
      await page.getByRole('heading', { name: 'Errors in the last 24 hours' }).waitFor();
      expect(await page.getByRole('table', { name: 'Recent renders' }).count()).to.equal(0);
      expect(await page.getByRole('main').getByRole('link').count()).to.equal(0);
      const { recent } = await (await fixture.createUser({ role: 'billing' })).good<{
        recent: unknown[];
      }>('GET', `/accounts/${fixture.accountId}/overview`);
      expect(recent).to.deep.equal([]);
      expectNoErrors();
    });

    it('links an error to the renders that failed with it', async () => {
      const { page, expectNoErrors } = await browser.open(owner, '/');
      await page
        .getByRole('table', { name: 'Errors in the last 24 hours' })
        .getByRole('link', { name: 'ssrf_blocked' })
        .click();
      await page.getByRole('heading', { level: 1, name: 'Renders' }).waitFor();
      expect(await page.getByLabel('Status').inputValue()).to.equal('');
      expect(await page.getByLabel('Error', { exact: true }).inputValue()).to.equal('ssrf_blocked');
      await page.getByRole('table', { name: 'Renders' }).getByRole('rowheader').waitFor();
      expectNoErrors();
    });

    it('shows usage as a chart, as a table and as CSV', async () => {
      const { page, expectNoErrors } = await browser.open(owner, '/usage');
      await page
        .getByRole('img', { name: /^Renders per day/ })
        .locator('canvas')
        .waitFor();
      const today = page.getByRole('table', { name: 'Usage by day' }).getByRole('row').nth(1);
      expect((await today.getByRole('cell').allTextContents()).slice(0, 4)).to.deep.equal([
        '1',
        '1',
        '0',
        '1',
      ]);
      await page
        .getByText(
          `p50 and p95 are shown for days with at least ${MIN_SAMPLES} successful renders.`,
        )
        .waitFor();
      const download = page.waitForEvent('download');
      await page.getByRole('link', { name: 'Download CSV' }).click();
      const lines = (await readFile(await (await download).path(), 'utf8')).trim().split(/\r?\n/);
      expect(lines).to.have.length(2);
      expect(lines[1]).to.include(',test,1,1,0,');
      expectNoErrors();
    });

    it('changes the date range by button, by date fields and by URL', async () => {
      const { page } = await browser.open(owner, '/usage?days=7');
      await page.getByRole('table', { name: 'Usage by day' }).waitFor();
      expect(await page.getByRole('radio', { name: '7 days' }).isChecked()).to.equal(true);
      await page.getByText('90 days').click();
      expect(new URL(page.url()).search).to.equal('?days=90');
      await page.getByText('Custom').click();
      await page.getByLabel('To', { exact: true }).fill('2026-01-31');
      await page.getByLabel('From', { exact: true }).fill('2026-01-01');
      await page.getByText('No renders in this period').waitFor();
      expect(new URL(page.url()).search).to.equal('?from=2026-01-01&to=2026-01-31');
    });

    it('is accessible', async () => {
      // Enough renders for the chart of durations.
      await fixture.store.console.usageDays.insertOne({
        _id: {
          account: fixture.accountId,
          day: new Date(Date.now() - 86_400_000).toISOString().slice(0, 10),
          key: '',
        },
        ...{ ok: 30, sandbox: 0, failed: 0, rejected: 0, pages: 30, bytes: 30_000, flushes: [] },
        ...{ durations: { 12: 20, 16: 10 }, lastAt: new Date() },
      });
      await browser.looks(owner, '/', 'home', page =>
        page.getByRole('table', { name: 'Recent renders' }).waitFor(),
      );
      await browser.looks(owner, '/usage', 'usage', page =>
        page
          .getByRole('img', { name: /^Render duration per day/ })
          .locator('canvas')
          .waitFor(),
      );
    });
  });
});
