import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { Secret, TOTP } from 'otpauth';
import { TwoFactor } from '../../../api/console/auth/two-factor.ts';
import { createUsers } from '../../../api/console/users/users.ts';
import {
  CONSOLE_SECRET,
  type ConsoleFixture,
  consoleFixture,
} from '../../support/console/console-fixture.ts';
import { type CookieClient, cookieClient } from '../../support/cookie-client.ts';

const PASSWORD = 'correct horse battery';

describe('two-factor settings', () => {
  let fixture: ConsoleFixture;
  let email: string;
  let userId: string;
  let who: CookieClient;
  let ips = 0;

  async function signedIn(): Promise<CookieClient> {
    const visit = cookieClient(fixture.api.port(), { ip: `192.0.2.${++ips}` });
    await visit.post('/app/sign-in', { email, password: PASSWORD });
    return visit;
  }
  const json = async (method: string, path: string, body?: unknown) => {
    const answer = await who.api(method, path, body);
    expect(answer.status, answer.body.toString()).to.equal(200);
    return JSON.parse(answer.body.toString());
  };
  const appCode = (secret: string, steps = 0) =>
    TOTP.generate({ secret: Secret.fromBase32(secret), timestamp: Date.now() + steps * 30_000 });
  async function on(): Promise<{ secret: string; recoveryCodes: string[] }> {
    const { secret } = await json('POST', '/me/two-factor', { password: PASSWORD });
    const { recoveryCodes } = await json('POST', '/me/two-factor/confirm', {
      code: appCode(secret),
    });
    return { secret, recoveryCodes };
  }
  const actions = async () =>
    (await fixture.store.console.audit.find({ user: userId }).toArray()).map(
      ({ action }) => action,
    );

  before(async () => {
    fixture = await consoleFixture({ workers: 0, env: { PRESSROOM_TRUSTED_PROXIES: '127.0.0.1' } });
  });
  after(() => fixture.stop());
  beforeEach(async () => {
    email = `${randomUUID()}@example.com`;
    userId = (await createUsers(fixture.store).create({ email, name: 'Ada', password: PASSWORD }))
      ._id;
    who = await signedIn();
  });

  it('return a secret as text, link and QR code', async () => {
    const { secret, uri, qrSvg } = await json('POST', '/me/two-factor', { password: PASSWORD });
    expect(secret).to.match(/^[A-Z2-7]{32}$/);
    expect(uri).to.match(/^otpauth:\/\/totp\//);
    const query = new URL(uri).searchParams;
    expect(Object.fromEntries(query)).to.deep.equal({
      issuer: 'Pressroom localhost:8080',
      secret,
      algorithm: 'SHA1',
      digits: '6',
      period: '30',
    });
    expect(decodeURIComponent(new URL(uri).pathname)).to.include(email);
    expect(qrSvg)
      .to.match(/^<svg[^>]*>/)
      .and.not.match(/<script|style=|on\w+=/);
  });

  it('stay off until a code confirms the secret', async () => {
    const { secret } = await json('POST', '/me/two-factor', { password: PASSWORD });
    expect((await json('GET', '/me')).user.twoFactor.on).to.equal(false);
    const wrong = await who.api('POST', '/me/two-factor/confirm', { code: appCode(secret, 20) });
    expect(wrong.status).to.equal(400);
    expect(wrong.error().message).to.include('`code` is incorrect');
    expect((await json('GET', '/me')).user.twoFactor.on).to.equal(false);
  });

  it('return ten recovery codes once and end the other sessions', async () => {
    const elsewhere = await signedIn();
    const { recoveryCodes } = await on();
    expect(recoveryCodes).to.have.length(10);
    for (const code of recoveryCodes)
      expect(code).to.match(/^([2-9a-hjkmnp-z]{4}-){3}[2-9a-hjkmnp-z]{4}$/);
    expect((await json('GET', '/me')).user.twoFactor).to.deep.equal({
      on: true,
      recoveryCodesLeft: 10,
    });
    expect((await elsewhere.api('GET', '/me')).status).to.equal(401);
    expect(await actions()).to.include('person.two_factor_on');
  });

  it('reject the confirming code for a sign-in', async () => {
    const { secret } = await json('POST', '/me/two-factor', { password: PASSWORD });
    const code = appCode(secret);
    await json('POST', '/me/two-factor/confirm', { code });
    const visit = await signedIn();
    expect((await visit.post('/app/sign-in/code', { code })).status).to.equal(401);
  });

  it('require the password', async () => {
    for (const body of [{}, { password: '' }, { password: 'another password' }])
      expect((await who.api('POST', '/me/two-factor', body)).status).to.equal(400);
  });

  it('require no password from a user without one', async () => {
    const person = await fixture.createUser();
    expect((await person.call('POST', '/me/two-factor', {})).status).to.equal(200);
  });

  it('reject a confirmation without a pending secret, or after it expired', async () => {
    expect((await who.api('POST', '/me/two-factor/confirm', { code: '123456' })).status).to.equal(
      409,
    );
    let at = Date.now();
    const twoFactor = new TwoFactor(
      fixture.store,
      { secret: CONSOLE_SECRET, label: 'x' },
      () => at,
    );
    const stored = async () => (await createUsers(fixture.store).byId(userId))!;
    const { secret } = await twoFactor.begin(await stored());
    at += 15 * 60_000 + 1;
    const code = TOTP.generate({ secret: Secret.fromBase32(secret), timestamp: at });
    const rejected = await twoFactor.confirm(await stored(), code).catch(error => error);
    expect(rejected).to.include({ code: 'conflict' });
  });

  it('cannot be set up twice', async () => {
    await on();
    const again = await who.api('POST', '/me/two-factor', { password: PASSWORD });
    expect(again.status).to.equal(409);
  });

  it('replace the recovery codes; the previous ones are void', async () => {
    const { secret, recoveryCodes: former } = await on();
    const { recoveryCodes } = await json('POST', '/me/two-factor/recovery-codes', {
      code: appCode(secret, 1),
    });
    expect(recoveryCodes).to.have.length(10);
    expect(recoveryCodes).not.to.include.members(former);
    expect((await who.api('DELETE', '/me/two-factor', { code: former[0] })).status).to.equal(400);
    expect(await actions()).to.include('person.recovery_codes_renewed');
  });

  it('turn off with a code, which ends the other sessions', async () => {
    const { recoveryCodes } = await on();
    const elsewhere = await signedIn();
    await elsewhere.post('/app/sign-in/code', { code: recoveryCodes[0]! });
    expect((await elsewhere.api('GET', '/me')).status).to.equal(200);
    expect((await who.api('DELETE', '/me/two-factor', { code: '000000x' })).status).to.equal(400);
    expect((await who.api('DELETE', '/me/two-factor', { code: recoveryCodes[1] })).status).to.equal(
      204,
    );
    expect((await elsewhere.api('GET', '/me')).status).to.equal(401);
    expect((await json('GET', '/me')).user.twoFactor.on).to.equal(false);
    expect(await actions()).to.include('person.two_factor_off');
  });

  it('are rate-limited after wrong codes inside a session', async () => {
    const { recoveryCodes } = await on();
    for (let each = 0; each < 5; each += 1)
      await who.api('DELETE', '/me/two-factor', { code: `guess ${each}` });
    expect((await who.api('DELETE', '/me/two-factor', { code: recoveryCodes[0] })).status).to.equal(
      429,
    );
  });

  it('write no secret to the audit log', async () => {
    const { secret, recoveryCodes } = await on();
    const all = JSON.stringify(await fixture.store.console.audit.find({ user: userId }).toArray());
    expect(all).not.to.include(secret).and.not.include(recoveryCodes[0]);
  });
});
