// @proves consent
// The OAuth consent page in a real browser: sign-in, approval, and the redirect to the app.
import { expect } from 'chai';
import { type ConsentFixture, consentFixture } from '../support/console/consent-fixture.ts';
import { looks } from '../support/console/console-browser.ts';
import type { TestUser } from '../support/console/console-fixture.ts';
import { redeem } from '../support/console/oauth-flow.ts';
import { joinTeam } from '../support/console/signed-in.ts';
import {
  appShown,
  consentShown,
  pageText,
  press,
  signIn,
  userWithPassword,
} from '../support/pages/page-steps.ts';

const HOSTILE = '<img src=x onerror=alert(1)><script>alert(2)</script>';

describe('consent page', function () {
  this.timeout(120_000);
  let all: ConsentFixture;
  before(async () => {
    all = await consentFixture();
  });
  after(() => all?.stop());

  const grantsOf = ({ id }: TestUser) =>
    all.fixture.store.console.oauthGrants.find({ user: id }).toArray();

  it('redirects from the app to sign-in and consent and back to the app', async () => {
    const { fixture, browser, resource, arrived } = all;
    const person = await userWithPassword(fixture, { role: 'developer' });
    const second = await fixture.account2();
    await joinTeam(fixture.store, second, person.id, 'owner');
    const client = await all.client({ client_name: 'Claude Code (pressroom)' });
    const { url, verifier } = all.ask(client);
    const { page } = await browser.open(undefined, '/sign-in');
    await page.goto(url);
    await signIn(page, person);
    await consentShown(page);
    expect(await pageText(page))
      .to.include('“Claude Code (pressroom)”')
      .and.include('on this computer');
    await looks(page, 'consent');
    await page.getByLabel('Account').selectOption(second);
    await press(page, 'Allow');
    await appShown(page);
    const answer = await redeem(
      fixture,
      client,
      arrived.at(-1)!.searchParams.get('code')!,
      verifier,
      {
        resource,
      },
    );
    expect(answer.status, answer.body.toString()).to.equal(200);
    expect((await grantsOf(person))[0]).to.include({ account: second });
    // No OAuth session remains in the browser.
    const names = (await page.context().cookies(browser.origin)).map(({ name }) => name);
    expect(names.filter(name => name.includes('oauth-session'))).to.deep.equal([]);
    await page.context().close();
  });

  it('explains to users who cannot render why they cannot approve, and sends access_denied', async () => {
    for (const role of ['viewer', undefined] as const) {
      const person = await all.fixture.createUser(role ? { role } : {});
      const { page } = await all.browser.open(person, '/profile');
      await page.goto(all.ask(await all.client()).url);
      await consentShown(page);
      expect(await pageText(page))
        .to.include('You do not have permission to render in any account')
        .and.include('the Developer role');
      expect(await page.getByRole('button', { name: 'Allow' }).count()).to.equal(0);
      if (role) await looks(page, 'consent-none');
      await press(page, 'Cancel');
      await appShown(page);
      expect(all.arrived.at(-1)!.searchParams.get('error')).to.equal('access_denied');
      expect(await grantsOf(person)).to.deep.equal([]);
      await page.context().close();
    }
  });

  it('identifies an app without a name by its redirect URI', async () => {
    const person = await all.fixture.createUser({ role: 'developer' });
    const { page } = await all.browser.open(person, '/profile');
    for (const [redirect, where] of [
      ['https://chat.example/callback', 'You will be redirected to chat.example.'],
      [
        'cursor://anysphere.cursor-mcp/oauth/callback',
        'You will be redirected to the app that opens cursor: links.',
      ],
    ] as const) {
      await page.goto(
        all.ask(await all.client({ client_name: undefined, redirect_uris: [redirect] })).url,
      );
      await consentShown(page);
      expect(await pageText(page))
        .to.include('An app without a name wants to create PDFs on your behalf.')
        .and.include(where);
    }
    await page.context().close();
  });

  it('shows the longest names on a phone, and markup in names as text', async () => {
    const person = await all.fixture.createUser({ role: 'developer' });
    const second = await all.fixture.account2();
    await joinTeam(all.fixture.store, second, person.id, 'owner');
    await all.fixture.store.accounts.updateOne(
      { _id: second },
      { $set: { name: 'W'.repeat(100) } },
    );
    const { page, expectNoErrors } = await all.browser.open(person, '/profile');
    const redirect = `https://${'w'.repeat(60)}.${'w'.repeat(60)}.example/cb`;
    await page.goto(
      all.ask(await all.client({ client_name: 'W'.repeat(200), redirect_uris: [redirect] })).url,
    );
    await consentShown(page);
    await looks(page, 'consent-long');
    await page.goto(all.ask(await all.client({ client_name: HOSTILE })).url);
    await consentShown(page);
    expect(await pageText(page)).to.include(`“${HOSTILE}”`);
    expect(await page.locator('img[src="x"]').count()).to.equal(0);
    expectNoErrors();
    await page.context().close();
  });

  it('works without JavaScript', async () => {
    const person = await all.fixture.createUser({ role: 'developer' });
    const { page } = await all.browser.open(person, '/profile', { javaScriptEnabled: false });
    await page.goto(all.ask(await all.client()).url);
    await press(page, 'Allow');
    await appShown(page);
    await page.context().close();
  });

  it('asks again when another user has signed in in another tab', async () => {
    const { fixture, browser } = all;
    const ada = await userWithPassword(fixture, { role: 'developer' });
    const ben = await userWithPassword(fixture, { role: 'owner' });
    const { page } = await browser.open(undefined, '/sign-in');
    await page.goto(all.ask(await all.client()).url);
    await signIn(page, ada);
    await consentShown(page);
    const other = await page.context().newPage();
    await other.goto(`${browser.origin}/app/profile`);
    await other.getByRole('button', { name: /user menu/ }).click();
    await other.getByRole('menuitem', { name: 'Sign out' }).click();
    await signIn(other, ben);
    await other.waitForURL(`${browser.origin}/app`);

    await press(page, 'Allow');
    await page.getByText('You are now signed in as a different user.').waitFor();
    expect(await pageText(page))
      .to.include(ben.email)
      .and.not.include(ada.email);
    expect(await grantsOf(ada)).to.deep.equal([]);
    expect(await grantsOf(ben)).to.deep.equal([]);
    await press(page, 'Allow');
    await appShown(page);
    expect(await grantsOf(ada)).to.deep.equal([]);
    expect(await grantsOf(ben)).to.have.length(1);
    await page.context().close();
  });

  it('keeps the request when a different user signs in', async () => {
    const { fixture, browser } = all;
    const ada = await fixture.createUser({ role: 'viewer' });
    const ben = await userWithPassword(fixture, { role: 'developer' });
    const { page } = await browser.open(ada, '/profile');
    await page.goto(all.ask(await all.client({ client_name: 'An Asker' })).url);
    await consentShown(page);
    await press(page, 'Use a different account');
    await signIn(page, ben);
    await consentShown(page);
    expect(await pageText(page))
      .to.include('“An Asker”')
      .and.include(ben.email);
    expect((await ada.call('GET', '/me')).status).to.equal(401);
    await press(page, 'Allow');
    await appShown(page);
    expect(await grantsOf(ben)).to.have.length(1);
    await page.context().close();
  });
});
