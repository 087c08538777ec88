// The asynchronous renders of an account in a real browser, with a real worker: list, filter,
// detail, cancel, download and the empty state.
import { readFile } from 'node:fs/promises';
import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { createBatchId } from '../../api/jobs/job-id.ts';
import { type AsyncClient, asyncClient, batchClient } from '../support/async-fixture.ts';
import { type ConsoleBrowser, consoleBrowser, SIZES } from '../support/console/console-browser.ts';
import {
  CONSOLE_SECRET,
  type ConsoleFixture,
  consoleFixture,
} from '../support/console/console-fixture.ts';
import { eventually } from '../support/eventually.ts';
import { pdfText } from '../support/pdf.ts';
import { storedJob } from '../support/stored-job.ts';

/** Runs until it is canceled. */
const LONG = { html: '<h1>long</h1>', wait_for_expression: 'false', reference: 'long report' };

describe('asynchronous renders in the dashboard', function () {
  this.timeout(120_000);
  let fixture: ConsoleFixture;
  let browser: ConsoleBrowser;
  let client: AsyncClient;

  before(async () => {
    fixture = await consoleFixture();
    browser = await consoleBrowser(fixture);
    client = asyncClient(fixture.api.port(), fixture.key);
  });
  after(async () => {
    await browser.close();
    await fixture.stop();
  });

  const rows = (page: Page) =>
    page.getByRole('table', { name: 'Asynchronous renders' }).getByRole('rowheader');
  const heading = (page: Page, name: string) =>
    page.getByRole('heading', { level: 1, name, exact: true }).waitFor();
  const badge = (page: Page, text: string) =>
    page.getByRole('banner').or(page.locator('header')).getByText(text, { exact: true }).waitFor();

  const nowMs = Date.now();
  /** Plus so many seconds. */
  const minutesAgo = (minutes: number, seconds = 0) =>
    new Date(nowMs - minutes * 60_000 + seconds * 1_000);

  /** An account with 62 ended renders. */
  async function filled() {
    const account = await fixture.account2();
    const put = (minutes: number, over: Parameters<typeof storedJob>[3] = {}) => {
      const createdAt = minutesAgo(minutes);
      const at = (seconds: number) => minutesAgo(minutes, seconds);
      const ended = over.status !== 'queued' && { startedAt: at(1), endedAt: at(1.4) };
      return storedJob(fixture.store, CONSOLE_SECRET, account, { createdAt, ...ended, ...over });
    };
    const pdf = Buffer.from('the bytes of a PDF');
    const failed = await put(3, {
      status: 'failed',
      startedAt: minutesAgo(3, 1),
      endedAt: minutesAgo(3, 42.2),
      attemptLog: [
        { startedAt: minutesAgo(3, 1), endedAt: minutesAgo(3, 16.3) },
        {
          startedAt: minutesAgo(3, 17),
          endedAt: minutesAgo(3, 35),
          error: { code: 'render_failed', reason: 'worker_lost' },
        },
        { startedAt: minutesAgo(3, 40) },
      ],
      reference: 'invoice-3',
      error: {
        code: 'render_failed',
        reason: 'page_unreachable',
        message: 'The page could not be reached: `net::ERR_CONNECTION_REFUSED`.',
      },
    });
    const succeeded = await put(1, { pdf, reference: 'invoice-1', pages: 12 });
    await put(2, { pdf, sandbox: true });
    const attemptLog = [{ startedAt: minutesAgo(4, 1) }];
    await put(4, { status: 'canceled', attemptLog, reference: 'invoice-4' });
    await put(5, { status: 'expired', reference: 'a reference '.repeat(10).trim() });
    for (let index = 0; index < 57; index++)
      await put(10 + index, { pdf, reference: `letter-${index}` });
    const developer = await fixture.createUser({ role: 'developer', account });
    return { account, developer, failedId: failed._id, succeededId: succeeded._id };
  }

  it('shows a request to submit one while there are none, and then the render', async () => {
    const account = await fixture.account2();
    const developer = await fixture.createUser({ role: 'developer', account });
    const { page, expectNoErrors } = await browser.open(developer, '/');
    await page.getByRole('link', { name: 'Asynchronous renders' }).click();
    await heading(page, 'Asynchronous renders');
    await page.getByText('No asynchronous renders yet').waitFor();
    await page.getByText('curl -sS --fail-with-body http://localhost:8080/v1/renders').waitFor();
    await storedJob(fixture.store, CONSOLE_SECRET, account, { reference: 'the first' });
    await rows(page).getByText('the first').waitFor();
    expectNoErrors();
    await browser.looks(
      await fixture.createUser({ role: 'developer', account: await fixture.account2() }),
      '/async-renders',
      'async-renders-empty',
      shown => shown.getByText('No asynchronous renders yet').waitFor(),
    );
  });

  it('lists them, loads more, and filters by status in the URL', async () => {
    const { developer, failedId, succeededId } = await filled();
    const { page, expectNoErrors } = await browser.open(developer, '/async-renders');
    await rows(page).nth(49).waitFor();
    await page.getByRole('button', { name: 'Load more' }).click();
    await rows(page).nth(61).waitFor();
    await page.getByText('All 62 rows loaded.').waitFor();
    await page.getByLabel('Status').selectOption('Failed');
    await rows(page).getByText('page_unreachable').waitFor();
    expect(await rows(page).count()).to.equal(1);
    expect(new URL(page.url()).search).to.equal('?status=failed');
    await page.getByLabel('Status').selectOption('Running');
    await page.getByText('No renders match these filters').waitFor();
    await page.goBack();
    await rows(page).getByRole('link').click();
    await heading(page, 'Asynchronous render');
    expect(new URL(page.url()).pathname).to.equal(`/app/async-renders/${failedId}`);
    await page.getByText('render_failed: page_unreachable').waitFor();
    await page.getByText('net::ERR_CONNECTION_REFUSED').waitFor();
    await page.getByText('Check the host name and port').waitFor();
    const attempts = page.getByRole('table', { name: 'Attempts' }).getByRole('row');
    const texts = (await attempts.allInnerTexts()).map(text => text.replace(/\s+/g, ' ').trim());
    expect(texts).to.have.length(4);
    expect(texts[1]).to.match(/^1 Interrupted .*15\.3 s –$/);
    expect(texts[2]).to.match(/^2 Failed .*18 s worker_lost$/);
    expect(texts[3]).to.match(/^3 Failed .*2\.2 s page_unreachable$/);
    expect(await page.getByRole('link', { name: 'Download PDF' }).count()).to.equal(0);
    expectNoErrors();
    await browser.looks(developer, '/async-renders', 'async-renders', shown =>
      rows(shown).nth(49).waitFor(),
    );
    await browser.looks(developer, `/async-renders/${failedId}`, 'async-render-failed', shown =>
      shown.getByText('net::ERR_CONNECTION_REFUSED').waitFor(),
    );
    await browser.looks(developer, `/async-renders/${succeededId}`, 'async-render', shown =>
      shown.getByRole('link', { name: 'Download PDF' }).waitFor(),
    );
  });

  for (const [size, viewport] of Object.entries(SIZES))
    it(`downloads the PDF of a render that ends while it is shown, on a ${size}`, async () => {
      const developer = await fixture.createUser({ role: 'developer' });
      const { id } = await client.submit({
        html: '<h1>Hello, world</h1>',
        reference: 'greeting',
        filename: 'greeting.pdf',
        wait_delay: '2s',
      });
      const { page, expectNoErrors } = await browser.open(developer, `/async-renders/${id}`, {
        viewport,
      });
      await badge(page, 'Succeeded');
      const downloading = page.waitForEvent('download');
      await page.getByRole('link', { name: 'Download PDF' }).click();
      const download = await downloading;
      expect(download.suggestedFilename()).to.equal('greeting.pdf');
      expect(await pdfText(await readFile(await download.path()))).to.include('Hello, world');
      await page.getByRole('link', { name: 'render log' }).click();
      await heading(page, 'Renders');
      expect(new URL(page.url()).search).to.equal('?reference=greeting');
      expectNoErrors();
    });

  it('cancels a running render after a confirmation, and records who did', async () => {
    const [developer, admin] = await Promise.all([
      fixture.createUser({ role: 'developer' }),
      fixture.createUser({ role: 'admin' }),
    ]);
    const { id } = await client.submit(LONG);
    const { page, expectNoErrors } = await browser.open(developer, `/async-renders/${id}`);
    await badge(page, 'Running');
    const attempt = page.getByRole('table', { name: 'Attempts' }).getByRole('rowheader');
    await attempt.getByText('Running').waitFor();
    await page.getByRole('button', { name: 'Cancel render' }).click();
    const dialog = page.getByRole('dialog', { name: 'Cancel this render?' });
    await dialog.getByRole('button', { name: 'Keep render' }).click();
    await dialog.waitFor({ state: 'hidden' });
    expect((await client.read(id)).status).to.equal('running');
    await page.getByRole('button', { name: 'Cancel render' }).click();
    await dialog.getByRole('button', { name: 'Cancel render' }).click();
    await badge(page, 'Canceled');
    await attempt.getByText('Canceled').waitFor();
    expect(await attempt.count()).to.equal(1);
    expect(await page.getByRole('button', { name: 'Cancel render' }).count()).to.equal(0);
    expect((await client.read(id)).status).to.equal('canceled');
    expectNoErrors();
    const audit = await browser.open(admin, '/audit');
    const entry = audit.page.getByRole('row', { name: /Canceled the asynchronous render/ });
    expect(await entry.innerText())
      .to.include('long report')
      .and.include(id)
      .and.include(developer.email);
    await fixture.worker.until({ busy: 0 });
  });

  it('records in the audit log what API keys canceled and what expired', async () => {
    const account = await fixture.account2();
    const admin = await fixture.createUser({ role: 'admin', account });
    const { name } = (await fixture.store.accounts.findOne({ _id: account }))!;
    const { text, key } = await fixture.accounts.createKey(name, { name: 'invoices' });
    const canceling = asyncClient(fixture.api.port(), text);
    const put = (over?: Parameters<typeof storedJob>[3]) =>
      storedJob(fixture.store, CONSOLE_SECRET, account, over);
    const later = { availableAt: new Date(Date.now() + 3600e3) };
    for (let index = 0; index < 3; index++)
      await canceling.call('DELETE', `/${(await put(later))._id}`);
    const lines = [1, 2].map(() => JSON.stringify(LONG)).join('\n');
    const batches = batchClient(fixture.api.port(), text);
    const batch = await batches.submit(lines);
    await batches.read(`/v1/batches/${batch.id}`, 'DELETE');
    await put({ pdf: Buffer.from('a PDF'), expiresAt: new Date(Date.now() - 1_000) });
    const { audit } = fixture.store.console;
    await eventually(async () =>
      expect(await audit.countDocuments({ account, action: 'renders.purged' })).to.equal(1),
    );
    const { page, expectNoErrors } = await browser.open(admin, '/audit');
    const entry = async (label: string) => {
      const row = page.getByRole('row', { name: label });
      return (await row.allInnerTexts()).join();
    };
    await page.getByRole('row', { name: 'Deleted requests and PDFs of expired renders' }).waitFor();
    expect(await entry('Deleted requests and PDFs of expired renders'))
      .to.include('renders: 1')
      .and.include('Pressroom');
    expect(await entry('Canceled asynchronous renders'))
      .to.include(`key: ${key.id}`)
      .and.include('API key invoices')
      .and.include('127.0.0.1');
    expect(await entry('Canceled the rest of the batch'))
      .to.include(batch.id)
      .and.include('canceled: 2');
    await page.getByLabel('Filter loaded entries').fill('API key invoices');
    expect(await entry('Deleted requests')).to.equal('');
    expectNoErrors();
    await browser.looks(admin, '/audit', 'audit-async', shown =>
      shown.getByRole('row', { name: 'Canceled asynchronous renders' }).first().waitFor(),
    );
    await fixture.worker.until({ busy: 0 });
  });

  it('shows a render that ended meanwhile, when it cannot be canceled any more', async () => {
    const developer = await fixture.createUser({ role: 'developer' });
    const { id } = await client.submit(LONG);
    const { page, expectNoErrors } = await browser.open(developer, `/async-renders/${id}`);
    await page.getByRole('button', { name: 'Cancel render' }).click();
    await fixture.store.asynchronous.jobs.updateOne({ _id: id }, { $set: { status: 'expired' } });
    const dialog = page.getByRole('dialog', { name: 'Cancel this render?' });
    await dialog.getByRole('button', { name: 'Cancel render' }).click();
    await dialog.getByText('The render has already ended: it is expired.').waitFor();
    expectNoErrors(/status of 409/);
  });

  it('shows the progress of a batch, and cancels the rest of it', async () => {
    const [developer, admin] = await Promise.all([
      fixture.createUser({ role: 'developer' }),
      fixture.createUser({ role: 'admin' }),
    ]);
    const batches = batchClient(fixture.api.port(), fixture.key);
    const lines = [{ html: '<h1>short</h1>' }, LONG, LONG].map(line => JSON.stringify(line));
    const { id } = await batches.submit(lines.join('\n'));
    const { page, expectNoErrors } = await browser.open(developer, '/async-renders');
    await page
      .getByRole('link', { name: `…${id.slice(-6)}`, exact: true })
      .first()
      .click();
    const panel = page.getByRole('region', { name: 'Batch' });
    await panel.getByText('1 of 3 renders ended').waitFor();
    await panel.getByText('2 running').waitFor();
    await rows(page).nth(2).waitFor();
    expect(await rows(page).count()).to.equal(3);
    expect(new URL(page.url()).search).to.equal(`?batch=${id}`);
    await panel.getByRole('button', { name: 'Cancel the rest' }).click();
    const dialog = page.getByRole('dialog', { name: 'Cancel the rest of this batch?' });
    await dialog.getByRole('button', { name: 'Cancel the rest' }).click();
    await panel.getByText('3 renders have ended').waitFor();
    await panel.getByText('2 canceled').waitFor();
    expect(await panel.getByRole('button', { name: 'Cancel the rest' }).count()).to.equal(0);
    await page.getByLabel('Status').selectOption('Succeeded');
    await rows(page).nth(1).waitFor({ state: 'detached' });
    await rows(page).getByRole('link').click();
    await page.getByRole('link', { name: id }).click();
    await panel.getByText('3 renders have ended').waitFor();
    const batchId = page.getByLabel('Batch ID');
    await batchId.fill('bat_unknown');
    await batchId.press('Enter');
    await page.getByText('This account has no batch with this ID.').waitFor();
    expectNoErrors(/status of 404/);
    const audit = await browser.open(admin, '/audit');
    const entry = audit.page.getByRole('row', { name: /Canceled the rest of the batch/ });
    expect(await entry.innerText())
      .to.include(id)
      .and.include('canceled: 2');
    await fixture.worker.until({ busy: 0 });
  });

  it('looks right with a batch of all statuses', async () => {
    const account = await fixture.account2();
    const developer = await fixture.createUser({ role: 'developer', account });
    const id = createBatchId();
    let total = 0;
    for (const [status, count] of [
      ['succeeded', 3],
      ['failed', 1],
      ['canceled', 1],
      ['expired', 1],
      ['queued', 2],
    ] as const)
      for (let each = 0; each < count; each++)
        await storedJob(fixture.store, CONSOLE_SECRET, account, {
          status,
          batch: { id, index: total++ },
          // Not before the test ends.
          availableAt: new Date(Date.now() + 3600e3),
        });
    const at = new Date();
    const keptUntil = new Date(Date.now() + 3600e3);
    await fixture.store.asynchronous.batches.insertOne({
      _id: id,
      account,
      createdAt: at,
      total,
      keptUntil,
    });
    await browser.looks(developer, `/async-renders?batch=${id}`, 'async-renders-batch', page =>
      page.getByText('6 of 8 renders ended').waitFor(),
    );
    await browser.looks(developer, '/async-renders', 'async-renders-with-batch', page =>
      page.getByRole('columnheader', { name: 'Batch' }).waitFor(),
    );
  });

  it('lets a viewer look, without Cancel and Download', async () => {
    const { account } = await filled();
    const viewer = await fixture.createUser({ role: 'viewer', account });
    const { page, expectNoErrors } = await browser.open(viewer, '/async-renders?status=succeeded');
    await rows(page).getByText('invoice-1').click();
    await badge(page, 'Succeeded');
    await page.getByRole('button', { name: 'Copy render ID' }).waitFor();
    expect(await page.getByRole('link', { name: 'Download PDF' }).count()).to.equal(0);
    expectNoErrors();
  });

  it('shows an error for an unknown render, with a link back to the list', async () => {
    const developer = await fixture.createUser({ role: 'developer' });
    const { page, expectNoErrors } = await browser.open(developer, '/async-renders/nothing');
    await page.getByText('This account has no asynchronous render with this ID.').waitFor();
    await page.getByRole('link', { name: 'All asynchronous renders' }).click();
    await heading(page, 'Asynchronous renders');
    expectNoErrors(/status of 404/);
  });
});

describe('the dashboard without asynchronous renders', function () {
  this.timeout(60_000);
  let fixture: ConsoleFixture;
  let browser: ConsoleBrowser;
  before(async () => {
    fixture = await consoleFixture({ workers: 0, env: { PRESSROOM_ASYNC: 'off' } });
    browser = await consoleBrowser(fixture);
  });
  after(async () => {
    await browser.close();
    await fixture.stop();
  });

  it('has neither the page nor a link to it', async () => {
    const developer = await fixture.createUser({ role: 'developer' });
    const { page, expectNoErrors } = await browser.open(developer, '/async-renders');
    await page.getByText('This page does not exist').waitFor();
    await page.getByRole('link', { name: 'Renders', exact: true }).waitFor();
    expect(await page.getByRole('link', { name: 'Asynchronous renders' }).count()).to.equal(0);
    expectNoErrors();
  });
});
