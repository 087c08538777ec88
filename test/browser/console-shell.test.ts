// The dashboard's shell in a real browser: navigation, focus, accounts, colours, the palette, and
// what stands in the way of a screen.
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
  type Person,
} from '../support/console/console-fixture.ts';

describe('the dashboard’s shell in a browser', function () {
  this.timeout(120_000);
  let fixture: ConsoleFixture;
  let browser: ConsoleBrowser;
  let owner: Person;
  before(async () => {
    fixture = await consoleFixture({ workers: 0 });
    [browser, owner] = await Promise.all([
      consoleBrowser(fixture),
      fixture.person({ role: 'owner' }),
    ]);
  });
  after(async () => {
    await browser.close();
    await fixture.stop();
  });

  const heading = (page: Page, name: string) =>
    page.getByRole('heading', { level: 1, name, exact: true });
  const screens = (page: Page) => page.getByRole('navigation', { name: 'Screens' });
  const focused = (page: Page) =>
    page.evaluate('document.activeElement.textContent') as Promise<string>;

  /** One more account of which the person is the owner. */
  async function joinAccount(person: Person, name: string): Promise<void> {
    const id = await fixture.account2();
    await fixture.store.accounts.updateOne({ _id: id }, { $set: { name } });
    await fixture.store.console.teams.insertOne({
      _id: id,
      members: [{ user: person.id, role: 'owner', since: new Date() }],
      invitations: [],
    });
  }

  it('opens each screen by its link, names it in the title, and moves the focus to its heading', async () => {
    const { page, expectNoErrors } = await browser.open(owner, '/');
    await heading(page, 'Home').waitFor();
    for (const name of ['API keys', 'Renders', 'Usage', 'Home']) {
      await screens(page).getByRole('link', { name }).click();
      await page.locator('h1:focus').filter({ hasText: name }).waitFor();
      expect(await page.title()).to.equal(`${name} · Pressroom`);
      expect(await screens(page).locator('[aria-current=page]').textContent()).to.equal(name);
    }
    expectNoErrors();
  });

  it('lets the keyboard skip the navigation', async () => {
    const { page } = await browser.open(owner, '/keys');
    await heading(page, 'API keys').waitFor();
    await page.keyboard.press('Tab');
    expect(await focused(page)).to.equal('Skip to the content');
    await page.keyboard.press('Enter');
    await page.keyboard.press('Tab');
    expect(await focused(page)).to.equal('Create a key');
  });

  it('switches the account, searches among many, and remembers the choice', async () => {
    const person = await fixture.person({ role: 'viewer' });
    for (let count = 1; count <= 9; count += 1)
      await joinAccount(person, `Company number ${count}`);
    const { page, expectNoErrors } = await browser.open(person, '/');
    await page.getByRole('button', { name: /Switch account/ }).click();
    await page.getByRole('combobox', { name: 'Switch to an account' }).fill('number 7');
    expect(await axeViolations(page)).to.deep.equal([]);
    await page.getByRole('option', { name: 'Company number 7' }).click();
    await page.getByRole('button', { name: /^Account: Company number 7/ }).waitFor();
    await screens(page).getByRole('link', { name: 'Plan & billing' }).waitFor();
    await page.reload();
    await page.getByRole('button', { name: /^Account: Company number 7/ }).waitFor();
    expectNoErrors();
  });

  it('switches between a few accounts by a menu', async () => {
    const person = await fixture.person({ role: 'owner' });
    await joinAccount(person, 'The other one');
    const { accounts } = await person.good<{ accounts: { name: string }[] }>('GET', '/me');
    const [first, second] = accounts.map(({ name }) => name) as [string, string];
    const { page, expectNoErrors } = await browser.open(person, '/keys');
    await page.getByRole('button', { name: `Account: ${first}` }).click();
    expect(await axeViolations(page)).to.deep.equal([]);
    await page.getByRole('menuitemradio', { name: second }).click();
    await page.getByRole('button', { name: `Account: ${second}` }).waitFor();
    // One of the two has a key.
    await (second === 'The other one'
      ? page.getByText('No API keys yet')
      : page.getByRole('table', { name: 'API keys' })
    ).waitFor();
    expectNoErrors();
  });

  it('follows the system’s colours until somebody chooses, and remembers that', async () => {
    const { page } = await browser.open(owner, '/', { colorScheme: 'dark' });
    const scheme = () => page.locator('html').getAttribute('data-mantine-color-scheme');
    await heading(page, 'Home').waitFor();
    expect(await scheme()).to.equal('dark');
    await page.getByRole('button', { name: 'Colours: as the system' }).click();
    await page.getByRole('menuitemradio', { name: 'Light' }).click();
    await page.getByRole('button', { name: 'Colours: light' }).waitFor();
    await page.reload();
    await page.getByRole('button', { name: 'Colours: light' }).waitFor();
    expect(await scheme()).to.equal('light');
  });

  it('goes anywhere by a few letters', async () => {
    const { page, expectNoErrors } = await browser.open(owner, '/');
    await heading(page, 'Home').waitFor();
    await page.keyboard.press('Control+k');
    const field = page.getByRole('combobox', { name: 'Go to a screen or an account' });
    const selected = page.getByRole('option', { selected: true });
    // What screen readers announce: the focus stays in the field.
    const announced = async () =>
      page.locator(`id=${await field.getAttribute('aria-activedescendant')}`).textContent();
    await page.getByRole('dialog', { name: 'Go to a screen or an account' }).waitFor();
    await page.keyboard.type('no such screen');
    await page.getByRole('status').filter({ hasText: 'No matches.' }).waitFor();
    await field.fill('colours');
    await selected.filter({ hasText: 'Light colours' }).waitFor();
    await page.keyboard.press('ArrowDown');
    await selected.filter({ hasText: 'Dark colours' }).waitFor();
    expect(await announced()).to.include('Dark colours');
    await page.keyboard.press('ArrowDown');
    await selected.filter({ hasText: 'Light colours' }).waitFor();
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

  it('folds the navigation into a drawer on a phone', async () => {
    const { page, expectNoErrors } = await browser.open(owner, '/', { viewport: SIZES.phone });
    await page.getByRole('button', { name: 'Open the navigation' }).click();
    await screens(page).getByRole('link', { name: 'Team' }).waitFor();
    await picture(page, 'drawer-phone-light');
    expect(await axeViolations(page)).to.deep.equal([]);
    await screens(page).getByRole('link', { name: 'Renders' }).click();
    await heading(page, 'Renders').waitFor();
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    expectNoErrors();
  });

  it('hides what the role does not see, and says so to who goes there all the same', async () => {
    const { page, expectNoErrors } = await browser.open(
      await fixture.person({ role: 'viewer' }),
      '/audit',
    );
    await heading(page, 'Not for your role').waitFor();
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

  it('leads an operator without an account to the operator’s screens', async () => {
    const { page } = await browser.open(await fixture.person({ operator: true }), '/');
    await heading(page, 'Accounts').waitFor();
    expect(new URL(page.url()).pathname).to.equal('/app/operator/accounts');
    expect(await screens(page).getByRole('link', { name: 'API keys' }).count()).to.equal(0);
  });

  it('tells who is in no account what to do', async () => {
    const { page, expectNoErrors } = await browser.open(await fixture.person(), '/');
    await page.getByText('You are not a member of an account').waitFor();
    await page.getByRole('button', { name: 'Sign out' }).waitFor();
    expectNoErrors();
  });

  it('says on every screen that an account is not served, and whom to ask', async () => {
    const account = await fixture.account2();
    await fixture.store.accounts.updateOne({ _id: account }, { $set: { state: 'paused' } });
    const { page, expectNoErrors } = await browser.open(
      await fixture.person({ role: 'owner', account }),
      '/keys',
    );
    await page.getByText('This account is suspended. Ask who runs this installation.').waitFor();
    await heading(page, 'API keys').waitFor();
    expect(await axeViolations(page)).to.deep.equal([]);
    expectNoErrors();
  });

  it('shows what the server says when a call fails, with the id of the request, and tries again', async () => {
    const { page, expectNoErrors } = await browser.open(owner, '/usage');
    await heading(page, 'Usage').waitFor();
    const error = {
      code: 'not_found',
      message: 'There is no such account.',
      request_id: '0190-abc',
    };
    await page.route('**/keys', route => route.fulfill({ status: 404, json: { error } }), {
      times: 1,
    });
    await screens(page).getByRole('link', { name: 'API keys' }).click();
    const alert = page.getByRole('alert');
    await alert.getByText('There is no such account.').waitFor();
    await alert.getByText('0190-abc').waitFor();
    expect(await axeViolations(page)).to.deep.equal([]);
    await alert.getByRole('button', { name: 'Try again' }).click();
    await page.getByRole('table', { name: 'API keys' }).waitFor();
    expectNoErrors(/status of 404/);
  });

  it('signs out, after which the way back is the sign-in', async () => {
    const person = await fixture.person({ role: 'owner' });
    const { page } = await browser.open(person, '/');
    await heading(page, 'Home').waitFor();
    // A call that is under way is rejected before the sign-out is answered: the next person must
    // not be led to its screen.
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
    await page.getByRole('button', { name: /your menu/ }).click();
    await page.getByRole('menuitem', { name: 'Sign out' }).click();
    await page.waitForURL('**/app/sign-in**');
    expect(new URL(page.url()).search).to.equal('');
    expect((await person.call('GET', '/me')).status).to.equal(401);
  });

  it('goes to the sign-in, and means to come back, when the session has ended', async () => {
    const person = await fixture.person({ role: 'owner' });
    const { page } = await browser.open(person, '/usage');
    await heading(page, 'Usage').waitFor();
    await fixture.store.console.sessions.deleteMany({ user: person.id });
    await screens(page).getByRole('link', { name: 'API keys' }).click();
    await page.waitForURL('**/app/sign-in?next=%2Fapp%2Fkeys');
  });

  it('loads in less than 250 KB, all in all', async () => {
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
