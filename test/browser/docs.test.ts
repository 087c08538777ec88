// @proves api-reference

import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { startBrowser, type TestBrowser } from '../support/browser.ts';
import { looks } from '../support/console/console-browser.ts';
import { type Installation, installation } from '../support/installation.ts';

describe('API reference page', () => {
  let pressroom: Installation;
  let browser: TestBrowser;
  before(async () => {
    [pressroom, browser] = await Promise.all([installation(), startBrowser()]);
  });
  after(async () => {
    await browser.close();
    await pressroom.stop();
  });

  const open = async (options = {}) => {
    const there = await browser.page(options);
    await there.page.goto(`${pressroom.url}/docs`);
    return there;
  };
  const status = (page: Page) => page.getByRole('status');
  const render = (page: Page) => page.getByRole('button', { name: 'Render' }).click();
  const bodyIs = (page: Page, body: string) => page.getByLabel('Body').fill(body);
  const keyIs = (page: Page, key: string) =>
    page.getByRole('textbox', { name: 'API key' }).fill(key);

  it('renders with the entered API key and offers the PDF', async () => {
    const { page, expectNoErrors } = await open();
    await keyIs(page, pressroom.key);
    await bodyIs(page, JSON.stringify({ html: '<h1>From the page</h1>' }));
    await render(page);
    await status(page).filter({ hasText: '200' }).waitFor();
    expect(await status(page).textContent()).to.match(/^200 · \d+ ms · 1 page · \d+ KiB$/);
    const download = page.waitForEvent('download');
    await page.getByRole('link', { name: 'Download' }).click();
    const file = await (await download).createReadStream();
    const chunks: Buffer[] = [];
    for await (const chunk of file) chunks.push(chunk as Buffer);
    expect(Buffer.concat(chunks).subarray(0, 5).toString()).to.equal('%PDF-');
    await page.getByRole('rowheader', { name: 'x-usage-count' }).waitFor();
    expectNoErrors();
  });

  it('shows the error message of the API', async () => {
    const { page } = await open();
    await keyIs(page, pressroom.key);
    await bodyIs(page, JSON.stringify({ html: 'x', lanscape: true }));
    await render(page);
    await status(page).filter({ hasText: '400' }).waitFor();
    expect(await status(page).textContent())
      .to.include('validation_error')
      .and.to.include('Did you mean `landscape`');
  });
  it('shows an error for an invalid key', async () => {
    const { page } = await open();
    await keyIs(page, 'pressroom_live_nonsense');
    await render(page);
    await status(page).filter({ hasText: '401' }).waitFor();
    expect(await status(page).textContent()).to.include('unauthorized');
  });

  it('validates key and JSON before it sends a request', async () => {
    const { page, expectNoErrors } = await open();
    const sent: string[] = [];
    page.on('request', request => request.method() === 'POST' && sent.push(request.url()));
    await render(page);
    expect(await status(page).textContent()).to.equal('Enter an API key first.');
    await keyIs(page, 'pressroom_live_“x”');
    await render(page);
    expect(await status(page).textContent()).to.include('letters, digits');
    await keyIs(page, pressroom.key);
    await bodyIs(page, '{"html": }');
    await render(page);
    expect(await status(page).textContent()).to.include('The body is not valid JSON');
    expect(await page.getByLabel('Body').getAttribute('aria-invalid')).to.equal('true');
    expect(sent).to.deep.equal([]);
    expectNoErrors();
  });

  it('cancels a render', async () => {
    const { page } = await open();
    await keyIs(page, pressroom.key);
    await bodyIs(page, JSON.stringify({ html: 'x', wait_delay: '30s' }));
    await render(page);
    await pressroom.worker.until({ busy: 1 });
    await page.getByRole('button', { name: 'Cancel' }).click();
    await status(page).filter({ hasText: 'Canceled.' }).waitFor();
    await pressroom.worker.until({ busy: 0 });
  });

  it('works by keyboard and loads examples', async () => {
    const { page } = await open();
    await page.getByLabel('Example').selectOption({ index: 1 });
    expect(JSON.parse(await page.getByLabel('Body').inputValue())).to.have.property('url');
    await page.getByLabel('Example').selectOption({ index: 0 });
    await page.getByRole('textbox', { name: 'API key' }).focus();
    await page.keyboard.type(pressroom.key);
    await page.getByLabel('Body').focus();
    await page.keyboard.press('Control+Enter');
    await status(page).filter({ hasText: '200' }).waitFor();
  });

  it('is accessible and sends no requests to other hosts', async () => {
    const { page, expectNoErrors } = await open();
    await looks(page, 'docs');
    expectNoErrors();
  });
});
