// @proves popup-consent
// The consent page in a pop-up: the web app that opened the window keeps its reference through every
// sign-in method.
import { expect } from 'chai';
import { Secret, TOTP } from 'otpauth';
import { TwoFactor } from '../../api/console/auth/two-factor.ts';
import { createUsers } from '../../api/console/users/users.ts';
import { type ConsentFixture, consentFixture } from '../support/console/consent-fixture.ts';
import { looks } from '../support/console/console-browser.ts';
import { CONSOLE_SECRET } from '../support/console/console-fixture.ts';
import { newLogin } from '../support/console/sso-fixture.ts';
import { eventually } from '../support/eventually.ts';
import {
  consentShown,
  PASSWORD,
  pageText,
  press,
  signIn,
  signInAtProvider,
  userWithPassword,
} from '../support/pages/page-steps.ts';

describe('consent pop-up', function () {
  this.timeout(120_000);
  let all: ConsentFixture;
  before(async () => {
    all = await consentFixture();
  });
  after(() => all?.stop());

  it('stays connected to its opener through password and two-factor sign-in', async () => {
    const { fixture, browser } = all;
    const person = await userWithPassword(fixture, { role: 'developer' });
    const user = async () => (await createUsers(fixture.store).byEmail(person.email))!;
    const anHourAgo = Date.now() - 3600e3;
    const twoFactor = new TwoFactor(
      fixture.store,
      { secret: CONSOLE_SECRET, label: 'Pressroom' },
      () => anHourAgo,
    );
    const secret = Secret.fromBase32((await twoFactor.begin(await user())).secret);
    await twoFactor.confirm(await user(), TOTP.generate({ secret, timestamp: anHourAgo }));

    const { page: tab } = await browser.open(undefined, '/sign-in');
    const popup = await all.popup(tab, await all.client());
    await signIn(popup, person, 'wrong');
    await popup.getByText('Incorrect email address or password.').waitFor();
    await signIn(popup, person);
    await popup.getByLabel('Code').fill('000000');
    await press(popup, 'Sign in');
    await popup.getByText('This code is incorrect').waitFor();
    await popup.getByRole('link', { name: 'Use a recovery code' }).click();
    await popup.getByRole('link', { name: 'Use your authenticator app' }).click();
    await popup.getByLabel('Code').fill(TOTP.generate({ secret }));
    await press(popup, 'Sign in');
    await consentShown(popup);
    expect(await all.appStatus(tab)).to.equal('waiting');
    await press(popup, 'Allow');
    await eventually(async () => expect(await all.appStatus(tab)).to.equal('connected'));
    expect(await fixture.store.console.oauthGrants.countDocuments({ user: person.id })).to.equal(1);
    await tab.context().close();
  });

  it('stays connected to its opener on a client error and shows how to fix it', async () => {
    const { page: tab } = await all.browser.open(undefined, '/sign-in');
    const popup = await all.popup(tab, { ...(await all.client()), id: 'unknown' });
    await popup.getByRole('heading', { name: 'Could not connect the app' }).waitFor();
    expect(await pageText(popup)).to.include('Remove the connection in the app and add it again');
    await looks(popup, 'consent-error');
    expect(await all.appStatus(tab)).to.equal('waiting');
    await popup.close();
    await eventually(async () => expect(await all.appStatus(tab)).to.equal('lost'));
    await tab.context().close();
  });

  it('disconnects from its opener on every other page', async () => {
    const { page: tab } = await all.browser.open(undefined, '/sign-in');
    const popup = await all.popup(tab, await all.client());
    await popup.getByLabel('Email').waitFor();
    await popup.goto(`${all.browser.origin}/app/sign-in?next=/app/keys`);
    await eventually(async () => expect(await all.appStatus(tab)).to.equal('lost'));
    await tab.context().close();
  });
});

describe('consent pop-up with SSO', function () {
  this.timeout(120_000);
  let all: ConsentFixture;
  before(async () => {
    all = await consentFixture({ company: true });
  });
  after(() => all?.stop());

  it('stays connected to its opener when the first SSO attempt fails', async () => {
    const { fixture, browser } = all;
    const person = await userWithPassword(fixture, { role: 'developer' });
    const ada = newLogin({ email: person.email });
    all.provider!.addLogin(ada);
    const { page: tab } = await browser.open(undefined, '/sign-in');
    const popup = await all.popup(tab, await all.client());
    await signInAtProvider(popup, '');
    await popup.getByRole('heading', { name: 'Sign-in failed' }).waitFor();
    await popup.getByRole('link', { name: 'Other ways to sign in' }).click();
    await signInAtProvider(popup, '');
    await signInAtProvider(popup, ada.subject, 'Try again');
    await popup.getByRole('heading', { name: 'Link your login' }).waitFor();
    await popup.getByLabel(/^Password for/).fill(PASSWORD);
    await press(popup, 'Link and sign in');
    await consentShown(popup);
    expect(await all.appStatus(tab)).to.equal('waiting');
    await press(popup, 'Allow');
    await eventually(async () => expect(await all.appStatus(tab)).to.equal('connected'));
    await tab.context().close();
  });

  it('lets a user without an account cancel the request', async () => {
    const eve = newLogin();
    all.provider!.addLogin(eve);
    const { page: tab } = await all.browser.open(undefined, '/sign-in');
    const popup = await all.popup(tab, await all.client());
    await signInAtProvider(popup, eve.subject);
    await popup.getByText('You do not have permission to render in any account').waitFor();
    await press(popup, 'Cancel');
    await eventually(async () => expect(await all.appStatus(tab)).to.equal('access_denied'));
    await tab.context().close();
  });
});
