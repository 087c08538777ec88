// The first steps after `npm start`: setup, API key, first render, render log, and suspending an
// account.
import { expect } from 'chai';
import type { Browser, Page } from 'playwright-core';
import { launchBrowser } from '../support/browser.ts';
import { eventually } from '../support/eventually.ts';
import { groupMembers, type NpmStart, npmStart } from '../support/servers/npm-start.ts';
import { temporaryFolder } from '../support/temporary.ts';

describe('first steps with npm start', function () {
  this.timeout(180_000);
  const at = temporaryFolder();
  let pressroom: NpmStart;
  let browser: Browser;
  let page: Page;
  let key: string;

  before(async () => {
    pressroom = await npmStart(at('data'));
    browser = await launchBrowser();
    page = await (await browser.newContext({ reducedMotion: 'reduce' })).newPage();
  });
  after(async () => {
    await browser?.close();
    pressroom.ctrlC();
    expect(await pressroom.ended, pressroom.out()).to.equal(0);
    await eventually(() => expect(groupMembers(pressroom.leader)).to.deep.equal([]));
  });

  const render = (body: object = { html: '<h1>Hello</h1>' }) =>
    fetch(`${pressroom.url}/v1/render`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });

  it('completes the setup once by the link from the terminal', async () => {
    const link = await eventually(() => {
      const found = /\/app\/setup#[\w-]+/.exec(pressroom.out())?.[0];
      if (!found) throw new Error(`no link yet: ${pressroom.out()}`);
      return pressroom.url + found;
    });
    await page.goto(link.replace(/#.*/, ''));
    await page.getByLabel('Your name').fill('Ada Lovelace');
    await page.getByLabel('Setup token').fill('wrong');
    await page.getByLabel('Email').fill('ada@localhost');
    await page.getByLabel('Password', { exact: true }).fill('correct horse battery staple');
    await page.getByRole('button', { name: 'Set up' }).click();
    const wrong = page.getByText('This token is incorrect');
    await wrong.waitFor();
    // Only the fragment changes: the browser does not reload the page.
    await page.goto(link);
    await wrong.waitFor({ state: 'detached' });
    expect(page.url()).to.equal(link.replace(/#.*/, ''));
    expect(await page.getByLabel('Setup token').getAttribute('aria-invalid')).to.equal(null);
    const email = page.getByLabel('Email');
    expect(await email.getAttribute('aria-describedby')).to.equal('email-error');
    await email.fill('ada@example.com');
    expect(await page.locator('.wrong').allTextContents()).to.deep.equal([]);
    expect(await email.getAttribute('aria-invalid')).to.equal(null);
    await page.getByLabel('Password', { exact: true }).fill('correct horse battery staple');
    await page.getByRole('button', { name: 'Set up' }).click();
    await page.getByRole('heading', { level: 1, name: 'Home' }).waitFor();

    const stranger = await (await browser.newContext()).newPage();
    await stranger.goto(link);
    await stranger.getByRole('heading', { name: 'Already set up' }).waitFor();
    await stranger.context().close();
  });

  it('creates an API key that renders a PDF', async () => {
    await page.getByRole('link', { name: 'API keys' }).click();
    await page
      .getByRole('button', { name: /create/i })
      .first()
      .click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Name').fill('my first key');
    await dialog.getByRole('button', { name: /create/i }).click();
    key = await eventually(async () => {
      const found = /pressroom_live_\w+/.exec(await page.getByRole('dialog').innerText())?.[0];
      if (!found) throw new Error('no key yet');
      return found;
    });
    const answer = await render();
    expect(answer.status).to.equal(200);
    expect(
      Buffer.from(await answer.arrayBuffer())
        .subarray(0, 5)
        .toString(),
    ).to.equal('%PDF-');
  });

  it('renders in the playground and shows both renders in the log', async () => {
    await page.goto(`${pressroom.url}/app/playground`);
    await page.getByRole('button', { name: /^Render/ }).click();
    await page.getByText('PDF ready').waitFor();
    await eventually(async () => {
      await page.goto(`${pressroom.url}/app/renders`);
      await page.getByRole('table', { name: 'Renders' }).waitFor({ timeout: 3_000 });
      const text = await page.getByRole('table', { name: 'Renders' }).innerText();
      expect(text).to.include('Playground').and.include('my first key');
    });
  });

  it('rejects renders after the operator suspends the account', async () => {
    await page.goto(`${pressroom.url}/app/operator/accounts`);
    await page
      .getByRole('link', { name: 'default' })
      .or(page.getByRole('button', { name: 'default' }))
      .first()
      .click();
    await page
      .getByRole('button', { name: /^suspend/i })
      .first()
      .click();
    await page
      .getByRole('dialog')
      .getByRole('button', { name: /^suspend/i })
      .click();
    await eventually(async () => {
      const answer = await render();
      expect(answer.status).to.equal(403);
      expect(((await answer.json()) as { error: { code: string } }).error.code).to.equal(
        'subscription_inactive',
      );
    });
  });
});
