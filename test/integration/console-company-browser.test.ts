import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { passwords } from '../../api/console/people/passwords.ts';
import { type TestProvider, testProvider } from '../support/company-provider.ts';
import { somebody } from '../support/company-rig.ts';
import { barriers, type ConsoleBrowser, consoleBrowser, picture, SIZES } from '../support/console-browser.ts';
import { type ConsoleRig, consoleRig } from '../support/console-rig.ts';
import { freePort } from '../support/free-port.ts';

const PASSWORD = 'a password of the tests';

describe('the sign-in of the company in a browser', function () {
  this.timeout(120_000);
  let provider: TestProvider;
  let rig: ConsoleRig;
  let browser: ConsoleBrowser;
  before(async () => {
    // The callback is registered before the installation listens.
    const port = await freePort();
    const publicUrl = `http://localhost:${port}`;
    provider = await testProvider({ callback: `${publicUrl}/app/sign-in/company/callback` });
    rig = await consoleRig({
      workers: 0,
      env: { ...provider.env, PRESSROOM_PORT: String(port), PRESSROOM_PUBLIC_URL: publicUrl, PRESSROOM_OIDC_NAME: 'Example account' },
    });
    await rig.person({ operator: true });
    browser = await consoleBrowser(rig);
  });
  after(async () => {
    await browser?.close();
    await rig?.stop();
    await provider?.stop();
  });

  async function signIn(page: Page, subject: string): Promise<void> {
    await page.getByRole('link', { name: 'Example account' }).click();
    await page.getByLabel('Login').fill(subject);
    await page.getByRole('button', { name: 'Go on' }).click();
  }

  /** In light and dark, on a desktop and a phone. */
  async function looks(page: Page, name: string): Promise<void> {
    for (const colorScheme of ['light', 'dark'] as const)
      for (const size of ['desktop', 'phone'] as const) {
        await page.emulateMedia({ colorScheme });
        await page.setViewportSize(SIZES[size]);
        await picture(page, `${name}-${size}-${colorScheme}`);
        expect(await barriers(page), `${name}, ${size}, ${colorScheme}`).to.deep.equal([]);
        expect(await page.evaluate('document.documentElement.scrollWidth')).to.be.at.most(SIZES[size].width);
      }
  }

  it('leads over the provider, which is another site, into a session, without scripts', async () => {
    const ada = somebody();
    provider.knows(ada);
    const { page } = await browser.open(undefined, '/sign-in', { javaScriptEnabled: false });
    await signIn(page, ada.subject);
    await page.getByRole('heading', { name: 'Welcome, Ada Lovelace' }).waitFor();
    const cookies = await page.context().cookies();
    expect(cookies.map(({ name }) => name))
      .to.include('__Host-pressroom-session')
      .and.not.include('__Host-pressroom-company');
    await page.context().close();
  });

  it('can be read by everybody when it goes wrong, and leads back', async () => {
    const { page } = await browser.open(undefined, '/sign-in');
    const eve = somebody({ email: 'eve@evil-example.com' });
    provider.knows(eve);
    await signIn(page, eve.subject);
    await page.getByRole('alert').filter({ hasText: 'eve@evil-example.com' }).waitFor();
    await looks(page, 'company-refused');
    await page.getByRole('link', { name: 'Other ways to sign in' }).click();
    await page.getByRole('heading', { name: 'Sign in' }).waitFor();
    await looks(page, 'company-sign-in');
    await page.context().close();
  });

  it('asks whose the address is, and signs in with the password', async () => {
    const ada = somebody();
    provider.knows(ada);
    const user = {
      _id: `usr_${randomUUID()}`,
      email: ada.email,
      name: 'Ada',
      operator: true,
      password: await passwords.hash(PASSWORD),
      identities: [],
      createdAt: new Date(),
    };
    await rig.store.console.users.insertOne(user);
    const { page } = await browser.open(undefined, '/sign-in');
    await signIn(page, ada.subject);
    await page.getByRole('heading', { name: 'Is this you?' }).waitFor();
    await looks(page, 'company-link');
    await page.getByLabel(`Password of ${ada.email}`).fill(PASSWORD);
    await page.keyboard.press('Enter');
    await page.waitForURL(url => url.pathname === '/app');
    const { identities } = (await rig.store.console.users.findOne({ _id: user._id }))!;
    expect(identities).to.deep.equal([{ issuer: provider.issuer, subject: ada.subject }]);
    await page.context().close();
  });
});
