import { expect } from 'chai';
import {
  newLogin,
  pathOf,
  type SsoFixture,
  ssoFixture,
  visibleText,
} from '../../support/console/sso-fixture.ts';

describe('single sign-on', () => {
  let fixture: SsoFixture;
  before(async () => {
    fixture = await ssoFixture();
  });
  after(() => fixture.stop());

  const userOf = (email: string) => fixture.store.console.users.findOne({ email });
  const member = (user: string, role: 'developer' | 'viewer' = 'developer') =>
    fixture.store.console.teams.updateOne(
      { _id: fixture.accountId },
      { $push: { members: { user, role, since: new Date() } }, $setOnInsert: { invitations: [] } },
      { upsert: true },
    );

  describe('when it redirects to the provider', () => {
    it('requests a code with PKCE, state and nonce, and a callback at the public URL whatever the Host header', async () => {
      const { headers } = await fixture
        .client()
        .get('/app/sign-in/company', { host: 'evil.example' });
      const asked = new URL(headers['location']!);
      expect(asked.origin).to.equal(fixture.provider.issuer);
      const query = Object.fromEntries(asked.searchParams);
      expect(query).to.include({
        response_type: 'code',
        client_id: fixture.provider.clientId,
        redirect_uri: 'http://localhost:8080/app/sign-in/company/callback',
        code_challenge_method: 'S256',
        scope: 'openid email profile',
      });
      for (const name of ['state', 'nonce', 'code_challenge'])
        expect(query[name], name).to.match(/^[\w-]{43}$/);
    });

    it('keeps its state encrypted in an HttpOnly cookie of ten minutes', async () => {
      const visitor = fixture.client();
      const { headers } = await visitor.get('/app/sign-in/company');
      const [cookie] = headers['set-cookie'] as unknown as string[];
      expect(cookie).to.match(
        /^__Host-pressroom-company=[\w-]+; Path=\/; HttpOnly; SameSite=Lax; Max-Age=600; Secure$/,
      );
      const { state, nonce } = Object.fromEntries(new URL(headers['location']!).searchParams);
      const value = Buffer.from(/=([^;]+)/.exec(cookie!)![1]!, 'base64url').toString('latin1');
      expect(value).to.not.include(state).and.not.include(nonce);
    });

    it('shows its button on the sign-in page with the path to return to', async () => {
      const { body } = await fixture.client().get('/app/sign-in?next=%2Fapp%2Fkeys', {});
      expect(body.toString())
        .to.include('href="/app/sign-in/company?next=%2Fapp%2Fkeys"')
        .and.include('Sign in with SSO');
    });
  });

  describe('of a new user', () => {
    it('creates a user without a password, linked by issuer and subject, and explains that an invitation is needed', async () => {
      const ada = newLogin();
      const visitor = fixture.client();
      const answer = await fixture.signIn(visitor, ada);
      expect(answer.status).to.equal(200);
      expect(visibleText(answer)).to.include(`signed in as ${ada.email}`).and.include('invitation');
      expect(await visitor.me()).to.include({
        email: ada.email,
        name: 'Ada Lovelace',
        company: true,
        operator: false,
      });
      const user = (await userOf(ada.email))!;
      expect(user.identities).to.deep.equal([
        { issuer: fixture.provider.issuer, subject: ada.subject },
      ]);
      expect(user.password).to.equal(undefined);
    });

    it('stores the address in lower case', async () => {
      const ada = newLogin();
      await fixture.signIn(fixture.client(), {
        ...ada,
        claims: { ...ada.claims, email: ada.email.toUpperCase().replace('@EXAMPLE', '@Example') },
      });
      expect(await userOf(ada.email)).to.not.equal(null);
    });

    it('uses the address as the name when the claim is invalid', async () => {
      const ada = newLogin({ name: 'forged\nline' });
      await fixture.signIn(fixture.client(), ada);
      expect((await userOf(ada.email))!.name).to.equal(ada.email.split('@')[0]);
    });

    for (const [what, claims] of [
      ['is not verified', { email_verified: false }],
      ['is not said to be verified', { email_verified: undefined }],
      ['is verified by a word instead of `true`', { email_verified: 'true' }],
    ] as const)
      it(`rejects an address that ${what}`, async () => {
        const ada = newLogin(claims);
        const visitor = fixture.client();
        const answer = await fixture.signIn(visitor, ada);
        expect(answer.status).to.equal(403);
        expect(visibleText(answer)).to.include('not verified');
        expect(await visitor.me()).to.equal(undefined);
        expect(await userOf(ada.email)).to.equal(null);
      });

    for (const domain of [
      'evil-example.com',
      'example.com.evil.org',
      'sub.example.com',
      'example.co',
      'com',
    ])
      it(`rejects an address of ${domain} when example.com is allowed`, async () => {
        const email = `ada@${domain}`;
        const answer = await fixture.signIn(fixture.client(), newLogin({ email }));
        expect(answer.status).to.equal(403);
        expect(await userOf(email)).to.equal(null);
      });

    it('rejects an address that only resembles the domain', async () => {
      for (const email of [
        'ada@evil.org@example.com',
        '"ada@evil.org"@example.com',
        'ada@example.com ,x@evil.org',
        'example.com',
        '',
      ])
        expect(
          (await fixture.signIn(fixture.client(), newLogin({ email }))).status,
          email,
        ).to.equal(403);
    });

    it('rejects a user without an address', async () => {
      const answer = await fixture.signIn(fixture.client(), newLogin({ email: undefined }));
      expect(answer.status).to.equal(403);
      expect(visibleText(answer)).to.include('did not send an email address');
    });

    it('creates one user from two concurrent first sign-ins', async () => {
      const ada = newLogin();
      const visitors = [fixture.client(), fixture.client(), fixture.client()];
      const statuses = await Promise.all(
        visitors.map(async visitor => (await fixture.signIn(visitor, ada)).status),
      );
      expect(statuses).to.deep.equal([200, 200, 200]);
      expect(await fixture.store.console.users.countDocuments({ email: ada.email })).to.equal(1);
    });

    it('escapes names and addresses', async () => {
      const answer = await fixture.signIn(
        fixture.client(),
        newLogin({ name: '<img src=x onerror=alert(1)>' }),
      );
      expect(answer.body.toString()).to.include('&lt;img').and.not.include('<img');
    });
  });

  describe('of a known user', () => {
    async function known() {
      const ada = newLogin();
      await fixture.signIn(fixture.client(), ada);
      const user = (await userOf(ada.email))!;
      await member(user._id);
      return { ada, user };
    }

    it('redirects to the requested page in a new session', async () => {
      const { ada, user } = await known();
      const visitor = fixture.client();
      const answer = await fixture.signIn(visitor, ada, '/app/keys?page=2');
      expect(answer.status).to.equal(303);
      expect(answer.headers['location']).to.equal('/app/keys?page=2');
      expect((await visitor.me())!.id).to.equal(user._id);
      const sessions = await fixture.store.console.sessions.find({ user: user._id }).toArray();
      expect(sessions.map(({ method }) => method)).to.deep.equal(['company', 'company']);
      expect([...visitor.cookies.keys()]).to.not.include('__Host-pressroom-company');
    });

    it('does not redirect to another site', async () => {
      const { ada } = await known();
      for (const next of ['https://evil.org/app', '//evil.org', '/app\\..\\evil', '/console/v1/me'])
        expect(
          (await fixture.signIn(fixture.client(), ada, next)).headers['location'],
          next,
        ).to.equal('/app');
    });

    it('recognizes a user whose address changed at the provider, and keeps the stored address', async () => {
      const { ada, user } = await known();
      const visitor = fixture.client();
      await fixture.signIn(visitor, {
        ...ada,
        claims: { ...ada.claims, email: 'married@example.com', email_verified: false },
      });
      expect(await visitor.me()).to.include({ id: user._id, email: ada.email });
    });

    it('rejects another subject with the same address', async () => {
      const { ada, user } = await known();
      const visitor = fixture.client();
      const answer = await fixture.signIn(visitor, { ...newLogin(), claims: ada.claims });
      expect(answer.status).to.equal(409);
      expect(await visitor.me()).to.equal(undefined);
      expect((await userOf(ada.email))!.identities).to.deep.equal(user.identities);
    });

    it('links another subject after an operator unlinked the previous one', async () => {
      const { ada, user } = await known();
      const before = fixture.client();
      await fixture.signIn(before, ada);
      const operator = await fixture.createUser({ operator: true });
      await operator.good('PATCH', `/operator/users/${user._id}`, { company: false });
      expect(await before.me(), 'the sessions of before').to.equal(undefined);
      const visitor = fixture.client();
      await fixture.signIn(visitor, { ...newLogin(), claims: ada.claims });
      expect((await visitor.me())!.id).to.equal(user._id);
      const act = await fixture.store.console.audit.findOne({ action: 'user.company_unlinked' });
      expect(act).to.include({ actor: operator.email, target: ada.email });
    });

    it('rejects a disabled user', async () => {
      const { ada, user } = await known();
      await fixture.store.console.users.updateOne({ _id: user._id }, { $set: { disabled: true } });
      const visitor = fixture.client();
      const answer = await fixture.signIn(visitor, ada);
      expect(answer.status).to.equal(403);
      expect(visibleText(answer)).to.include('Your login is disabled');
      expect(await visitor.me()).to.equal(undefined);
    });

    it('rejects a user who moved to a domain that is not allowed', async () => {
      const { ada } = await known();
      expect(
        (
          await fixture.signIn(fixture.client(), {
            ...ada,
            claims: { ...ada.claims, email: 'ada@evil.org' },
          })
        ).status,
      ).to.equal(403);
    });

    it('does not ask for the second factor of the dashboard', async () => {
      const { ada, user } = await known();
      const twoFactor = {
        secret: 'sealed',
        recoveryCodes: [],
        lastStep: 0,
        confirmedAt: new Date(),
      };
      await fixture.store.console.users.updateOne({ _id: user._id }, { $set: { twoFactor } });
      const visitor = fixture.client();
      expect((await fixture.signIn(visitor, ada)).status).to.equal(303);
      expect((await visitor.me())!.id).to.equal(user._id);
    });

    it('writes user and method to the audit log', async () => {
      const { user } = await known();
      const acts = await fixture.store.console.audit
        .find({ user: user._id }, { sort: { at: 1 } })
        .toArray();
      expect(acts.map(({ action, details }) => [action, details])).to.deep.equal([
        ['person.created', { by: 'company' }],
        ['person.signed_in', { method: 'company' }],
      ]);
    });
  });

  it('links an existing user without a password by the address', async () => {
    const ada = newLogin();
    const id = `usr_${ada.subject}`;
    await fixture.store.console.users.insertOne({
      _id: id,
      email: ada.email,
      name: 'Ada',
      operator: false,
      identities: [],
      createdAt: new Date(),
    });
    const visitor = fixture.client();
    await fixture.signIn(visitor, ada);
    expect((await visitor.me())!.id).to.equal(id);
    expect((await userOf(ada.email))!.identities).to.deep.equal([
      { issuer: fixture.provider.issuer, subject: ada.subject },
    ]);
  });

  it('adds a new user to the configured account, once', async () => {
    const variant = await fixture.variant({
      PRESSROOM_OIDC_ACCOUNT: fixture.account,
      PRESSROOM_OIDC_ROLE: 'viewer',
    });
    const ada = newLogin();
    const visitor = fixture.client(variant);
    expect((await fixture.signIn(visitor, ada)).status).to.equal(303);
    const me = (await visitor.me())!;
    expect(me.accounts.map(({ id, role }) => [id, role])).to.deep.equal([
      [fixture.accountId, 'viewer'],
    ]);
    await fixture.store.console.teams.updateOne(
      { _id: fixture.accountId },
      { $pull: { members: { user: me.id } } },
    );
    await fixture.signIn(visitor, ada);
    expect((await visitor.me())!.accounts, 'was removed, and stays so').to.deep.equal([]);
  });

  it('accepts unverified addresses when configured', async () => {
    const variant = await fixture.variant({ PRESSROOM_OIDC_TRUST_EMAIL: 'on' });
    const ada = newLogin({ email_verified: undefined });
    const visitor = fixture.client(variant);
    await fixture.signIn(visitor, ada);
    expect((await visitor.me())!.email).to.equal(ada.email);
  });

  it('redirects to the setup while no user exists', async () => {
    const fresh = await ssoFixture();
    try {
      await fresh.store.console.users.deleteMany({});
      const { headers } = await fresh.client().get('/app/sign-in/company');
      expect(headers['location']).to.equal('/app/setup');
    } finally {
      await fresh.stop();
    }
  });

  it('has no routes when it is not configured', async () => {
    const variant = await fixture.variant({
      PRESSROOM_OIDC_ISSUER: '',
      PRESSROOM_OIDC_CLIENT_ID: '',
      PRESSROOM_OIDC_CLIENT_SECRET: '',
      PRESSROOM_OIDC_DOMAINS: '',
    });
    const visitor = fixture.client(variant);
    expect((await visitor.get(pathOf('/app/sign-in/company'))).headers['location']).to.match(
      /^\/app\/sign-in\?next=/,
    );
    expect((await visitor.get('/app/sign-in', {})).body.toString()).to.not.include(
      '/app/sign-in/company',
    );
  });
});
