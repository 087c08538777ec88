// The shell of the dashboard in a real browser: navigation, focus, account switcher, theme, command
// palette and access errors.
import { expect } from 'chai';
import type { Page, Route } from 'playwright-core';
import {
  axeViolations,
  type ConsoleBrowser,
  consoleBrowser,
  picture,
  SIZES,
} from '../support/console/console-browser.ts';
import {
  type ConsoleFixture,
  consoleFixture,
  type TestUser,
} from '../support/console/console-fixture.ts';

describe('dashboard shell', function () {
  this.timeout(120_000);
  let fixture: ConsoleFixture;
  let browser: ConsoleBrowser;
  let owner: TestUser;
  before(async () => {
    fixture = await consoleFixture({ workers: 0 });
    [browser, owner] = await Promise.all([
      consoleBrowser(fixture),
      fixture.createUser({ role: 'owner' }),
    ]);
  });
  after(async () => {
    await browser.close();
    await fixture.stop();
  });

  const heading = (page: Page, name: string) =>
    page.getByRole('heading', { level: 1, name, exact: true });
  const screens = (page: Page) => page.getByRole('navigation', { name: 'Main' });
  const focused = (page: Page) =>
    page.evaluate('document.activeElement.textContent') as Promise<string>;

  /** Creates another account owned by the user. */
  async function joinAccount(person: TestUser, name: string): Promise<void> {
    const id = await fixture.account2();
    await fixture.store.accounts.updateOne({ _id: id }, { $set: { name } });
    await fixture.store.console.teams.insertOne({
      _id: id,
      members: [{ user: person.id, role: 'owner', since: new Date() }],
      invitations: [],
    });
  }

  it('sets the title and focuses the heading of each screen', async () => {
    const { page, expectNoErrors } = await browser.open(owner, '/');
    await heading(page, 'Home').waitFor();
    for (const name of ['API keys', 'Renders', 'Usage', 'Home']) {
      await screens(page).getByRole('link', { name, exact: true }).click();
      await page.locator('h1:focus').filter({ hasText: name }).waitFor();
      expect(await page.title()).to.equal(`${name} · Pressroom`);
      expect(await screens(page).locator('[aria-current=page]').textContent()).to.equal(name);
    }
    expectNoErrors();
  });

  it('lets keyboard users skip the navigation', async () => {
    const { page } = await browser.open(owner, '/keys');
    await heading(page, 'API keys').waitFor();
    await page.keyboard.press('Tab');
    expect(await focused(page)).to.equal('Skip to content');
    await page.keyboard.press('Enter');
    await page.keyboard.press('Tab');
    expect(await focused(page)).to.equal('Create API key');
  });

  it('searches among many accounts and remembers the selected one', async () => {
    const person = await fixture.createUser({ role: 'viewer' });
    for (let count = 1; count <= 9; count += 1)
      await joinAccount(person, `Company number ${count}`);
    const { page, expectNoErrors } = await browser.open(person, '/');
    await page.getByRole('button', { name: /Switch account/ }).click();
    await page.getByRole('combobox', { name: 'Switch account' }).fill('number 7');
    expect(await axeViolations(page)).to.deep.equal([]);
    await page.getByRole('option', { name: 'Company number 7' }).click();
    await page.getByRole('button', { name: /^Account: Company number 7/ }).waitFor();
    await screens(page).getByRole('link', { name: 'Plan & billing' }).waitFor();
    await page.reload();
    await page.getByRole('button', { name: /^Account: Company number 7/ }).waitFor();
    expectNoErrors();
  });

  it('switches between a few accounts in a menu', async () => {
    const person = await fixture.createUser({ role: 'owner' });
    await joinAccount(person, 'The other one');
    const { accounts } = await person.good<{ accounts: { name: string }[] }>('GET', '/me');
    const [first, second] = accounts.map(({ name }) => name) as [string, string];
    const { page, expectNoErrors } = await browser.open(person, '/keys');
    await page.getByRole('button', { name: `Account: ${first}` }).click();
    expect(await axeViolations(page)).to.deep.equal([]);
    await page.getByRole('menuitemradio', { name: second }).click();
    await page.getByRole('button', { name: `Account: ${second}` }).waitFor();
    // Only the first account has a key.
    await (second === 'The other one'
      ? page.getByText('No API keys yet')
      : page.getByRole('table', { name: 'API keys' })
    ).waitFor();
    expectNoErrors();
  });

  it('follows the theme of the system until the user selects one', async () => {
    const { page } = await browser.open(owner, '/', { colorScheme: 'dark' });
    const scheme = () => page.locator('html').getAttribute('data-mantine-color-scheme');
    await heading(page, 'Home').waitFor();
    expect(await scheme()).to.equal('dark');
    await page.getByRole('button', { name: 'Theme: System' }).click();
    await page.getByRole('menuitemradio', { name: 'Light' }).click();
    await page.getByRole('button', { name: 'Theme: Light' }).waitFor();
    await page.reload();
    await page.getByRole('button', { name: 'Theme: Light' }).waitFor();
    expect(await scheme()).to.equal('light');
  });

  it('opens screens from the command palette', async () => {
    const { page, expectNoErrors } = await browser.open(owner, '/');
    await heading(page, 'Home').waitFor();
    await page.keyboard.press('Control+k');
    const field = page.getByRole('combobox', { name: 'Go to a page or account' });
    const selected = page.getByRole('option', { selected: true });
    // Screen readers announce the active descendant: the focus stays in the input.
    const announced = async () =>
      page.locator(`id=${await field.getAttribute('aria-activedescendant')}`).textContent();
    await page.getByRole('dialog', { name: 'Go to a page or account' }).waitFor();
    await page.keyboard.type('no such screen');
    await page.getByRole('status').filter({ hasText: 'No results' }).waitFor();
    await field.fill('theme');
    await selected.filter({ hasText: 'Light theme' }).waitFor();
    await page.keyboard.press('ArrowDown');
    await selected.filter({ hasText: 'Dark theme' }).waitFor();
    expect(await announced()).to.include('Dark theme');
    await page.keyboard.press('ArrowDown');
    await selected.filter({ hasText: 'Light theme' }).waitFor();
    await picture(page, 'palette-desktop-light');
    expect(await axeViolations(page)).to.deep.equal([]);
    await page.setViewportSize(SIZES.phone);
    await page.emulateMedia({ colorScheme: 'dark' });
    await picture(page, 'palette-phone-dark');
    expect(await axeViolations(page)).to.deep.equal([]);
    await page.setViewportSize(SIZES.desktop);
    await field.fill('usa');
    await selected.filter({ hasText: 'Usage' }).waitFor();
    await page.keyboard.press('Enter');
    await heading(page, 'Usage').waitFor();
    await page.getByRole('button', { name: 'Go to…' }).click();
    await page.locator('input:focus[role=combobox]').waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    expect(await focused(page)).to.include('Go to…');
    expectNoErrors();
  });

  it('shows the navigation in a drawer on phones', async () => {
    const { page, expectNoErrors } = await browser.open(owner, '/', { viewport: SIZES.phone });
    await page.getByRole('button', { name: 'Open navigation' }).click();
    await screens(page).getByRole('link', { name: 'Team' }).waitFor();
    await picture(page, 'drawer-phone-light');
    expect(await axeViolations(page)).to.deep.equal([]);
    await screens(page).getByRole('link', { name: 'Renders', exact: true }).click();
    await heading(page, 'Renders').waitFor();
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    await page.getByRole('button', { name: 'Open navigation' }).click();
    await screens(page).getByRole('link', { name: 'Team' }).waitFor();
    await page.keyboard.press('Control+k');
    await page.getByRole('dialog', { name: 'Go to a page or account' }).waitFor();
    expectNoErrors();
  });

  it('hides screens that the role cannot view and explains it at their URL', async () => {
    const { page, expectNoErrors } = await browser.open(
      await fixture.createUser({ role: 'viewer' }),
      '/audit',
    );
    await heading(page, 'Access denied').waitFor();
    await page
      .getByText('Your role in', { exact: false })
      .filter({ hasText: 'is viewer' })
      .waitFor();
    const labels = await screens(page).getByRole('link').allTextContents();
    expect(labels).to.include.members(['Home', 'API keys', 'Renders', 'Usage', 'Team']);
    expect(labels)
      .not.to.include.members(['Audit log'])
      .and.not.to.include.members(['Playground'])
      .and.not.to.include.members(['Accounts']);
    expectNoErrors();
  });

  it('redirects an operator without an account to the accounts screen', async () => {
    const { page } = await browser.open(await fixture.createUser({ operator: true }), '/');
    await heading(page, 'Accounts').waitFor();
    expect(new URL(page.url()).pathname).to.equal('/app/operator/accounts');
    expect(await screens(page).getByRole('link', { name: 'API keys' }).count()).to.equal(0);
  });

  it('tells a user without an account what to do', async () => {
    const { page, expectNoErrors } = await browser.open(await fixture.createUser(), '/');
    await page.getByText('You are not a member of any account').waitFor();
    await page.getByRole('button', { name: 'Sign out' }).waitFor();
    expectNoErrors();
  });

  it('shows a banner on every screen of a suspended account', async () => {
    const account = await fixture.account2();
    await fixture.store.accounts.updateOne({ _id: account }, { $set: { state: 'paused' } });
    const { page, expectNoErrors } = await browser.open(
      await fixture.createUser({ role: 'owner', account }),
      '/keys',
    );
    await page.getByText('This account is suspended. Contact your administrator.').waitFor();
    await heading(page, 'API keys').waitFor();
    expect(await axeViolations(page)).to.deep.equal([]);
    expectNoErrors();
  });

  it('shows the server’s error with the request ID and a retry button', async () => {
    const { page, expectNoErrors } = await browser.open(owner, '/usage');
    await heading(page, 'Usage').waitFor();
    const error = {
      code: 'not_found',
      message: 'Account not found.',
      request_id: '0190-abc',
    };
    await page.route('**/keys', route => route.fulfill({ status: 404, json: { error } }), {
      times: 1,
    });
    await screens(page).getByRole('link', { name: 'API keys' }).click();
    const alert = page.getByRole('alert');
    await alert.getByText('Account not found.').waitFor();
    await alert.getByText('0190-abc').waitFor();
    expect(await axeViolations(page)).to.deep.equal([]);
    await alert.getByRole('button', { name: 'Try again' }).click();
    await page.getByRole('table', { name: 'API keys' }).waitFor();
    expectNoErrors(/status of 404/);
  });

  it('signs out and redirects to the sign-in page', async () => {
    const person = await fixture.createUser({ role: 'owner' });
    const { page } = await browser.open(person, '/');
    await heading(page, 'Home').waitFor();
    // A call in flight gets 401 before the sign-out completes. It must not add its screen as the
    // page to return to.
    const call = Promise.withResolvers<Route>();
    await page.route('**/keys', call.resolve);
    await screens(page).getByRole('link', { name: 'API keys' }).click();
    const underWay = await call.promise;
    await page.route('**/me/sign-out', async route => {
      const response = await route.fetch({
        headers: { ...route.request().headers(), 'sec-fetch-site': 'same-origin' },
      });
      const rejected = page.waitForResponse(each => each.status() === 401);
      await underWay.continue();
      await rejected;
      await route.fulfill({ response });
    });
    await page.getByRole('button', { name: /user menu/ }).click();
    await page.getByRole('menuitem', { name: 'Sign out' }).click();
    await page.waitForURL('**/app/sign-in**');
    expect(new URL(page.url()).search).to.equal('');
    expect((await person.call('GET', '/me')).status).to.equal(401);
  });

  it('redirects to the sign-in page with the current path when the session has ended', async () => {
    const person = await fixture.createUser({ role: 'owner' });
    const { page } = await browser.open(person, '/usage');
    // Otherwise a call of this screen could get the 401, and redirect back to this screen.
    await page.getByText('No renders in this period').waitFor();
    await fixture.store.console.sessions.deleteMany({ user: person.id });
    await screens(page).getByRole('link', { name: 'API keys' }).click();
    await page.waitForURL('**/app/sign-in?next=%2Fapp%2Fkeys');
  });

  it('transfers less than 250 KB on the first load', async () => {
    const { page } = await browser.open(undefined, '/sign-in');
    const [name = '', value = ''] = owner.cookie.split('=');
    await page
      .context()
      .addCookies([{ name, value, domain: 'localhost', path: '/', secure: true }]);
    let bytes = 0;
    const sizes: Promise<void>[] = [];
    page.on('requestfinished', request =>
      sizes.push(
        request.sizes().then(({ responseBodySize }) => {
          bytes += responseBodySize;
        }),
      ),
    );
    await page.goto(`${browser.origin}/app`);
    await page.getByText('Running now').waitFor();
    await Promise.all(sizes);
    expect(bytes).to.be.below(250_000).and.above(50_000);
  });
});
