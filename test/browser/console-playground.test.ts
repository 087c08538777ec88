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
  type Person,
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
  page
    .getByRole('radiogroup', { name: 'How the request is shown' })
    .getByText(view, { exact: true })
    .click();
const fact = (page: Page, name: string) =>
  page
    .getByRole('term')
    .filter({ hasText: name })
    .locator('xpath=following-sibling::dd')
    .textContent();

describe('the playground in a browser', function () {
  this.timeout(120_000);
  let fixture: ConsoleFixture;
  let browser: ConsoleBrowser;
  let person: Person;
  before(async () => {
    fixture = await consoleFixture();
    browser = await consoleBrowser(fixture);
    person = await fixture.person({ role: 'developer' });
  });
  after(async () => {
    await browser.close();
    await fixture.stop();
  });

  it('renders with the options of its form, in the sandbox, and shows pages, size, phases and no count', async () => {
    const { page, expectNoErrors } = await browser.open(person, '/playground');
    await html(page).fill(
      '<p>one<p style="break-before: page">two<p style="break-before: page">three',
    );
    await open(page, 'Page');
    await page.getByLabel('Pages', { exact: true }).fill('2-');
    await render(page);
    await status(page, 'The PDF is here.');
    expect(await fact(page, 'Pages')).to.equal('2');
    expect(await fact(page, 'Size')).to.match(/KiB$/);
    expect(await fact(page, 'Counted')).to.equal('No, sandbox');
    const phases = await page
      .getByRole('region', { name: 'Where the time went' })
      .getByRole('listitem')
      .allTextContents();
    expect(phases.join(' ')).to.include('load').and.to.include('print');
    const download = page.waitForEvent('download');
    await page.getByRole('link', { name: 'Save the PDF' }).click();
    expect((await download).suggestedFilename()).to.equal('render.pdf');
    expectNoErrors();
  });

  it('says that a render counts when the sandbox is switched off, and counts it', async () => {
    const { page, expectNoErrors } = await browser.open(person, '/playground');
    await page.getByLabel('Sandbox').click();
    await page.getByText('counts towards your plan').waitFor();
    await render(page);
    await status(page, 'The PDF is here.');
    expect(await fact(page, 'Counted')).to.match(/^No\. \d+ this period$/);
    expectNoErrors();
  });

  it('marks the field that the service complains of, opens its section, and forgets it when something is changed', async () => {
    const { page } = await browser.open(person, '/playground');
    await open(page, 'Margins');
    await page.getByLabel('Top').fill('-1in');
    await open(page, 'Margins');
    await render(page);
    await status(page, 'The render failed.');
    await page.getByRole('alert').filter({ hasText: 'validation_error' }).waitFor();
    const top = page.getByLabel('Top');
    expect(await top.getAttribute('aria-invalid')).to.equal('true');
    await page.getByText(/^Must be a length of 0 or more/).waitFor();
    await top.fill('1in');
    await page.getByText(/^Must be a length of 0 or more/).waitFor({ state: 'detached' });
  });

  it('shows code and reason when the page is at fault, with the id of the call', async () => {
    const { page } = await browser.open(person, '/playground');
    await html(page).fill('<p>x');
    await open(page, 'Additions');
    await page.getByLabel('JavaScript').fill('throw new Error("an error of the page")');
    await render(page);
    const alert = page.getByRole('alert').filter({ hasText: 'an error of the page' });
    await alert.waitFor();
    expect(await alert.textContent())
      .to.include('validation_error')
      .and.to.match(/Request id: [0-9a-f-]{36}/);
  });

  it('can be cancelled, which ends the render', async () => {
    const { page, expectNoErrors } = await browser.open(person, '/playground');
    await open(page, 'Waits');
    await page.getByLabel('Wait delay').fill('30s');
    await render(page);
    await fixture.worker.until({ busy: 1 });
    await page.getByRole('button', { name: 'Cancel' }).click();
    await status(page, 'Cancelled.');
    await fixture.worker.until({ busy: 0 });
    expectNoErrors();
  });

  it('is worked by the keyboard: Tab leaves the editor, Ctrl and Enter renders', async () => {
    const { page } = await browser.open(person, '/playground');
    await html(page).fill('<p>keys');
    await page.keyboard.press('Tab');
    expect(await focused(page)).not.to.equal('TEXTAREA');
    await page.keyboard.press('Shift+Tab');
    expect(await focused(page)).to.equal('TEXTAREA');
    await page.keyboard.press('Control+Enter');
    await status(page, 'The PDF is here.');
  });

  it('takes its request from JSON and gives it as JSON, and keeps what does not parse in the editor', async () => {
    const { page, expectNoErrors } = await browser.open(person, '/playground');
    await show(page, 'JSON');
    const editor = page.getByLabel('Request as JSON');
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
    await page.getByText('This is not JSON yet').waitFor();
    await show(page, 'Form');
    expect(await html(page).inputValue()).to.equal('<p>typed');
    expectNoErrors();
  });

  it('sends nothing while the JSON is not valid, says so at once, and renders when it is fixed', async () => {
    const { page, expectNoErrors } = await browser.open(person, '/playground');
    let sent = 0;
    page.on('request', request => {
      if (request.url().endsWith('/playground/render')) sent += 1;
    });
    await show(page, 'JSON');
    const editor = page.getByLabel('Request as JSON');
    const notSent = page.getByRole('status').filter({ hasText: 'Not sent: fix the JSON first.' });
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
    await status(page, 'The PDF is here.');
    expect(sent).to.equal(1);
    expectNoErrors();
  });

  it('finds an option by a word, takes cookies as rows and headers as lines', async () => {
    const { page, expectNoErrors } = await browser.open(person, '/playground');
    await page.getByLabel('Search the options').fill('cookies');
    await page.getByRole('button', { name: 'Add a cookie' }).click();
    const cookie = page.getByRole('group', { name: 'Cookie 1' });
    await cookie.getByLabel('Name').fill('session');
    await cookie.getByLabel('Domain').fill('example.com');
    await cookie.getByLabel('Same site').selectOption('Lax');
    await cookie.getByLabel('Secure').click();
    await page.getByLabel('Search the options').fill('extra headers');
    await page.getByRole('button', { name: 'Add a line' }).click();
    await page.getByLabel('Name 1').fill('X-Tenant');
    await page.getByLabel('Value 1').fill('42');
    await show(page, 'JSON');
    const {
      html: _,
      format: __,
      margin: ___,
      ...chosen
    } = JSON.parse(await page.getByLabel('Request as JSON').inputValue());
    expect(chosen).to.deep.equal({
      cookies: [
        { name: 'session', value: '', domain: 'example.com', same_site: 'Lax', secure: true },
      ],
      extra_http_headers: { 'X-Tenant': '42' },
    });
    expectNoErrors();
  });

  it('opens with the address in its own address, and keeps what was changed over a reload', async () => {
    const { page, expectNoErrors } = await browser.open(
      person,
      `/playground?url=${encodeURIComponent('https://example.com/a?b=c')}`,
    );
    const address = page.getByLabel('Address of the page');
    expect(await address.inputValue()).to.equal('https://example.com/a?b=c');
    await address.fill('https://example.com/d');
    await page.reload();
    expect(await address.inputValue()).to.equal('https://example.com/d');
    expectNoErrors();
  });

  it('forgets what was typed when the person signs out', async () => {
    const leaving = await fixture.person({ role: 'developer' });
    const { page } = await browser.open(leaving, '/playground');
    await html(page).fill('<p>a secret');
    await page.getByRole('button', { name: 'your menu' }).click();
    await page.getByRole('menuitem', { name: 'Sign out' }).click();
    await page.waitForURL('**/app/sign-in');
    expect(await page.evaluate('JSON.stringify(sessionStorage)')).to.equal('{}');
  });

  it('gives the same call as code, which follows the form', async () => {
    const { page, expectNoErrors } = await browser.open(person, '/playground');
    await html(page).fill('<p>as code');
    await page.getByRole('tab', { name: 'Python' }).click();
    const code = page.getByRole('region', { name: 'Python' });
    await code.filter({ hasText: '"html": "<p>as code"' }).waitFor();
    expect(await code.textContent())
      .to.include('/v1/render"')
      .and.to.include('"sandbox": True');
    expectNoErrors();
  });

  it('starts from an example', async () => {
    const { page, expectNoErrors } = await browser.open(person, '/playground');
    await page.getByLabel('Start from an example').selectOption({ index: 2 });
    expect(await html(page).inputValue()).to.include('Quarterly report');
    await render(page);
    await status(page, 'The PDF is here.');
    expect(await fact(page, 'Pages')).to.equal('3');
    expectNoErrors();
  });

  it('has no barrier and nothing that sticks out, in light and dark, wide and narrow', async () => {
    await browser.looks(person, '/playground', 'playground', async page => {
      for (const section of [
        'Page',
        'Margins',
        'Header & footer',
        'Waits',
        'Requests',
        'Additions',
        'Metadata',
      ])
        await open(page, section);
      await render(page);
      await status(page, 'The PDF is here.');
      await page.getByRole('button', { name: 'Add a cookie' }).click();
      await page.getByRole('button', { name: 'Add a line' }).click();
    });
  });
});
