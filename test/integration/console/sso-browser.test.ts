// Single sign-on in a real browser: through the pages of the provider, after an error, and for a user
// who has a password.
import { expect } from 'chai';
import { type ConsoleBrowser, looks } from '../../support/console/console-browser.ts';
import { newLogin } from '../../support/console/sso-fixture.ts';
import { PASSWORD, signInAtProvider, userWithPassword } from '../../support/pages/page-steps.ts';
import { type PublicUrlFixture, publicUrlFixture } from '../../support/public-url-fixture.ts';
import type { TestProvider } from '../../support/servers/identity-provider.ts';

describe('single sign-on in a browser', function () {
  this.timeout(120_000);
  let provider: TestProvider;
  let all: PublicUrlFixture;
  let browser: ConsoleBrowser;
  before(async () => {
    all = await publicUrlFixture({ company: true });
    ({ browser } = all);
    provider = all.provider!;
  });
  after(() => all?.stop());

  it('opens a session through the provider on another site, without scripts', async () => {
    const ada = newLogin();
    provider.addLogin(ada);
    const { page } = await browser.open(undefined, '/sign-in', { javaScriptEnabled: false });
    await signInAtProvider(page, ada.subject);
    await page.getByRole('heading', { name: 'Welcome, Ada Lovelace' }).waitFor();
    const cookies = await page.context().cookies();
    expect(cookies.map(({ name }) => name))
      .to.include('__Host-pressroom-session')
      .and.not.include('__Host-pressroom-company');
    await page.context().close();
  });

  it('shows an accessible error page with links back', async () => {
    const { page } = await browser.open(undefined, '/sign-in');
    const eve = newLogin({ email: 'eve@evil-example.com' });
    provider.addLogin(eve);
    await signInAtProvider(page, eve.subject);
    await page.getByRole('alert').filter({ hasText: 'eve@evil-example.com' }).waitFor();
    await looks(page, 'company-rejected');
    await page.getByRole('link', { name: 'Other ways to sign in' }).click();
    await page.getByRole('heading', { name: 'Sign in' }).waitFor();
    await looks(page, 'company-sign-in');
    await page.context().close();
  });

  it('asks for the password of an existing user and signs in', async () => {
    const person = await userWithPassword(all.fixture, { operator: true });
    const ada = newLogin({ email: person.email });
    provider.addLogin(ada);
    const { page } = await browser.open(undefined, '/sign-in');
    await signInAtProvider(page, ada.subject);
    await page.getByRole('heading', { name: 'Link your login' }).waitFor();
    await looks(page, 'company-link');
    await page.getByLabel(`Password for ${person.email}`).fill(PASSWORD);
    await page.keyboard.press('Enter');
    await page.waitForURL(url => url.pathname === '/app');
    const { identities } = (await all.fixture.store.console.users.findOne({ _id: person.id }))!;
    expect(identities).to.deep.equal([{ issuer: provider.issuer, subject: ada.subject }]);
    await page.context().close();
  });
});
