import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { Secret, TOTP } from 'otpauth';
import { TwoFactor } from '../../../api/console/auth/two-factor.ts';
import { passwords } from '../../../api/console/security/passwords.ts';
import { CONSOLE_SECRET, type ConsoleFixture } from '../../support/console/console-fixture.ts';
import {
  newLogin,
  type SsoClient,
  type SsoFixture,
  ssoFixture,
  visibleText,
} from '../../support/console/sso-fixture.ts';

const LINK = '/app/sign-in/company/link';
const PASSWORD = 'a password of the tests';

describe('single sign-on for a user with a password', () => {
  let fixture: SsoFixture;
  let hash: string;
  before(async () => {
    fixture = await ssoFixture();
    hash = await passwords.hash(PASSWORD, 'a test');
  });
  after(() => fixture.stop());

  /** A user of the identity provider whose address belongs to a member with a password here. */
  async function withPassword({ operator = false } = {}) {
    const ada = newLogin();
    const id = `usr_${randomUUID()}`;
    await fixture.store.console.users.insertOne({
      _id: id,
      email: ada.email,
      name: 'Ada',
      operator,
      password: hash,
      identities: [],
      createdAt: new Date(),
    });
    await fixture.store.console.teams.updateOne(
      { _id: fixture.accountId },
      {
        $push: { members: { user: id, role: 'developer', since: new Date() } },
        $setOnInsert: { invitations: [] },
      },
      { upsert: true },
    );
    return { ada, id };
  }

  async function arrived(of?: ConsoleFixture) {
    const { ada, id } = await withPassword();
    const visitor = fixture.client(of);
    const answer = await fixture.signIn(visitor, ada, '/app/keys');
    expect([answer.status, answer.headers['location']]).to.deep.equal([303, LINK]);
    return { ada, id, visitor };
  }

  const identitiesOf = async (id: string) =>
    (await fixture.store.console.users.findOne({ _id: id }))!.identities;

  it('neither links by the address alone nor opens a session', async () => {
    const { id, visitor } = await arrived();
    expect(await visitor.me()).to.equal(undefined);
    expect(await identitiesOf(id)).to.deep.equal([]);
  });

  it('asks for the password once, links, and redirects to the requested page', async () => {
    const { ada, id, visitor } = await arrived();
    expect(visibleText(await visitor.get(LINK))).to.include(ada.email);
    const answer = await visitor.post(LINK, { password: PASSWORD });
    expect([answer.status, answer.headers['location']]).to.deep.equal([303, '/app/keys']);
    expect((await visitor.me())!.id).to.equal(id);
    expect(await identitiesOf(id)).to.deep.equal([
      { issuer: fixture.provider.issuer, subject: ada.subject },
    ]);
    const again = fixture.client();
    expect((await fixture.signIn(again, ada)).headers['location']).to.equal('/app');
    expect((await again.me())!.id).to.equal(id);
    const acts = await fixture.store.console.audit
      .find({ user: id }, { sort: { at: 1 } })
      .toArray();
    expect(acts.map(({ action }) => action)).to.deep.equal([
      'person.company_linked',
      'person.signed_in',
      'person.signed_in',
    ]);
  });

  it('rejects a wrong password and limits guesses', async () => {
    const { id, visitor } = await arrived();
    for (let guess = 0; guess < 5; guess += 1) {
      const answer = await visitor.post(LINK, { password: `guess ${guess}` });
      expect(answer.status).to.equal(401);
      expect(visibleText(answer)).to.include('Incorrect password.');
    }
    const answer = await visitor.post(LINK, { password: PASSWORD });
    expect(answer.status).to.equal(429);
    expect(Number(answer.headers['retry-after'])).to.be.greaterThan(0);
    expect(await identitiesOf(id)).to.deep.equal([]);
    expect(await visitor.me()).to.equal(undefined);
  });

  it('never sends the input back', async () => {
    const { visitor } = await arrived();
    expect((await visitor.post(LINK, { password: 'not this one' })).body.toString()).to.not.include(
      'not this one',
    );
    expect((await visitor.post(LINK, { password: '' })).status).to.equal(401);
  });

  it('also asks for the second factor, and for neither afterwards', async () => {
    const { id, visitor } = await arrived();
    const twoFactor = new TwoFactor(fixture.store, { secret: CONSOLE_SECRET, label: 'a test' });
    const user = async () => (await fixture.store.console.users.findOne({ _id: id }))!;
    const { secret } = await twoFactor.begin(await user());
    const codeAt = (timestamp: number) =>
      new TOTP({ secret: Secret.fromBase32(secret) }).generate({ timestamp });
    const [recovery] = await twoFactor.confirm(await user(), codeAt(Date.now()));
    expect((await visitor.get(LINK)).body.toString()).to.include('name="code"');
    expect((await visitor.post(LINK, { password: PASSWORD })).status).to.equal(401);
    expect((await visitor.post(LINK, { password: PASSWORD, code: '000000' })).status).to.equal(401);
    expect((await visitor.post(LINK, { password: 'wrong', code: recovery! })).status).to.equal(401);
    expect(await identitiesOf(id)).to.deep.equal([]);
    expect((await visitor.post(LINK, { password: PASSWORD, code: recovery! })).status).to.equal(
      303,
    );
    expect(await identitiesOf(id)).to.have.length(1);
  });

  it('rejects a form of another site', async () => {
    const { id, visitor } = await arrived();
    const answer = await visitor.post(
      LINK,
      { password: PASSWORD },
      { 'sec-fetch-site': 'cross-site', origin: 'https://evil.example' },
    );
    expect(answer.status).to.equal(403);
    expect(await identitiesOf(id)).to.deep.equal([]);
  });

  it('rejects a request that did not come from the provider', async () => {
    const { visitor } = await arrived();
    for (const stranger of [fixture.client(), other('__Host-pressroom-company', 'A'.repeat(200))]) {
      expect((await stranger.get(LINK)).status).to.equal(400);
      expect((await stranger.post(LINK, { password: PASSWORD })).status).to.equal(400);
    }
    // What is kept for one step is not good for the other.
    const left = fixture.client();
    await fixture.startSignIn(left);
    expect((await left.get(LINK)).status).to.equal(400);
    expect((await visitor.get('/app/sign-in/company/callback?code=a&state=b')).status).to.equal(
      400,
    );

    function other(name: string, value: string): SsoClient {
      const made = fixture.client();
      made.cookies.set(name, value);
      return made;
    }
  });

  it('rejects a user who was disabled in the meantime', async () => {
    const { id, visitor } = await arrived();
    await fixture.store.console.users.updateOne({ _id: id }, { $set: { disabled: true } });
    expect((await visitor.post(LINK, { password: PASSWORD })).status).to.equal(400);
    expect(await visitor.me()).to.equal(undefined);
  });

  it('does not link a second subject, even with the password', async () => {
    const { ada, id, visitor } = await arrived();
    const late = fixture.client();
    await fixture.signIn(late, { ...newLogin(), claims: ada.claims });
    await visitor.post(LINK, { password: PASSWORD });
    const answer = await late.post(LINK, { password: PASSWORD });
    expect(answer.status).to.equal(409);
    expect(await identitiesOf(id)).to.deep.equal([
      { issuer: fixture.provider.issuer, subject: ada.subject },
    ]);
    expect(await late.me()).to.equal(undefined);
  });

  it('asks for the password although the address is invited', async () => {
    const { ada, id } = await withPassword();
    await fixture.store.console.teams.updateOne(
      { _id: await fixture.account2() },
      {
        $set: {
          members: [],
          invitations: [
            {
              id: 'inv_1',
              hash: randomUUID(),
              email: ada.email,
              role: 'admin',
              by: id,
              createdAt: new Date(),
              expiresAt: new Date(Date.now() + 1e6),
            },
          ],
        },
      },
      { upsert: true },
    );
    expect((await fixture.signIn(fixture.client(), ada)).headers['location']).to.equal(LINK);
  });

  const COMPANY_AND_BACK = '/app/sign-in/company?next=%2Fapp%2Finvitation%2Faccept';

  /** The page that a new person with `email` is shown by the link of an invitation. */
  async function invited(visitor: SsoClient, email: string): Promise<string> {
    const owner = await fixture.createUser({ role: 'owner' });
    const invitation = { email, role: 'viewer' };
    const { link } = await owner.good<{ link: string }>(
      'POST',
      `/accounts/${fixture.accountId}/team/invitations`,
      invitation,
    );
    await visitor.post('/app/invitation', { token: new URL(link).hash.slice(1) });
    return (await visitor.get('/app/invitation/accept', {})).body.toString();
  }

  it('does not create a user with an SSO address by an invitation', async () => {
    const ada = newLogin();
    const visitor = fixture.client();
    expect(await invited(visitor, ada.email))
      .to.include(COMPANY_AND_BACK)
      .and.not.include('new-password');
    await visitor.post('/app/invitation/accept', {
      as: 'new',
      name: 'Ada',
      password: 'a new password of Ada',
    });
    expect(await fixture.store.console.users.findOne({ email: ada.email })).to.equal(null);
    expect(
      (await fixture.signIn(visitor, ada, '/app/invitation/accept')).headers['location'],
    ).to.equal('/app/invitation/accept');
    await visitor.post('/app/invitation/accept', { as: 'member' });
    expect((await visitor.me())!.accounts.map(({ role }) => role)).to.deep.equal(['viewer']);
  });

  it('lets an invited user outside the SSO domains set a password', async () => {
    const visitor = fixture.client();
    const email = `ada.${Date.now()}@elsewhere.example`;
    expect(await invited(visitor, email))
      .to.include('new-password')
      .and.not.include(COMPANY_AND_BACK);
    await visitor.post('/app/invitation/accept', {
      as: 'new',
      name: 'Ada',
      password: 'a new password of Ada',
    });
    expect((await visitor.me())!.email).to.equal(email);
  });

  describe('when passwords are turned off', () => {
    let variant: ConsoleFixture;
    before(async () => {
      variant = await fixture.variant({ PRESSROOM_PASSWORDS: 'off' });
    });

    const signIn = (visitor: SsoClient, email: string, password = PASSWORD) =>
      visitor.post('/app/sign-in', { email, password });

    it('rejects sign-ins with a password', async () => {
      const { ada } = await withPassword();
      const visitor = fixture.client(variant);
      const answer = await signIn(visitor, ada.email);
      expect(answer.status).to.equal(403);
      expect(visibleText(answer)).to.include(
        'Password sign-in is turned off. Use “Sign in with SSO” instead.',
      );
      expect(await visitor.me()).to.equal(undefined);
    });

    it('does not reveal whether a wrong password is wrong', async () => {
      const { ada } = await withPassword();
      expect((await signIn(fixture.client(variant), ada.email, 'a guess')).status).to.equal(401);
    });

    it('lets operators sign in with a password', async () => {
      const { ada, id } = await withPassword({ operator: true });
      const visitor = fixture.client(variant);
      expect((await signIn(visitor, ada.email)).status).to.equal(303);
      expect((await visitor.me())!.id).to.equal(id);
    });

    it('still accepts the password once, to link a user', async () => {
      const { id, visitor } = await arrived(variant);
      expect((await visitor.post(LINK, { password: PASSWORD })).status).to.equal(303);
      expect((await visitor.me())!.id).to.equal(id);
    });

    it('shows the SSO button first', async () => {
      const page = (await fixture.client(variant).get('/app/sign-in', {})).body.toString();
      expect(page.indexOf('/app/sign-in/company')).to.be.within(0, page.indexOf('name="password"'));
    });

    it('sends invited users to single sign-on', async () => {
      const visitor = fixture.client(variant);
      expect(await invited(visitor, 'ada@elsewhere.example'))
        .to.include(COMPANY_AND_BACK)
        .and.not.include('new-password');
    });
  });
});
