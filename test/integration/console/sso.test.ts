import { expect } from 'chai';
import {
  newLogin,
  pathOf,
  type SsoFixture,
  ssoFixture,
  visibleText,
} from '../../support/console/sso-fixture.ts';

describe('the sign-in of the company', () => {
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

  describe('on the way to the provider', () => {
    it('asks for a code with PKCE, state and nonce, for a callback made from the public URL whatever the Host says', async () => {
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

    it('keeps what it must remember sealed, in a cookie of ten minutes that no script reads', async () => {
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

    it('offers it on the sign-in page, by its name, with the page that was asked for', async () => {
      const { body } = await fixture.client().get('/app/sign-in?next=%2Fapp%2Fkeys', {});
      expect(body.toString())
        .to.include('href="/app/sign-in/company?next=%2Fapp%2Fkeys"')
        .and.include('Company sign-in');
    });
  });

  describe('of somebody new', () => {
    it('makes a person without a password, linked by issuer and subject, who is told to wait for an invitation', async () => {
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

    it('takes the address as lower case', async () => {
      const ada = newLogin();
      await fixture.signIn(fixture.client(), {
        ...ada,
        claims: { ...ada.claims, email: ada.email.toUpperCase().replace('@EXAMPLE', '@Example') },
      });
      expect(await userOf(ada.email)).to.not.equal(null);
    });

    it('names a person without a good name by the address', async () => {
      const ada = newLogin({ name: 'forged\nline' });
      await fixture.signIn(fixture.client(), ada);
      expect((await userOf(ada.email))!.name).to.equal(ada.email.split('@')[0]);
    });

    for (const [what, claims] of [
      ['is not verified', { email_verified: false }],
      ['is not said to be verified', { email_verified: undefined }],
      ['is verified by a word instead of `true`', { email_verified: 'true' }],
    ] as const)
      it(`refuses an address that ${what}`, async () => {
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
      it(`refuses an address of ${domain} where example.com is allowed`, async () => {
        const email = `ada@${domain}`;
        const answer = await fixture.signIn(fixture.client(), newLogin({ email }));
        expect(answer.status).to.equal(403);
        expect(await userOf(email)).to.equal(null);
      });

    it('refuses an address that only looks like one of the domain', async () => {
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

    it('refuses who has no address', async () => {
      const answer = await fixture.signIn(fixture.client(), newLogin({ email: undefined }));
      expect(answer.status).to.equal(403);
      expect(visibleText(answer)).to.include('did not send an email address');
    });

    it('makes one person of two first sign-ins at once', async () => {
      const ada = newLogin();
      const visitors = [fixture.client(), fixture.client(), fixture.client()];
      const statuses = await Promise.all(
        visitors.map(async visitor => (await fixture.signIn(visitor, ada)).status),
      );
      expect(statuses).to.deep.equal([200, 200, 200]);
      expect(await fixture.store.console.users.countDocuments({ email: ada.email })).to.equal(1);
    });

    it('shows names and addresses as text', async () => {
      const answer = await fixture.signIn(
        fixture.client(),
        newLogin({ name: '<img src=x onerror=alert(1)>' }),
      );
      expect(answer.body.toString()).to.include('&lt;img').and.not.include('<img');
    });
  });

  describe('of somebody who came before', () => {
    async function known() {
      const ada = newLogin();
      await fixture.signIn(fixture.client(), ada);
      const user = (await userOf(ada.email))!;
      await member(user._id);
      return { ada, user };
    }

    it('opens the page that was asked for, in a session of its own', async () => {
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

    it('leads to no other site afterwards', async () => {
      const { ada } = await known();
      for (const next of ['https://evil.org/app', '//evil.org', '/app\\..\\evil', '/console/v1/me'])
        expect(
          (await fixture.signIn(fixture.client(), ada, next)).headers['location'],
          next,
        ).to.equal('/app');
    });

    it('knows a person whose address changed at the provider, and keeps the address of here', async () => {
      const { ada, user } = await known();
      const visitor = fixture.client();
      await fixture.signIn(visitor, {
        ...ada,
        claims: { ...ada.claims, email: 'married@example.com', email_verified: false },
      });
      expect(await visitor.me()).to.include({ id: user._id, email: ada.email });
    });

    it('does not take another subject with the same address for the same person', async () => {
      const { ada, user } = await known();
      const visitor = fixture.client();
      const answer = await fixture.signIn(visitor, { ...newLogin(), claims: ada.claims });
      expect(answer.status).to.equal(409);
      expect(await visitor.me()).to.equal(undefined);
      expect((await userOf(ada.email))!.identities).to.deep.equal(user.identities);
    });

    it('takes another subject for the person after an operator had the former one forgotten', async () => {
      const { ada, user } = await known();
      const before = fixture.client();
      await fixture.signIn(before, ada);
      const operator = await fixture.person({ operator: true });
      await operator.good('PATCH', `/operator/users/${user._id}`, { company: false });
      expect(await before.me(), 'the sessions of before').to.equal(undefined);
      const visitor = fixture.client();
      await fixture.signIn(visitor, { ...newLogin(), claims: ada.claims });
      expect((await visitor.me())!.id).to.equal(user._id);
      const act = await fixture.store.console.audit.findOne({ action: 'user.company_unlinked' });
      expect(act).to.include({ actor: operator.email, target: ada.email });
    });

    it('keeps out who is disabled', async () => {
      const { ada, user } = await known();
      await fixture.store.console.users.updateOne({ _id: user._id }, { $set: { disabled: true } });
      const visitor = fixture.client();
      const answer = await fixture.signIn(visitor, ada);
      expect(answer.status).to.equal(403);
      expect(visibleText(answer)).to.include('Your login is disabled');
      expect(await visitor.me()).to.equal(undefined);
    });

    it('keeps out who moved to a domain that is not allowed', async () => {
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

    it('asks nobody for the second factor of the dashboard', async () => {
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

    it('writes into the audit log who came, and how', async () => {
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

  it('links a person without a password and another identity, whose address somebody entered here', async () => {
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

  it('makes who comes the first time a member of the configured account, once', async () => {
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

  it('takes the word of a provider that says nothing of verification, where it is configured so', async () => {
    const variant = await fixture.variant({ PRESSROOM_OIDC_TRUST_EMAIL: 'on' });
    const ada = newLogin({ email_verified: undefined });
    const visitor = fixture.client(variant);
    await fixture.signIn(visitor, ada);
    expect((await visitor.me())!.email).to.equal(ada.email);
  });

  it('begins with the setup while there is nobody', async () => {
    const fresh = await ssoFixture();
    try {
      await fresh.store.console.users.deleteMany({});
      const { headers } = await fresh.client().get('/app/sign-in/company');
      expect(headers['location']).to.equal('/app/setup');
    } finally {
      await fresh.stop();
    }
  });

  it('is not there where it is not configured', async () => {
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
