// @proves invitations

import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { INVITATION_MS, Invitations } from '../../../api/console/users/invitations.ts';
import { createTeams } from '../../../api/console/users/teams.ts';
import type { Role } from '../../../api/store/store.ts';
import {
  type ConsoleFixture,
  consoleFixture,
  type TestUser,
} from '../../support/console/console-fixture.ts';
import {
  type CookieClient,
  SESSION,
  cookieClient as visitorOf,
} from '../../support/cookie-client.ts';

const PASSWORD = 'correct horse battery staple';

describe('an invitation', () => {
  let fixture: ConsoleFixture;
  let account: string;
  let owner: TestUser;
  before(async () => {
    fixture = await consoleFixture({ workers: 0 });
  });
  beforeEach(async () => {
    account = await fixture.account2();
    owner = await fixture.createUser({ role: 'owner', account });
  });
  after(() => fixture.stop());

  async function invited(email = `${randomUUID()}@example.com`, role: Role = 'developer') {
    const { link, invitation } = await owner.good<{ link: string; invitation: { id: string } }>(
      'POST',
      `/accounts/${account}/team/invitations`,
      {
        email,
        role,
      },
    );
    return { email, id: invitation.id, link, token: link.split('#')[1]! };
  }
  function browser(person?: TestUser): CookieClient {
    const visitor = visitorOf(fixture.api.port());
    if (person) visitor.cookies.set(SESSION, person.cookie.split('=')[1]!);
    return visitor;
  }
  async function opened(token: string, person?: TestUser): Promise<CookieClient> {
    const visitor = browser(person);
    const answer = await visitor.post('/app/invitation', { token });
    expect(answer.status).to.equal(303);
    expect(answer.headers['location']).to.equal('/app/invitation/accept');
    return visitor;
  }
  async function isNotFoundBy(token: string): Promise<void> {
    const { status, html } = await (await opened(token)).get('/app/invitation/accept');
    expect(status).to.equal(404);
    expect(html).to.include('was already used');
  }
  const join = (visitor: CookieClient, fields: Record<string, string> = {}) =>
    visitor.post('/app/invitation/accept', {
      as: 'new',
      name: 'Ada Lovelace',
      password: PASSWORD,
      ...fields,
    });
  const members = async () =>
    (await fixture.store.console.teams.findOne({ _id: account }))!.members;
  const userOf = (email: string) => fixture.store.console.users.findOne({ email });

  it('opens a page that asks for the code, works without scripts and contains no token', async () => {
    const { token } = await invited();
    const { status, headers, body } = await fixture.call('GET', '/app/invitation', {
      'sec-fetch-site': 'cross-site',
    });
    expect(status).to.equal(200);
    expect(headers['content-security-policy'])
      .to.include("default-src 'none'")
      .and.not.include('unsafe');
    expect(headers['cache-control']).to.equal('no-store');
    expect(body.toString()).to.include('name="token"').and.not.include(token);
  });

  it('creates a user with a session and the invited role', async () => {
    const { email, token } = await invited();
    const visitor = await opened(token);
    const page = (await visitor.get('/app/invitation/accept')).html;
    expect(page).to.include(email).and.include('developer').and.include('name="password"');
    const answer = await join(visitor);
    expect([answer.status, answer.headers['location']]).to.deep.equal([303, '/app']);
    const user = (await userOf(email))!;
    expect(user).to.include({ name: 'Ada Lovelace', operator: false });
    expect(user.password).to.match(/^\$argon2id\$/);
    expect((await members()).find(({ user: id }) => id === user._id)).to.include({
      role: 'developer',
    });
    expect((await visitor.get('/console/v1/me')).status).to.equal(200);
    expect([...visitor.cookies.keys()]).not.to.include('__Host-pressroom-invitation');
    expect(
      await fixture.store.console.audit.findOne({ account, action: 'member.joined' }),
    ).to.include({
      target: email,
      user: user._id,
    });
  });

  it('accepts the whole link in place of the code', async () => {
    const { link } = await invited();
    await opened(` ${link} `);
  });

  it('shows errors at the fields and creates no user', async () => {
    const { email, token } = await invited();
    const visitor = await opened(token);
    const answer = await join(visitor, { name: 'Ada', password: 'short' });
    expect(answer.status).to.equal(400);
    expect(answer.body.toString())
      .to.include('at least 12 characters')
      .and.include('value="Ada"')
      .and.not.include('"short"');
    expect(await userOf(email)).to.equal(null);
    expect((await join(visitor)).status).to.equal(303);
  });

  it('works once when used concurrently', async () => {
    const { email, token } = await invited();
    const visitors = await Promise.all(Array.from({ length: 5 }, () => opened(token)));
    const answers = await Promise.all(visitors.map(visitor => join(visitor)));
    expect(
      answers.filter(({ status, headers }) => status === 303 && headers['location'] === '/app'),
    ).to.have.length(1);
    expect(await fixture.store.console.users.countDocuments({ email })).to.equal(1);
    expect(await members()).to.have.length(2);
    await isNotFoundBy(token);
  });

  it('is accepted once when a user clicks twice', async () => {
    const { email, token } = await invited();
    await fixture.store.console.users.insertOne({
      _id: 'usr_twice',
      email,
      name: 'T',
      operator: false,
      identities: [],
      createdAt: new Date(),
    });
    const teams = createTeams(fixture.store);
    const invitations = new Invitations(fixture.store, teams);
    const outcomes = await Promise.all(
      Array.from({ length: 6 }, () => invitations.accept(token, 'usr_twice')),
    );
    expect(outcomes.filter(Boolean)).to.have.length(1);
    expect((await members()).filter(({ user }) => user === 'usr_twice')).to.have.length(1);
  });

  it('leaves no user behind when it is revoked while the form is open', async () => {
    const { email, id, token } = await invited();
    const visitor = await opened(token);
    await owner.good('DELETE', `/accounts/${account}/team/invitations/${id}`);
    expect((await join(visitor)).status).to.equal(404);
    expect(await userOf(email)).to.equal(null);
    expect(await members()).to.have.length(1);
  });

  it('expires after seven days', async () => {
    const { token } = await invited();
    let ms = Date.now();
    const invitations = new Invitations(fixture.store, createTeams(fixture.store), () => ms);
    ms += INVITATION_MS - 60_000;
    expect(await invitations.find(token)).not.to.equal(undefined);
    ms += 61_000;
    expect(await invitations.find(token)).to.equal(undefined);
    expect(await invitations.accept(token, owner.id)).to.equal(undefined);
  });

  it('is accepted with one button by the invited user', async () => {
    const person = await fixture.createUser();
    const { token } = await invited(person.email, 'admin');
    const visitor = await opened(token, person);
    expect((await visitor.get('/app/invitation/accept')).html).to.include('Accept');
    expect(
      (await visitor.post('/app/invitation/accept', { as: 'member' })).headers['location'],
    ).to.equal('/app');
    expect((await members()).find(({ user }) => user === person.id)).to.include({ role: 'admin' });
  });

  it('sends an existing user to the sign-in and back', async () => {
    const person = await fixture.createUser();
    const { token } = await invited(person.email);
    const visitor = await opened(token);
    const page = (await visitor.get('/app/invitation/accept')).html;
    expect(page)
      .to.include('/app/sign-in?next=%2Fapp%2Finvitation%2Faccept')
      .and.not.include('name="password"');
    expect((await join(visitor)).headers['location']).to.equal('/app/invitation/accept');
    expect(await members()).to.have.length(1);
  });

  it('offers another user only to sign out', async () => {
    const other = await fixture.createUser();
    const { token } = await invited((await fixture.createUser()).email);
    const visitor = await opened(token, other);
    const look = await visitor.get('/app/invitation/accept');
    expect(look.status).to.equal(403);
    expect(look.body.toString()).to.include(other.email).and.include('Sign out');
    for (const as of ['member', 'new'])
      await visitor.post('/app/invitation/accept', { as, name: 'Eve', password: PASSWORD });
    expect(await members()).to.have.length(1);
    await visitor.post('/app/invitation/accept', { as: 'other-user' });
    expect((await other.call('GET', '/me')).status).to.equal(401);
  });

  it('is rejected for a disabled user', async () => {
    const person = await fixture.createUser();
    const { token } = await invited(person.email);
    await fixture.store.console.users.updateOne({ _id: person.id }, { $set: { disabled: true } });
    const look = await (await opened(token, person)).get('/app/invitation/accept');
    expect(look.status).to.equal(403);
    expect(look.body.toString()).to.include('disabled');
    const invitations = new Invitations(fixture.store, createTeams(fixture.store));
    let rejected: unknown;
    await invitations.accept(token, person.id).catch(error => {
      rejected = error;
    });
    expect(rejected).to.include({ code: 'forbidden' });
    expect(await members()).to.have.length(1);
  });

  it('does not adopt a session token that was in the browser before', async () => {
    const { token } = await invited();
    const visitor = await opened(token);
    visitor.cookies.set(SESSION, 'x'.repeat(43));
    await join(visitor);
    expect(visitor.cookies.get(SESSION))
      .to.match(/^[\w-]{43}$/)
      .and.not.equal('x'.repeat(43));
  });

  it('is not accepted from a form of another site', async () => {
    const person = await fixture.createUser();
    const { token } = await invited(person.email);
    const visitor = await opened(token, person);
    for (const site of ['cross-site', 'same-site', 'none'])
      expect(
        (await visitor.post('/app/invitation/accept', { as: 'member' }, { 'sec-fetch-site': site }))
          .status,
        site,
      ).to.equal(403);
    expect(
      (
        await visitor.post(
          '/app/invitation/accept',
          { as: 'member' },
          { 'sec-fetch-site': '', origin: 'https://evil.example' },
        )
      ).status,
    ).to.equal(403);
    expect(await members()).to.have.length(1);
  });

  it('escapes account names and addresses', async () => {
    await fixture.store.accounts.updateOne(
      { _id: account },
      { $set: { name: `<img src=x onerror=alert(1)> ${account}` } },
    );
    const { token } = await invited();
    const page = (await (await opened(token)).get('/app/invitation/accept')).html;
    expect(page).to.include('&lt;img src=x').and.not.include('<img');
  });

  for (const [what, token] of [
    ['no code', ''],
    ['a code of another length', 'abc'],
    ['a code that does not exist', 'A'.repeat(43)],
    ['an operator of the database', '{"$gt":""}'],
  ] as const)
    it(`is not found by ${what}`, async () => {
      await isNotFoundBy(token);
    });
});
