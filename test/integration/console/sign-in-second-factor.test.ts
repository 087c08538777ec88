import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { Secret, TOTP } from 'otpauth';
import { createPendingTwoFactor } from '../../../api/console/auth/pending-two-factor.ts';
import { TwoFactor } from '../../../api/console/auth/two-factor.ts';
import type { Cookies } from '../../../api/console/kit/cookies.ts';
import { createUsers } from '../../../api/console/users/users.ts';
import {
  CONSOLE_SECRET,
  type ConsoleFixture,
  consoleFixture,
} from '../../support/console/console-fixture.ts';
import {
  type CookieClient,
  cookieClient,
  SECOND_FACTOR,
  SESSION,
} from '../../support/cookie-client.ts';

const PASSWORD = 'correct horse battery';
const STEP_MS = 30_000;

describe('a sign-in with two-factor authentication', () => {
  let fixture: ConsoleFixture;
  let email: string;
  let userId: string;
  let secret: string;
  let recoveryCodes: string[];
  let ips = 0;

  const twoFactor = (now = () => Date.now()) =>
    new TwoFactor(fixture.store, { secret: CONSOLE_SECRET, label: 'Pressroom test' }, now);
  const stored = async () => (await createUsers(fixture.store).byId(userId))!;
  /** What the app shows so many steps from now. */
  const appCode = (steps = 0, atMs = Date.now()) =>
    TOTP.generate({ secret: Secret.fromBase32(secret), timestamp: atMs + steps * STEP_MS });
  /**
   * Never one of the three that are good, nor six digits that could become one while the test runs.
   */
  const wrongCode = () => {
    const good = new Set([-2, -1, 0, 1, 2, 3].map(steps => appCode(steps)));
    return ['000000', '111111', '222222', '333333', '444444', '555555', '666666'].find(
      code => !good.has(code),
    )!;
  };

  const browser = (): CookieClient => cookieClient(fixture.api.port(), { ip: `192.0.2.${++ips}` });
  async function halfWay(who = browser(), next = ''): Promise<CookieClient> {
    const { status, location } = await who.post(`/app/sign-in${next}`, {
      email,
      password: PASSWORD,
    });
    expect(status).to.equal(303);
    expect(location).to.equal(`/app/sign-in/code${next}`);
    return who;
  }
  const send = (who: CookieClient, code: string, next = '') =>
    who.post(`/app/sign-in/code${next}`, { code });

  before(async () => {
    fixture = await consoleFixture({ workers: 0, env: { PRESSROOM_TRUSTED_PROXIES: '127.0.0.1' } });
  });
  after(() => fixture.stop());

  beforeEach(async () => {
    email = `${randomUUID()}@example.com`;
    userId = (await createUsers(fixture.store).create({ email, name: 'Ada', password: PASSWORD }))
      ._id;
    // Set up an hour ago: the codes of now are all new.
    const anHourAgo = Date.now() - 3600e3;
    ({ secret } = await twoFactor(() => anHourAgo).begin(await stored()));
    recoveryCodes = await twoFactor(() => anHourAgo).confirm(await stored(), appCode(0, anHourAgo));
  });

  it('opens no session for the password alone', async () => {
    const who = await halfWay();
    expect(who.cookies.has(SESSION)).to.equal(false);
    expect((await who.api('GET', '/me')).status).to.equal(401);
  });

  it('opens a session with a code of the app and redirects to the requested page', async () => {
    const who = await halfWay(browser(), '?next=%2Fapp%2Fkeys');
    const { status, location } = await send(who, appCode(), '?next=%2Fapp%2Fkeys');
    expect([status, location]).to.deep.equal([303, '/app/keys']);
    expect((await who.api('GET', '/me')).status).to.equal(200);
    expect(who.cookies.has(SECOND_FACTOR)).to.equal(false);
  });

  it('accepts the codes of the adjacent time steps and no others', async () => {
    const at = Date.parse('2026-11-10T12:00:00Z');
    const use = async (steps: number) => {
      await fixture.store.console.users.updateOne(
        { _id: userId },
        { $set: { 'twoFactor.lastStep': 0 } },
      );
      return twoFactor(() => at).use(await stored(), appCode(steps, at));
    };
    expect(await use(-2)).to.equal(false);
    expect(await use(-1)).to.equal('app');
    expect(await use(0)).to.equal('app');
    expect(await use(1)).to.equal('app');
    expect(await use(2)).to.equal(false);
  });

  it('accepts a code once', async () => {
    const code = appCode();
    expect((await send(await halfWay(), code)).status).to.equal(303);
    const again = await send(await halfWay(), code);
    expect(again.status).to.equal(401);
    expect(again.html).to.include('was already used');
  });

  it('rejects a code older than one that was used', async () => {
    const at = Date.now();
    const user = await stored();
    expect(await twoFactor(() => at).use(user, appCode(0, at))).to.equal('app');
    expect(await twoFactor(() => at).use(user, appCode(-1, at))).to.equal(false);
  });

  it('accepts one of two concurrent requests with the same code', async () => {
    const [one, other] = [await halfWay(), await halfWay()];
    const code = appCode();
    const answers = await Promise.all([send(one, code), send(other, code)]);
    expect(answers.map(({ status }) => status).sort()).to.deep.equal([303, 401]);
  });

  it('accepts each recovery code once, in any notation', async () => {
    const [first] = recoveryCodes;
    const who = await halfWay();
    expect((await who.get('/app/sign-in/code?recovery')).html).to.include('Recovery code');
    expect((await send(who, ` ${first!.toUpperCase().replaceAll('-', ' ')}`)).status).to.equal(303);
    expect((await send(await halfWay(), first!)).status).to.equal(401);
    expect((await stored()).twoFactor!.recoveryCodes).to.have.length(9);
    expect(
      await fixture.store.console.audit.countDocuments({
        user: userId,
        action: 'person.recovery_code_used',
      }),
    ).to.equal(1);
  });

  it('accepts one of two concurrent requests with the same recovery code', async () => {
    const visitors = [await halfWay(), await halfWay()];
    const answers = await Promise.all(visitors.map(who => send(who, recoveryCodes[1]!)));
    expect(answers.map(({ status }) => status).sort()).to.deep.equal([303, 401]);
  });

  it('starts over after five wrong codes, even with a correct one', async () => {
    const who = await halfWay();
    const cookie = who.cookies.get(SECOND_FACTOR)!;
    for (let each = 0; each < 5; each += 1)
      expect((await send(who, wrongCode())).html).to.include('This code is incorrect');
    const sixth = await send(who, appCode());
    expect(sixth.status).to.equal(401);
    expect(sixth.html).to.include('Too many incorrect codes').and.include('Sign in again');
    expect(who.cookies.has(SECOND_FACTOR)).to.equal(false);
    who.cookies.set(SECOND_FACTOR, cookie);
    expect((await send(who, appCode())).status).to.equal(401);
  });

  it('writes wrong codes to the audit log, without the code', async () => {
    await send(
      await halfWay(cookieClient(fixture.api.port(), { ip: '198.51.100.9' })),
      wrongCode(),
    );
    const entry = await fixture.store.console.audit.findOne({
      user: userId,
      action: 'person.second_factor_failed',
    });
    expect(entry).to.include({ actor: email, ip: '198.51.100.9' });
    expect(entry).not.to.have.property('details');
  });

  it('asks for the password again after five minutes', async () => {
    let at = Date.now();
    let kept = '';
    const cookies: Pick<Cookies, 'passing' | 'setPassing'> = {
      passing: () => kept,
      setPassing: (_ctx, _name, value) => {
        kept = value;
      },
    };
    const step = createPendingTwoFactor(
      CONSOLE_SECRET,
      cookies as Cookies,
      createUsers(fixture.store),
      () => at,
    );
    step.begin({} as never, await stored(), 'password');
    at += 5 * 60_000 - 1;
    expect((await step.waiting({} as never))?.user._id).to.equal(userId);
    at += 1;
    expect(await step.waiting({} as never)).to.equal(undefined);
  });

  it('voids a pending login when the password changes', async () => {
    const thief = await halfWay();
    await createUsers(fixture.store).setPassword(userId, 'a new password of the owner');
    const { status, html } = await send(thief, appCode());
    expect(status).to.equal(401);
    expect(html).to.include('your password was changed in the meantime');
    expect(thief.cookies.has(SESSION)).to.equal(false);
  });

  it('voids a pending login when the second factor changes or the user is disabled', async () => {
    const who = await halfWay();
    await twoFactor().off(userId);
    await twoFactor().begin(await stored());
    expect((await who.get('/app/sign-in/code')).location).to.equal('/app/sign-in');
    const other = browser();
    await other.post('/app/sign-in', { email, password: PASSWORD });
    expect((await other.api('GET', '/me')).status).to.equal(200);
  });

  it('rejects a user who was disabled between the two steps', async () => {
    const who = await halfWay();
    await fixture.store.console.users.updateOne({ _id: userId }, { $set: { disabled: true } });
    expect((await send(who, appCode())).status).to.equal(401);
    expect(who.cookies.has(SESSION)).to.equal(false);
  });

  it('rejects a forged or modified cookie', async () => {
    const who = await halfWay();
    const cookie = who.cookies.get(SECOND_FACTOR)!;
    for (const forged of [
      'x',
      cookie.slice(0, -2) + (cookie.endsWith('AA') ? 'BB' : 'AA'),
      `${cookie}A`.repeat(2),
    ]) {
      who.cookies.set(SECOND_FACTOR, forged);
      expect((await send(who, appCode())).status, forged).to.equal(401);
    }
  });

  it('rejects a form of another site', async () => {
    const who = await halfWay();
    expect(
      (await who.post('/app/sign-in/code', { code: appCode() }, { 'sec-fetch-site': 'cross-site' }))
        .status,
    ).to.equal(403);
  });

  it('sets the numeric keyboard and one-time-code autocomplete', async () => {
    const { html } = await (await halfWay()).get('/app/sign-in/code');
    expect(html).to.include('autocomplete="one-time-code"').and.include('inputmode="numeric"');
  });

  it('stores the secret encrypted and recovery codes as hashes', async () => {
    const text = JSON.stringify(await stored());
    expect(text).not.to.include(secret);
    for (const code of recoveryCodes)
      expect(text).not.to.include(code).and.not.include(code.replaceAll('-', ''));
  });

  it('reports a changed PRESSROOM_SECRET and still accepts a recovery code', async () => {
    const changed = new TwoFactor(fixture.store, {
      secret: 'another secret, long enough',
      label: 'x',
    });
    const rejected = await changed.use(await stored(), appCode()).catch(error => error);
    expect(rejected.message).to.include('PRESSROOM_SECRET').and.include('recovery code');
    expect(await changed.use(await stored(), recoveryCodes[2]!)).to.equal('recovery');
  });
});
