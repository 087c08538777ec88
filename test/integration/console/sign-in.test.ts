import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { hashToken } from '../../../api/console/security/tokens.ts';
import { createUsers } from '../../../api/console/users/users.ts';
import { type ConsoleFixture, consoleFixture } from '../../support/console/console-fixture.ts';
import { type CookieClient, cookieClient, DEVICE, SESSION } from '../../support/cookie-client.ts';

const PASSWORD = 'correct horse battery';

describe('the sign-in page', () => {
  let fixture: ConsoleFixture;
  let email: string;
  let userId: string;
  let ips = 0;

  /** From an address of its own, so that no test uses up another one's tries. */
  const browser = (): CookieClient => cookieClient(fixture.api.port(), { ip: `192.0.2.${++ips}` });
  const signIn = (who = browser(), password = PASSWORD, path = '/app/sign-in') =>
    who.post(path, { email, password });

  before(async () => {
    fixture = await consoleFixture({ workers: 0, env: { PRESSROOM_TRUSTED_PROXIES: '127.0.0.1' } });
  });
  after(() => fixture.stop());

  beforeEach(async () => {
    email = `${randomUUID()}@example.com`;
    userId = (await createUsers(fixture.store).create({ email, name: 'Ada', password: PASSWORD }))
      ._id;
  });

  describe('the form', () => {
    it('names the installation and sets autocomplete for its fields', async () => {
      const { status, html } = await browser().get('/app/sign-in');
      expect(status).to.equal(200);
      expect(html)
        .to.include('to localhost:8080')
        .and.include('autocomplete="username"')
        .and.include('autocomplete="current-password"');
    });

    it('allows only its own style and script, and no framing', async () => {
      const { headers } = await browser().get('/app/sign-in');
      const policy = headers['content-security-policy']!;
      expect(policy)
        .to.include("default-src 'none'")
        .and.include("frame-ancestors 'none'")
        .and.include("form-action 'self'");
      expect(policy).not.to.include('unsafe');
      expect(headers['cache-control']).to.equal('no-store');
      expect(headers['referrer-policy']).to.equal('same-origin');
    });

    it('redirects a user who is already signed in', async () => {
      const who = browser();
      await signIn(who);
      expect((await who.get('/app/sign-in?next=/app/keys')).location).to.equal('/app/keys');
    });

    it('is the redirect target of the dashboard without a session, with the path to return to', async () => {
      const { status, location } = await browser().get('/app/renders?status=error');
      expect(status).to.equal(302);
      expect(location).to.equal(
        `/app/sign-in?next=${encodeURIComponent('/app/renders?status=error')}`,
      );
    });
  });

  describe('with the correct password', () => {
    it('opens a session', async () => {
      const who = browser();
      const { status, location } = await signIn(who);
      expect([status, location]).to.deep.equal([303, '/app']);
      expect((await who.api('GET', '/me')).status).to.equal(200);
    });

    it('accepts the address in capitals and with surrounding spaces', async () => {
      const who = browser();
      const { status } = await who.post('/app/sign-in', {
        email: ` ${email.toUpperCase()} `,
        password: PASSWORD,
      });
      expect(status).to.equal(303);
    });

    it('sets cookies with HttpOnly, SameSite and Secure', async () => {
      const { set } = await signIn();
      for (const name of [SESSION, DEVICE])
        expect(set.get(name))
          .to.match(/; Path=\/; HttpOnly; SameSite=Lax; Max-Age=\d+; Secure$/)
          .and.not.include('Domain');
      expect(set.get(SESSION)).to.include('Max-Age=1209600');
    });

    it('creates a new token for each session and stores only its hash', async () => {
      const who = browser();
      await signIn(who);
      const token = who.cookies.get(SESSION)!;
      const stored = await fixture.store.console.sessions.find({ user: userId }).toArray();
      expect(stored.map(({ _id }) => _id)).to.deep.equal([hashToken(token)]);
      expect(JSON.stringify(stored)).not.to.include(token);
    });

    it('does not adopt a session token that was planted in the browser', async () => {
      const who = browser();
      const planted = 'a'.repeat(43);
      who.cookies.set(SESSION, planted);
      await signIn(who);
      expect(who.cookies.get(SESSION)).not.to.equal(planted);
      expect(await fixture.store.console.sessions.findOne({ _id: hashToken(planted) })).to.equal(
        null,
      );
    });

    it('ends the previous session of the browser', async () => {
      const who = browser();
      await signIn(who);
      const former = who.cookies.get(SESSION)!;
      await who.post('/app/sign-in', { email, password: PASSWORD });
      expect(who.cookies.get(SESSION)).not.to.equal(former);
      const thief = browser();
      thief.cookies.set(SESSION, former);
      expect((await thief.api('GET', '/me')).status).to.equal(401);
    });

    it('writes user, time and address to the audit log', async () => {
      await signIn(cookieClient(fixture.api.port(), { ip: '198.51.100.7' }));
      const entry = await fixture.store.console.audit.findOne({
        user: userId,
        action: 'person.signed_in',
      });
      expect(entry).to.include({ actor: email, ip: '198.51.100.7' });
      expect(entry!.details).to.deep.equal({ method: 'password' });
      expect((await createUsers(fixture.store).byId(userId))!.lastSignInAt).to.be.instanceOf(Date);
    });

    it('redirects to the requested page', async () => {
      expect(
        (await signIn(browser(), PASSWORD, '/app/sign-in?next=%2Fapp%2Frenders%3Fstatus%3Derror'))
          .location,
      ).to.equal('/app/renders?status=error');
    });

    for (const elsewhere of [
      '//evil.example',
      'https://evil.example/app',
      '/app/\\evil.example',
      '/app//evil.example',
      '/appetite',
      '/app/../x',
    ])
      it(`does not redirect to ${elsewhere}`, async () => {
        const { location } = await signIn(
          browser(),
          PASSWORD,
          `/app/sign-in?next=${encodeURIComponent(elsewhere)}`,
        );
        expect(location).to.equal('/app');
      });

    it('rejects a disabled user with the message for a wrong password', async () => {
      const wrong = await signIn(browser(), 'another password');
      await fixture.store.console.users.updateOne({ _id: userId }, { $set: { disabled: true } });
      const rejected = await signIn();
      expect(rejected.status).to.equal(401);
      expect(rejected.html).to.equal(wrong.html);
    });
  });

  describe('with invalid input', () => {
    it('sends the same message for a wrong password and an unknown address', async () => {
      const known = await signIn(browser(), 'another password');
      const unknown = await browser().post('/app/sign-in', {
        email: `x${email}`,
        password: 'another password',
      });
      expect([known.status, unknown.status]).to.deep.equal([401, 401]);
      expect(unknown.html.replaceAll(`x${email}`, email)).to.equal(known.html);
    });

    it('keeps the address, never the password, and focuses the password field', async () => {
      const { html } = await signIn(browser(), 'another password');
      expect(html)
        .to.include(`value="${email}"`)
        .and.include('role="alert"')
        .and.not.include('another password');
      expect(html).to.match(/name="password"[^>]* autofocus/);
    });

    it('shows the error at the empty field', async () => {
      const { status, html } = await browser().post('/app/sign-in', { email: '', password: 'x' });
      expect(status).to.equal(400);
      expect(html).to.match(
        /name="email"[^>]* aria-describedby="email-error"[^>]* aria-invalid="true"[^>]* autofocus/,
      );
      expect((await browser().post('/app/sign-in', { email, password: '' })).html).to.include(
        'Enter your password.',
      );
    });

    it('escapes the input', async () => {
      const { html } = await browser().post('/app/sign-in', {
        email: '"><script>alert(1)</script>',
        password: 'x',
      });
      expect(html).to.include('&quot;&gt;&lt;script&gt;').and.not.include('<script>alert');
    });

    it('rejects a user without a password', async () => {
      const { email: ofCompany } = await fixture.createUser();
      expect(
        (await browser().post('/app/sign-in', { email: ofCompany, password: '' })).status,
      ).to.equal(400);
      expect(
        (await browser().post('/app/sign-in', { email: ofCompany, password: 'undefined' })).status,
      ).to.equal(401);
    });
  });

  describe('from another site', () => {
    for (const site of ['cross-site', 'same-site', 'none'])
      it(`rejects a form of a ${site} page`, async () => {
        const { status, set } = await browser().post(
          '/app/sign-in',
          { email, password: PASSWORD },
          { 'sec-fetch-site': site },
        );
        expect(status).to.equal(403);
        expect(set.size).to.equal(0);
      });

    it('rejects the form of another origin when the browser sends no Sec-Fetch-Site', async () => {
      const headers = { 'sec-fetch-site': '', origin: 'https://evil.example' };
      expect(
        (await browser().post('/app/sign-in', { email, password: PASSWORD }, headers)).status,
      ).to.equal(403);
    });
  });

  describe('with a body that no form sends', () => {
    it('rejects JSON', async () => {
      const { status } = await browser().post(
        '/app/sign-in',
        JSON.stringify({ email, password: PASSWORD }),
        {
          'content-type': 'application/json',
        },
      );
      expect(status).to.equal(400);
    });

    it('rejects a repeated field', async () => {
      const { status, html } = await browser().post(
        '/app/sign-in',
        `email=${email}&password=a&password=b`,
      );
      expect(status).to.equal(400);
      expect(html).to.include('is repeated');
    });

    it('rejects invalid UTF-8', async () => {
      expect((await browser().post('/app/sign-in', 'email=%ff&password=x')).status).to.equal(400);
    });

    it('rejects more than 16 KiB, with or without Content-Length', async () => {
      const long = `email=a&password=${'a'.repeat(17_000)}`;
      expect((await browser().post('/app/sign-in', long)).error().code).to.equal(
        'payload_too_large',
      );
      const chunked = await browser().post('/app/sign-in', long, {
        'transfer-encoding': 'chunked',
      });
      expect(chunked.error().code).to.equal('payload_too_large');
    });
  });

  it('ends the session and clears its cookie on sign-out', async () => {
    const who = browser();
    await signIn(who);
    const token = who.cookies.get(SESSION)!;
    expect((await who.api('POST', '/me/sign-out')).status).to.equal(204);
    expect(who.cookies.has(SESSION)).to.equal(false);
    who.cookies.set(SESSION, token);
    expect((await who.api('GET', '/me')).status).to.equal(401);
  });
});
