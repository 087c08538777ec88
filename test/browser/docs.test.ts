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

  const open = async (options = {}, path = '/docs') => {
    const there = await browser.page(options);
    await there.page.goto(`${pressroom.url}${path}`);
    return there;
  };
  const status = (page: Page) => page.getByRole('main').getByRole('status');
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
    expect((await download).suggestedFilename()).to.equal('render.pdf');
    const file = await (await download).createReadStream();
    const chunks: Buffer[] = [];
    for await (const chunk of file) chunks.push(chunk as Buffer);
    expect(Buffer.concat(chunks).subarray(0, 5).toString()).to.equal('%PDF-');
    await page.getByRole('rowheader', { name: 'x-usage-count' }).waitFor();
    expectNoErrors();
  });

  it('saves the PDF under the file name of the response', async () => {
    const { page, expectNoErrors } = await open();
    await keyIs(page, pressroom.key);
    for (const filename of ['Invoice 42.pdf', 'Rechnung Ömer.pdf']) {
      await bodyIs(page, JSON.stringify({ html: 'x', filename }));
      await render(page);
      await status(page).filter({ hasText: '200' }).waitFor();
      const download = page.waitForEvent('download');
      await page.getByRole('link', { name: 'Download' }).click();
      expect((await download).suggestedFilename()).to.equal(filename);
    }
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

  it('shows examples in the language that was chosen last', async () => {
    const { page, expectNoErrors } = await open();
    const tabs = page.getByRole('tablist', { name: 'Language' });
    await tabs.first().getByRole('tab', { name: 'Python' }).click();
    const panels = page.getByRole('tabpanel');
    expect(await panels.count()).to.equal(2);
    for (const panel of await panels.all())
      expect(await panel.textContent())
        .to.include('import requests')
        .and.include(pressroom.url);
    await page.keyboard.press('ArrowRight');
    expect(await panels.first().textContent()).to.include('package main');
    await page.reload();
    expect(await panels.first().textContent()).to.include('package main');
    expectNoErrors();
  });

  it('copies an example', async () => {
    const { page } = await open({ permissions: ['clipboard-read', 'clipboard-write'] });
    const panel = page.getByRole('tabpanel').first();
    await panel.getByRole('button', { name: 'Copy' }).click();
    await panel.getByRole('button', { name: 'Copied' }).waitFor();
    expect(await page.evaluate('navigator.clipboard.readText()'))
      .to.match(/^curl .*\/v1\/render/)
      .and.to.equal(await panel.locator('code').textContent());
  });

  it('finds fields, headers and guides by search, with the keyboard alone', async () => {
    const { page, expectNoErrors } = await open();
    await page.keyboard.press('/');
    await page.keyboard.type('network idle');
    const results = page.locator('#search a');
    await results.filter({ hasText: 'wait_for_network_idle' }).first().waitFor();
    await page.keyboard.press('Escape');
    await page.keyboard.type('page_timeout');
    await results.filter({ hasText: 'Guides › Errors' }).first().waitFor();
    await page.keyboard.press('Enter');
    await page.waitForURL('**/docs/guides/errors#render_failed-page_timeout');
    await page.getByRole('searchbox').fill('xyzzy');
    await page.getByText('No results.').waitFor();
    expectNoErrors();
  });

  it('closes the contents on phones until they are opened', async () => {
    const { page, expectNoErrors } = await open({ viewport: { width: 390, height: 800 } });
    const link = page.getByRole('link', { name: 'Errors', exact: true }).first();
    expect(await link.isVisible()).to.equal(false);
    await page.getByRole('button', { name: 'Contents' }).click();
    await link.click();
    await page.getByRole('heading', { name: 'Errors', level: 1 }).waitFor();
    expectNoErrors();
  });

  it('has the color scheme that was chosen in the dashboard', async () => {
    const { page } = await open({ colorScheme: 'light' });
    const background = () => page.evaluate('getComputedStyle(document.body).backgroundColor');
    expect(await background()).to.equal('rgb(255, 255, 255)');
    await page.evaluate("localStorage.setItem('mantine-color-scheme-value', 'dark')");
    await page.reload();
    expect(await background()).to.equal('rgb(36, 36, 36)');
    await page.getByRole('button', { name: 'Theme: dark' }).click();
    expect(await page.evaluate("localStorage.getItem('mantine-color-scheme-value')")).to.equal(
      'auto',
    );
    expect(await background()).to.equal('rgb(255, 255, 255)');
  });

  it('has links between all guides, and each leads to an existing heading', async () => {
    const { page } = await open();
    const guides = await page
      .getByRole('navigation')
      .locator('a[href*="guides/"]')
      .evaluateAll(links => links.map(link => (link as unknown as { href: string }).href));
    expect(guides.length).to.be.at.least(5);
    const targets = new Set<string>();
    for (const guide of guides) {
      await page.goto(guide);
      for (const href of await page
        .locator('a[href]')
        .evaluateAll(links => links.map(link => (link as unknown as { href: string }).href)))
        if (href.startsWith(`${pressroom.url}/docs`)) targets.add(href);
    }
    for (const target of targets) {
      const [path = '', id] = target.split('#');
      const response = await fetch(path);
      expect(response.status, target).to.equal(200);
      if (id) expect(await response.text(), target).to.include(`id="${decodeURIComponent(id)}"`);
    }
  });

  it('sends less than 400 KB at the first visit', async () => {
    const { page } = await open();
    const bodies = await page.evaluate(
      "performance.getEntriesByType('resource').concat(performance.getEntriesByType('navigation')).reduce((sum, each) => sum + each.transferSize, 0)",
    );
    expect(bodies).to.be.greaterThan(10_000).and.lessThan(400_000);
  });

  it('is accessible and sends no requests to other hosts', async () => {
    const { page, expectNoErrors } = await open();
    await looks(page, 'docs');
    await page.goto(`${pressroom.url}/docs/guides/errors`);
    await looks(page, 'docs-guide');
    expectNoErrors();
  });
});
