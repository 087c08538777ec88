import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { Secret, TOTP } from 'otpauth';
import { createDevices } from '../../../api/console/auth/devices.ts';
import { createLogin } from '../../../api/console/auth/login.ts';
import { createSessions } from '../../../api/console/auth/sessions.ts';
import { TwoFactor } from '../../../api/console/auth/two-factor.ts';
import { createCookies } from '../../../api/console/kit/cookies.ts';
import { createAudit } from '../../../api/console/security/audit.ts';
import { createUsers } from '../../../api/console/users/users.ts';
import type { Context } from '../../../api/http/state.ts';
import type { UserDocument } from '../../../api/store/store.ts';
import {
  CONSOLE_SECRET,
  type ConsoleFixture,
  consoleFixture,
} from '../../support/console/console-fixture.ts';
import { cookieClient } from '../../support/cookie-client.ts';

const PASSWORD = 'correct horse battery';

describe('the dashboard under attack', () => {
  let fixture: ConsoleFixture;
  before(async () => {
    fixture = await consoleFixture({ workers: 0, env: { PRESSROOM_TRUSTED_PROXIES: '127.0.0.1' } });
  });
  after(() => fixture.stop());

  const newUser = (password?: string) =>
    createUsers(fixture.store).create({
      email: `${randomUUID()}@example.com`,
      name: 'Ada',
      password,
    });

  it('rejects a session cookie that another host of the domain could have set', async () => {
    const { cookie, call } = await fixture.createUser({ role: 'owner' });
    for (const before of ['\u00a0', 'x=y; \u00a0', '\u00a0 ', 'x', 'x='])
      expect(
        (await call('GET', '/me', undefined, { cookie: `${before}${cookie}` })).status,
        JSON.stringify(before),
      ).to.equal(401);
    for (const before of ['', 'x=y; ', 'x=y;', 'x=y;\t'])
      expect(
        (await call('GET', '/me', undefined, { cookie: `${before}${cookie}` })).status,
        JSON.stringify(before),
      ).to.equal(200);
  });

  it('counts wrong codes even with a correct password in between', async () => {
    const { _id, email } = await newUser(PASSWORD);
    const who = cookieClient(fixture.api.port(), { ip: '192.0.2.1' });
    await who.post('/app/sign-in', { email, password: PASSWORD });
    const anHourAgo = Date.now() - 3600e3;
    const twoFactor = new TwoFactor(
      fixture.store,
      { secret: CONSOLE_SECRET, label: 'test' },
      () => anHourAgo,
    );
    const stored = async () => (await createUsers(fixture.store).byId(_id))!;
    const { secret } = await twoFactor.begin(await stored());
    await twoFactor.confirm(
      await stored(),
      TOTP.generate({ secret: Secret.fromBase32(secret), timestamp: anHourAgo }),
    );

    const statuses: number[] = [];
    for (let round = 0; round < 3; round += 1) {
      // Neither a code of the app nor a recovery code.
      for (let guess = 0; guess < 2; guess += 1)
        statuses.push(
          (await who.api('DELETE', '/me/two-factor', { code: `wrong-${guess}` })).status,
        );
      const confirmed = await who.api('POST', '/me/two-factor', { password: PASSWORD });
      expect(confirmed.status, 'the second factor is on').to.equal(409);
    }
    expect(statuses).to.deep.equal([400, 400, 400, 400, 400, 429]);
  });

  describe('rejects a sign-in that was started', () => {
    /** The parts of a form request that the login reads, and the cookies that it set. */
    function visit() {
      const set: string[] = [];
      const ctx = {
        req: { socket: { remoteAddress: '192.0.2.7' } },
        get: () => '',
        append: (_: string, cookie: string) => set.push(cookie),
      };
      return { ctx: ctx as unknown as Context, set };
    }

    async function enter(
      user: UserDocument,
    ): Promise<{ error: unknown; set: string[]; sessions: number }> {
      const { store } = fixture;
      const cookies = createCookies('https://press.example');
      const [sessions, users, audit] = [
        createSessions(store),
        createUsers(store),
        createAudit(store),
      ];
      const devices = createDevices(CONSOLE_SECRET, cookies);
      const { ctx, set } = visit();
      const login = createLogin({ sessions, cookies, users, audit, devices, trustedProxies: [] });
      const error = await login.openSession(ctx, user, 'password').catch((error: unknown) => error);
      return { error, set, sessions: (await sessions.listOf(user._id)).length };
    }
    const rejected = async (user: UserDocument) => {
      const { error, set, sessions } = await enter(user);
      expect(error).to.include({ code: 'unauthorized' });
      expect([set, sessions]).to.deep.equal([[], 0]);
    };

    it('before the password was changed', async () => {
      const before = await newUser(PASSWORD);
      await createUsers(fixture.store).setPassword(before._id, 'another long password');
      await rejected(before);
    });

    it('before two-factor authentication was turned on', async () => {
      const before = await newUser(PASSWORD);
      const twoFactor = {
        secret: 'sealed',
        recoveryCodes: [],
        lastStep: 0,
        confirmedAt: new Date(),
      };
      await fixture.store.console.users.updateOne({ _id: before._id }, { $set: { twoFactor } });
      await rejected(before);
    });

    it('before the user was disabled, also after the user is enabled again', async () => {
      const before = await newUser(PASSWORD);
      await fixture.store.console.users.updateOne(
        { _id: before._id },
        { $set: { disabled: true } },
      );
      await rejected(before);
    });

    it('unless nothing changed', async () => {
      const { error, set, sessions } = await enter(await newUser(PASSWORD));
      expect(error).to.equal(undefined);
      expect(set[0]).to.match(/^__Host-pressroom-session=[\w-]{43};/);
      expect(sessions).to.equal(1);
    });
  });

  it('revokes the invitations of a former operator, except those that a member may still create', async () => {
    const chief = await fixture.createUser({ operator: true });
    const former = await fixture.createUser({ operator: true, role: 'admin' });
    const other = await fixture.account2();
    const invite = (role: string) => ({ email: `${randomUUID()}@example.com`, role });
    for (const [account, role] of [
      [other, 'owner'],
      [fixture.accountId, 'owner'],
      [fixture.accountId, 'viewer'],
    ] as const)
      await former.good('POST', `/operator/accounts/${account}/invitations`, invite(role));
    const open = async (_id: string) =>
      (await fixture.store.console.teams.findOne({ _id }))!.invitations.map(({ role }) => role);
    expect([await open(other), await open(fixture.accountId)]).to.deep.equal([
      ['owner'],
      ['owner', 'viewer'],
    ]);

    await chief.good('PATCH', `/operator/users/${former.id}`, { operator: false });
    expect([await open(other), await open(fixture.accountId)]).to.deep.equal([[], ['viewer']]);
  });

  it('rejects an address that changes in lower case', async () => {
    const owner = await fixture.createUser({ role: 'owner' });
    // The Kelvin sign, whose lower case is a plain `k`.
    const answer = await owner.call('POST', `/accounts/${fixture.accountId}/team/invitations`, {
      email: 'mi\u212ae@example.com',
      role: 'viewer',
    });
    expect(answer.status).to.equal(400);
    expect(answer.body.toString()).to.include('`email` must be an email address');
  });
});
