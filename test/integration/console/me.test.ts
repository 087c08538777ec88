import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { createSessions, SESSION_IDLE_MS } from '../../../api/console/auth/sessions.ts';
import { hashToken } from '../../../api/console/security/tokens.ts';
import { createUsers } from '../../../api/console/users/users.ts';
import { type ConsoleFixture, consoleFixture } from '../../support/console/console-fixture.ts';
import { type CookieClient, cookieClient, SESSION } from '../../support/cookie-client.ts';

const PASSWORD = 'correct horse battery';
const NEXT = 'staple of another horse';

describe('a signed-in user', () => {
  let fixture: ConsoleFixture;
  let email: string;
  let userId: string;
  let ips = 0;

  async function signedIn(): Promise<CookieClient> {
    const who = cookieClient(fixture.api.port(), { ip: `192.0.2.${++ips}` });
    expect((await who.post('/app/sign-in', { email, password: PASSWORD })).status).to.equal(303);
    return who;
  }
  const json = async (who: CookieClient, method: string, path: string, body?: unknown) =>
    JSON.parse((await who.api(method, path, body)).body.toString());

  before(async () => {
    fixture = await consoleFixture({
      workers: 0,
      env: {
        PRESSROOM_TRUSTED_PROXIES: '127.0.0.1',
        PRESSROOM_PLANS: 'team=16:50000',
        PRESSROOM_RENDER_LOG_KEEP: '48h',
      },
    });
  });
  after(() => fixture.stop());
  beforeEach(async () => {
    email = `${randomUUID()}@example.com`;
    userId = (await createUsers(fixture.store).create({ email, name: 'Ada', password: PASSWORD }))
      ._id;
  });

  it('reads their profile, their accounts with permissions, and the settings of the installation', async () => {
    await fixture.store.console.teams.updateOne(
      { _id: fixture.accountId },
      {
        $push: { members: { user: userId, role: 'billing', since: new Date() } },
        $setOnInsert: { invitations: [] },
      },
      { upsert: true },
    );
    const me = await json(await signedIn(), 'GET', '/me');
    expect(me.user).to.deep.equal({
      id: userId,
      email,
      name: 'Ada',
      operator: false,
      hasPassword: true,
      twoFactor: { on: false, recoveryCodesLeft: 0 },
      company: false,
    });
    expect(me.accounts).to.deep.equal([
      {
        id: fixture.accountId,
        name: fixture.account,
        role: 'billing',
        permissions: ['account.read', 'usage.read', 'team.read', 'billing.read', 'billing.write'],
      },
    ]);
    expect(me.installation).to.include({
      publicUrl: 'http://localhost:8080',
      companySignIn: null,
      renderLogDays: 2,
      asyncRenders: true,
    });
    expect(me.installation.plans).to.deep.include({
      name: 'team',
      parallel: 16,
      monthlyQuota: 50_000,
    });
  });

  it('changes only their name', async () => {
    const who = await signedIn();
    expect((await json(who, 'PATCH', '/me', { name: ' Ada L. ' })).user.name).to.equal('Ada L.');
    const rejected = await who.api('PATCH', '/me', { name: 'Ada', operator: true });
    expect(rejected.status).to.equal(400);
    expect(rejected.error().message).to.include('operator');
    expect((await createUsers(fixture.store).byId(userId))!.operator).to.equal(false);
  });

  describe('with a password', () => {
    it('changes it, which ends all other sessions', async () => {
      const [who, elsewhere] = [await signedIn(), await signedIn()];
      expect(
        (await who.api('POST', '/me/password', { current: PASSWORD, next: NEXT })).status,
      ).to.equal(204);
      expect((await who.api('GET', '/me')).status).to.equal(200);
      expect((await elsewhere.api('GET', '/me')).status).to.equal(401);
      const again = cookieClient(fixture.api.port(), { ip: '198.51.100.1' });
      expect((await again.post('/app/sign-in', { email, password: PASSWORD })).status).to.equal(
        401,
      );
      expect((await again.post('/app/sign-in', { email, password: NEXT })).status).to.equal(303);
    });

    it('writes the change to the audit log without passwords', async () => {
      await (await signedIn()).api('POST', '/me/password', { current: PASSWORD, next: NEXT });
      const entry = await fixture.store.console.audit.findOne({
        user: userId,
        action: 'person.password_changed',
      });
      expect(JSON.stringify(entry))
        .to.include(email)
        .and.not.include(NEXT)
        .and.not.include(PASSWORD);
    });

    for (const [body, message] of [
      [{ next: NEXT }, '`current` must be your current password.'],
      [{ current: 'wrong', next: NEXT }, '`current` is not your current password.'],
      [{ current: PASSWORD, next: 'short' }, '`next` must be at least 12 characters.'],
      [{ current: PASSWORD, next: 'x'.repeat(201) }, '`next` must be at most 200 characters.'],
    ] as const)
      it(`gets an error for ${JSON.stringify(body).slice(0, 50)}`, async () => {
        const answer = await (await signedIn()).api('POST', '/me/password', body);
        // Not 401, at which the page would ask for a new sign-in.
        expect(answer.status).to.equal(400);
        expect(answer.error().message).to.equal(message);
      });

    it('is rate-limited after wrong current passwords', async () => {
      const who = await signedIn();
      for (let each = 0; each < 5; each += 1)
        await who.api('POST', '/me/password', { current: `guess ${each}`, next: NEXT });
      const held = await who.api('POST', '/me/password', { current: PASSWORD, next: NEXT });
      expect(held.status).to.equal(429);
      expect(Number(held.headers['retry-after'])).to.be.within(25, 30);
    });

    it('sets a first password without a current one', async () => {
      const person = await fixture.createUser();
      expect((await person.call('POST', '/me/password', { next: NEXT })).status).to.equal(204);
      expect((await person.call('POST', '/me/password', { next: PASSWORD })).status).to.equal(400);
    });
  });

  describe('with sessions', () => {
    it('lists them and marks the current one', async () => {
      const [who] = [await signedIn(), await signedIn()];
      const { items } = await json(who, 'GET', '/me/sessions');
      expect(items).to.have.length(2);
      expect(items.filter((each: { current: boolean }) => each.current)).to.have.length(1);
      expect(items[0]).to.have.all.keys(
        'id',
        'current',
        'method',
        'createdAt',
        'lastSeenAt',
        'ip',
        'userAgent',
      );
    });

    it('never receives a token or its hash', async () => {
      const who = await signedIn();
      const token = who.cookies.get(SESSION)!;
      for (const path of ['/me', '/me/sessions']) {
        const { body } = await who.api('GET', path);
        expect(body.toString()).not.to.include(token).and.not.include(hashToken(token));
      }
    });

    it('ends one of them', async () => {
      const [who, elsewhere] = [await signedIn(), await signedIn()];
      const { items } = await json(who, 'GET', '/me/sessions');
      const other = items.find((each: { current: boolean }) => !each.current);
      expect((await who.api('DELETE', `/me/sessions/${other.id}`)).status).to.equal(204);
      expect((await elsewhere.api('GET', '/me')).status).to.equal(401);
      expect((await who.api('DELETE', `/me/sessions/${other.id}`)).status).to.equal(404);
    });

    it('cannot end those of another user', async () => {
      const [who, stranger] = [await signedIn(), await fixture.createUser()];
      const { items } = await json(who, 'GET', '/me/sessions');
      expect((await stranger.call('DELETE', `/me/sessions/${items[0].id}`)).status).to.equal(404);
      expect((await who.api('GET', '/me')).status).to.equal(200);
    });

    it('ends all others at once', async () => {
      const [who, ...others] = [await signedIn(), await signedIn(), await signedIn()];
      expect((await who.api('DELETE', '/me/sessions')).status).to.equal(204);
      for (const other of others) expect((await other.api('GET', '/me')).status).to.equal(401);
      expect((await who.api('GET', '/me')).status).to.equal(200);
    });

    it('loses them immediately when disabled', async () => {
      const who = await signedIn();
      await fixture.store.console.users.updateOne({ _id: userId }, { $set: { disabled: true } });
      expect((await who.api('GET', '/me')).status).to.equal(401);
    });
  });

  describe('over time', () => {
    const opened = async (now: () => number) => {
      const sessions = createSessions(fixture.store, now);
      return {
        sessions,
        ...(await sessions.open({
          user: userId,
          method: 'password',
          ip: '192.0.2.1',
          userAgent: 'a test',
        })),
      };
    };

    it('stays signed in while active within each day', async () => {
      let at = Date.now();
      const { sessions, token } = await opened(() => at);
      for (let day = 0; day < 5; day += 1) {
        at += SESSION_IDLE_MS - 1_000;
        expect(await sessions.find(token)).to.have.nested.property('user.id', userId);
      }
      at += SESSION_IDLE_MS;
      expect(await sessions.find(token)).to.equal(undefined);
    });

    it('must sign in again after two weeks in any case', async () => {
      let at = Date.now();
      const { sessions, token } = await opened(() => at);
      for (let half = 0; half < 27; half += 1) {
        at += 12 * 3600e3;
        expect(await sessions.find(token), `half day ${half}`).to.have.nested.property(
          'user.id',
          userId,
        );
      }
      at += 12 * 3600e3;
      expect(await sessions.find(token)).to.equal(undefined);
    });

    it('has at most fifty sessions: the oldest ends', async () => {
      let at = Date.now();
      const { sessions, token } = await opened(() => at);
      for (let each = 0; each < 50; each += 1) {
        at += 1;
        await sessions.open({
          user: userId,
          method: 'password',
          ip: '192.0.2.1',
          userAgent: 'a test',
        });
      }
      expect(await sessions.listOf(userId)).to.have.length(50);
      expect(await sessions.find(token)).to.equal(undefined);
    });
  });
});
