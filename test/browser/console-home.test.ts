// The way of a new account from its first screen to its first render, and the figures of home and
// usage afterwards, in a real browser on a real worker.
import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect } from 'chai';
import type { Page } from 'playwright-core';
import {
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

describe('home and usage in the dashboard', function () {
  this.timeout(120_000);
  let fixture: ConsoleFixture;
  let browser: ConsoleBrowser;
  let owner: Person;
  before(async () => {
    fixture = await consoleFixture();
    [browser, owner] = await Promise.all([
      consoleBrowser(fixture),
      fixture.person({ role: 'owner' }),
    ]);
  });
  after(async () => {
    await browser.close();
    await fixture.stop();
  });

  /** The title, the figure and the words below it. */
  const figure = (page: Page, title: string) =>
    page.getByText(title, { exact: true }).locator('..');
  const newcomer = async (role: 'owner' | 'viewer' = 'owner') =>
    fixture.person({ role, account: await fixture.account2() });

  it('leads a new account to its first PDF: a key, the call with the key in it, and the render', async () => {
    const { page, expectNoErrors } = await browser.open(await newcomer(), '/');
    await page.getByRole('heading', { name: 'Make your first PDF' }).waitFor();
    await picture(page, 'quick-start-desktop-light');
    await page.getByRole('button', { name: 'Create a key' }).click();
    await page.getByLabel('Name').fill('first');
    await page.getByRole('button', { name: 'Create the key' }).click();
    await page.getByRole('button', { name: 'I saved the key' }).click();
    const call = await page.getByRole('region', { name: 'curl' }).textContent();
    // As a person would paste it, to where this installation listens.
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
    expect(await page.getByRole('heading', { name: 'Make your first PDF' }).count()).to.equal(0);
    await figure(page, 'Last 24 hours').getByText('1 OK, 0 failed').waitFor();
    expectNoErrors();
  });

  it('does not take the new key away when the first render comes while it is shown', async () => {
    const { page } = await browser.open(await newcomer(), '/');
    await page.getByRole('button', { name: 'Create a key' }).click();
    await page.getByLabel('Name').fill('first');
    await page.getByRole('button', { name: 'Create the key' }).click();
    const dialog = page.getByRole('dialog');
    const key = await dialog.getByRole('region', { name: 'first', exact: true }).textContent();
    expect((await renderCall(fixture.api.port(), key!, { html: 'x' })).status).to.equal(200);
    await page.getByText('1 OK, 0 failed').waitFor();
    expect(await dialog.getByRole('region', { name: 'first', exact: true }).textContent()).to.equal(
      key,
    );
    await dialog.getByRole('button', { name: 'I saved the key' }).click();
    await page.getByRole('table', { name: 'Recent renders' }).waitFor();
  });

  it('tells a viewer of a new account whom to ask for a key', async () => {
    const { page, expectNoErrors } = await browser.open(await newcomer('viewer'), '/');
    await page.getByText('ask an owner, admin or developer', { exact: false }).waitFor();
    expect(await page.getByRole('button', { name: 'Create a key' }).count()).to.equal(0);
    expectNoErrors();
  });

  it('has no barrier before the first render, in either colours and on either size', async () => {
    await browser.looks(await newcomer(), '/', 'home-new', page =>
      page.getByRole('heading', { name: 'Make your first PDF' }).waitFor(),
    );
  });

  describe('of an account that renders', () => {
    before(async () => {
      await fixture.pdf({ html: '<h1>one</h1>' });
      await fixture.pdf({ html: '<h1>two</h1>', sandbox: true });
      await fixture.renderError({ url: 'http://localhost:1/' });
    });

    it('shows what runs while it runs', async () => {
      const { page } = await browser.open(owner, '/');
      await figure(page, 'Running now').getByText('None waits for a worker').waitFor();
      const running = fixture.render({ html: 'x', wait_delay: '20s' });
      await fixture.worker.until({ busy: 1 });
      await page.getByRole('progressbar', { name: '1 of 8 places are in use' }).waitFor();
      const left = running.catch((error: Error) => error);
      running.disconnect();
      await left;
      await page
        .getByRole('progressbar', { name: '0 of 8 places are in use' })
        .waitFor({ state: 'attached' });
    });

    it('shows who only pays the figures, and no renders', async () => {
      const { page, expectNoErrors } = await browser.open(
        await fixture.person({ role: 'billing' }),
        '/',
      );
      await page.getByRole('heading', { name: 'Errors of the last 24 hours' }).waitFor();
      expect(await page.getByRole('table', { name: 'Recent renders' }).count()).to.equal(0);
      expect(await page.getByRole('main').getByRole('link').count()).to.equal(0);
      const { recent } = await (await fixture.person({ role: 'billing' })).good<{
        recent: unknown[];
      }>('GET', `/accounts/${fixture.accountId}/overview`);
      expect(recent).to.deep.equal([]);
      expectNoErrors();
    });

    it('leads from an error of the day to the renders that had it', async () => {
      const { page, expectNoErrors } = await browser.open(owner, '/');
      await page
        .getByRole('table', { name: 'Errors of the last 24 hours' })
        .getByRole('link', { name: 'ssrf_blocked' })
        .click();
      await page.getByRole('heading', { level: 1, name: 'Renders' }).waitFor();
      expect(await page.getByLabel('Status').inputValue()).to.equal('error');
      expect(await page.getByLabel('Error', { exact: true }).inputValue()).to.equal('ssrf_blocked');
      await page.getByRole('table', { name: 'Renders' }).getByRole('rowheader').waitFor();
      expectNoErrors();
    });

    it('draws the usage, tells it as a table, and gives it as CSV', async () => {
      const { page, expectNoErrors } = await browser.open(owner, '/usage');
      await page
        .getByRole('img', { name: /^Renders per day/ })
        .locator('canvas')
        .waitFor();
      const today = page.getByRole('table', { name: 'Usage by day' }).getByRole('row').nth(1);
      expect((await today.getByRole('cell').allTextContents()).slice(0, 3)).to.deep.equal([
        '1',
        '1',
        '1',
      ]);
      const download = page.waitForEvent('download');
      await page.getByRole('link', { name: 'Download as CSV' }).click();
      const lines = (await readFile(await (await download).path(), 'utf8')).trim().split(/\r?\n/);
      expect(lines).to.have.length(2);
      expect(lines[1]).to.include(',test,1,1,1,');
      expectNoErrors();
    });

    it('takes another range from the buttons, the fields and the address', async () => {
      const { page } = await browser.open(owner, '/usage?days=7');
      await page.getByRole('table', { name: 'Usage by day' }).waitFor();
      expect(await page.getByRole('radio', { name: '7 days' }).isChecked()).to.equal(true);
      await page.getByText('90 days').click();
      expect(new URL(page.url()).search).to.equal('?days=90');
      await page.getByText('Custom').click();
      await page.getByLabel('To', { exact: true }).fill('2026-01-31');
      await page.getByLabel('From', { exact: true }).fill('2026-01-01');
      await page.getByText('Nothing was rendered in these days').waitFor();
      expect(new URL(page.url()).search).to.equal('?from=2026-01-01&to=2026-01-31');
    });

    it('has no barrier, in either colours and on either size', async () => {
      await browser.looks(owner, '/', 'home', page =>
        page.getByRole('table', { name: 'Recent renders' }).waitFor(),
      );
      await browser.looks(owner, '/usage', 'usage', page =>
        page
          .getByRole('img', { name: /^Time|^Median/ })
          .locator('canvas')
          .waitFor(),
      );
    });
  });
});
