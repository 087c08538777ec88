import { expect } from 'chai';
import type { Page } from 'playwright-core';
import {
  axeViolations,
  type ConsoleBrowser,
  consoleBrowser,
} from '../support/console/console-browser.ts';
import {
  type ConsoleFixture,
  consoleFixture,
  type TestUser,
} from '../support/console/console-fixture.ts';

const status = (page: Page, text: string) =>
  page
    .getByRole('region', { name: 'Result' })
    .getByRole('status')
    .filter({ hasText: text })
    .waitFor();
const render = (page: Page) => page.getByRole('button', { name: 'Render', exact: true }).click();
const html = (page: Page) => page.getByLabel('HTML document');
const focused = (page: Page) => page.evaluate('document.activeElement.tagName');
const open = (page: Page, section: string) => page.getByRole('button', { name: section }).click();
const show = (page: Page, view: string) =>
  page.getByRole('radiogroup', { name: 'Request view' }).getByText(view, { exact: true }).click();
const fact = (page: Page, name: string) =>
  page
    .getByRole('term')
    .filter({ hasText: name })
    .locator('xpath=following-sibling::dd')
    .textContent();

describe('playground screen', function () {
  this.timeout(120_000);
  let fixture: ConsoleFixture;
  let browser: ConsoleBrowser;
  let person: TestUser;
  before(async () => {
    fixture = await consoleFixture();
    browser = await consoleBrowser(fixture);
    person = await fixture.createUser({ role: 'developer' });
  });
  after(async () => {
    await browser.close();
    await fixture.stop();
  });

  it('renders in the sandbox with options, and shows pages, size and phases', async () => {
    const { page, expectNoErrors } = await browser.open(person, '/playground');
    await html(page).fill(
      '<p>one<p style="break-before: page">two<p style="break-before: page">three',
    );
    await open(page, 'Page');
    await page.getByLabel('Pages', { exact: true }).fill('2-');
    await render(page);
    await status(page, 'PDF ready');
    expect(await fact(page, 'Pages')).to.equal('2');
    expect(await fact(page, 'Size')).to.match(/KiB$/);
    expect(await fact(page, 'Usage')).to.equal('Not counted');
    const phases = await page
      .getByRole('region', { name: 'Phases' })
      .getByRole('listitem')
      .allTextContents();
    expect(phases.join(' ')).to.include('load').and.to.include('print');
    const download = page.waitForEvent('download');
    await page.getByRole('link', { name: 'Download PDF' }).click();
    expect((await download).suggestedFilename()).to.equal('render.pdf');
    expectNoErrors();
  });

  it('counts a render with the sandbox turned off', async () => {
    const { page, expectNoErrors } = await browser.open(person, '/playground');
    await page.getByLabel('Sandbox').click();
    await page.getByText('Successful renders count toward usage').waitFor();
    await render(page);
    await status(page, 'PDF ready');
    expect(await fact(page, 'Usage')).to.match(/^\d+ this period$/);
    expectNoErrors();
  });

  it('shows an error at its field until the request changes', async () => {
    const { page } = await browser.open(person, '/playground');
    await open(page, 'Margins');
    await page.getByLabel('Top').fill('-1in');
    await open(page, 'Margins');
    await render(page);
    await status(page, 'Render failed');
    await page.getByRole('alert').filter({ hasText: 'validation_error' }).waitFor();
    const top = page.getByLabel('Top');
    expect(await top.getAttribute('aria-invalid')).to.equal('true');
    await page.getByText(/^Must be a length of 0 or more/).waitFor();
    await top.fill('1in');
    await page.getByText(/^Must be a length of 0 or more/).waitFor({ state: 'detached' });
  });

  it('shows the error code, the message and the request ID of a failed render', async () => {
    const { page } = await browser.open(person, '/playground');
    await html(page).fill('<p>x');
    await open(page, 'CSS & JavaScript');
    await page
      .getByLabel('JavaScript', { exact: true })
      .fill('throw new Error("an error of the page")');
    await render(page);
    const alert = page.getByRole('alert').filter({ hasText: 'an error of the page' });
    await alert.waitFor();
    expect(await alert.textContent())
      .to.include('validation_error')
      .and.to.match(/Request ID: [0-9a-f-]{36}/);
  });

  it('cancels a render', async () => {
    const { page, expectNoErrors } = await browser.open(person, '/playground');
    await open(page, 'Wait conditions');
    await page.getByLabel('Wait delay').fill('30s');
    await render(page);
    await fixture.worker.until({ busy: 1 });
    await page.getByRole('button', { name: 'Cancel' }).click();
    await status(page, 'Render canceled');
    await fixture.worker.until({ busy: 0 });
    expectNoErrors();
  });

  it('works by keyboard: Tab leaves the editor, Ctrl+Enter renders', async () => {
    const { page } = await browser.open(person, '/playground');
    await html(page).fill('<p>keys');
    await page.keyboard.press('Tab');
    expect(await focused(page)).not.to.equal('TEXTAREA');
    await page.keyboard.press('Shift+Tab');
    expect(await focused(page)).to.equal('TEXTAREA');
    await page.keyboard.press('Control+Enter');
    await status(page, 'PDF ready');
  });

  it('edits the request as JSON and ignores invalid JSON', async () => {
    const { page, expectNoErrors } = await browser.open(person, '/playground');
    await show(page, 'JSON');
    const editor = page.getByLabel('Request JSON');
    await editor.fill('{"html": "<p>typed", "landscape": true, "margin": {"top": "2in"}}');
    await show(page, 'Form');
    expect(await html(page).inputValue()).to.equal('<p>typed');
    await open(page, 'Page');
    expect(await page.getByLabel('Landscape').isChecked()).to.equal(true);
    await open(page, 'Margins');
    await page.getByLabel('Left').fill('3cm');
    await show(page, 'JSON');
    expect(JSON.parse(await editor.inputValue())).to.deep.equal({
      html: '<p>typed',
      landscape: true,
      margin: { top: '2in', left: '3cm' },
    });
    await editor.fill('{"html": ');
    await page.getByText('Invalid JSON').waitFor();
    await show(page, 'Form');
    expect(await html(page).inputValue()).to.equal('<p>typed');
    expectNoErrors();
  });

  it('keeps invalid JSON while the form is shown, until the form changes the request', async () => {
    const { page, expectNoErrors } = await browser.open(person, '/playground');
    const editor = page.getByLabel('Request JSON');
    const invalid = page.getByText('Invalid JSON');
    const notSent = page.getByRole('status').filter({ hasText: 'Fix the JSON errors to render.' });
    await html(page).fill('<p>from the form');
    await show(page, 'JSON');
    await editor.fill('{"html": "<p>typed"');
    await invalid.waitFor();
    await show(page, 'Form');
    await html(page).waitFor();
    expect(await notSent.count()).to.equal(0);
    await page.getByLabel('Sandbox').click();
    const sent = page.waitForRequest('**/playground/render');
    await render(page);
    expect((await sent).postDataJSON()).to.include({ html: '<p>from the form' });
    await status(page, 'PDF ready');
    await show(page, 'JSON');
    await invalid.waitFor();
    await notSent.waitFor();
    expect(await editor.inputValue()).to.equal('{"html": "<p>typed"');
    expect(await axeViolations(page)).to.deep.equal([]);
    await show(page, 'Form');
    await html(page).fill('<p>changed');
    await show(page, 'JSON');
    expect(JSON.parse(await editor.inputValue())).to.include({ html: '<p>changed' });
    expect(await invalid.count()).to.equal(0);
    expectNoErrors();
  });

  it('shows JSON without `sandbox` once the switch has changed it', async () => {
    const { page, expectNoErrors } = await browser.open(person, '/playground');
    await show(page, 'JSON');
    const editor = page.getByLabel('Request JSON');
    const sandbox = page.getByRole('switch', { name: 'Sandbox' });
    await editor.fill('{"html": "<p>typed", "sandbox": false}');
    await page.getByText('Successful renders count toward usage').waitFor();
    await sandbox.click();
    await page.getByText('Adds a SANDBOX watermark').waitFor();
    expect(JSON.parse(await editor.inputValue())).to.deep.equal({ html: '<p>typed' });
    expectNoErrors();
  });

  it('does not send a request while the JSON is invalid', async () => {
    const { page, expectNoErrors } = await browser.open(person, '/playground');
    let sent = 0;
    page.on('request', request => {
      if (request.url().endsWith('/playground/render')) sent += 1;
    });
    await show(page, 'JSON');
    const editor = page.getByLabel('Request JSON');
    const notSent = page.getByRole('status').filter({ hasText: 'Fix the JSON errors to render.' });
    for (const invalid of ['{"html": ', '{"html": "<p>x", "url": "https://example.com/"}']) {
      await editor.fill(invalid);
      await notSent.waitFor();
      await page
        .getByRole('button', { name: 'Render', exact: true, disabled: true })
        .click({ force: true });
      expect(await focused(page)).to.equal('TEXTAREA');
      await page.keyboard.press('Control+Enter');
      expect(await editor.getAttribute('aria-invalid')).to.equal('true');
    }
    await page.getByLabel('Sandbox').click();
    await notSent.waitFor();
    expect(await axeViolations(page)).to.deep.equal([]);
    expect(sent).to.equal(0);
    await editor.fill('{"html": "<p>fixed"}');
    await notSent.waitFor({ state: 'detached' });
    await render(page);
    await status(page, 'PDF ready');
    expect(sent).to.equal(1);
    expectNoErrors();
  });

  it('searches options, and edits cookies and headers as rows', async () => {
    const { page, expectNoErrors } = await browser.open(person, '/playground');
    await page.getByLabel('Search options').fill('cookies');
    await page.getByRole('button', { name: 'Add cookie' }).click();
    const cookie = page.getByRole('group', { name: 'Cookie 1' });
    await cookie.getByLabel('Name').fill('session');
    await cookie.getByLabel('Domain').fill('example.com');
    await cookie.getByLabel('Same site').selectOption('Lax');
    await cookie.getByLabel('Secure').click();
    await page.getByLabel('Search options').fill('extra headers');
    await page.getByRole('button', { name: 'Add row' }).click();
    await page.getByLabel('Name 1').fill('X-Tenant');
    await page.getByLabel('Value 1').fill('42');
    await show(page, 'JSON');
    const {
      html: _,
      format: __,
      margin: ___,
      ...chosen
    } = JSON.parse(await page.getByLabel('Request JSON').inputValue());
    expect(chosen).to.deep.equal({
      cookies: [
        { name: 'session', value: '', domain: 'example.com', same_site: 'Lax', secure: true },
      ],
      extra_http_headers: { 'X-Tenant': '42' },
    });
    expectNoErrors();
  });

  it('opens with the page URL from its own URL and keeps changes after a reload', async () => {
    const { page, expectNoErrors } = await browser.open(
      person,
      `/playground?url=${encodeURIComponent('https://example.com/a?b=c')}`,
    );
    const address = page.getByLabel('Page URL');
    expect(await address.inputValue()).to.equal('https://example.com/a?b=c');
    await address.fill('https://example.com/d');
    await page.reload();
    expect(await address.inputValue()).to.equal('https://example.com/d');
    expectNoErrors();
  });

  it('discards the draft on sign-out', async () => {
    const leaving = await fixture.createUser({ role: 'developer' });
    const { page } = await browser.open(leaving, '/playground');
    await html(page).fill('<p>a secret');
    await page.getByRole('button', { name: 'user menu' }).click();
    await page.getByRole('menuitem', { name: 'Sign out' }).click();
    await page.waitForURL('**/app/sign-in');
    expect(await page.evaluate('JSON.stringify(sessionStorage)')).to.equal('{}');
  });

  it('shows the request as code', async () => {
    const { page, expectNoErrors } = await browser.open(person, '/playground');
    await html(page).fill('<p>as code');
    await page.getByRole('tab', { name: 'Python' }).click();
    const code = page.getByRole('region', { name: 'Python' });
    await code.filter({ hasText: '"html": "<p>as code"' }).waitFor();
    expect(await code.textContent())
      .to.include('/v1/render"')
      .and.not.include('sandbox');
    const sandbox = page.getByRole('switch', { name: 'Sandbox' });
    await sandbox.click();
    await sandbox.click();
    await code.filter({ hasText: '"sandbox": True' }).waitFor();
    expectNoErrors();
  });

  it('loads an example', async () => {
    const { page, expectNoErrors } = await browser.open(person, '/playground');
    await page.getByLabel('Example').selectOption({ index: 2 });
    expect(await html(page).inputValue()).to.include('Quarterly report');
    await render(page);
    await status(page, 'PDF ready');
    expect(await fact(page, 'Pages')).to.equal('3');
    expectNoErrors();
  });

  it('is accessible with all sections open', async () => {
    await browser.looks(person, '/playground', 'playground', async page => {
      for (const section of [
        'Page',
        'Margins',
        'Header & footer',
        'Wait conditions',
        'HTTP',
        'CSS & JavaScript',
        'Metadata',
      ])
        await open(page, section);
      await render(page);
      await status(page, 'PDF ready');
      await page.getByRole('button', { name: 'Add cookie' }).click();
      await page.getByRole('button', { name: 'Add row' }).click();
    });
  });
});
