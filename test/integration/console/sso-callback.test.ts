import { expect } from 'chai';
import { pino } from 'pino';
import { createEncryption } from '../../../common/encryption.ts';
import { CONSOLE_SECRET } from '../../support/console/console-fixture.ts';
import {
  newLogin,
  pathOf,
  type SsoFixture,
  ssoFixture,
  visibleText,
} from '../../support/console/sso-fixture.ts';

const COOKIE = '__Host-pressroom-company';

describe('the callback from the identity provider', () => {
  let fixture: SsoFixture;
  const lines: string[] = [];
  before(async () => {
    fixture = await ssoFixture({
      log: pino({ level: 'debug' }, { write: (line: string) => void lines.push(line) }),
    });
  });
  beforeEach(() => {
    lines.length = 0;
  });
  afterEach(() => {
    fixture.provider.tamper(undefined);
    fixture.provider.replace(undefined);
  });
  after(() => fixture.stop());

  const lastProblem = () =>
    JSON.parse(lines.findLast(line => line.includes('SSO sign-in failed'))!);

  it('rejects another state, and accepts the correct one afterwards', async () => {
    const ada = newLogin();
    const visitor = fixture.client();
    const back = await fixture.provider.signIn(await fixture.startSignIn(visitor), ada);
    const forged = new URL(back);
    forged.searchParams.set('state', 'x'.repeat(43));
    const answer = await visitor.get(pathOf(forged));
    expect(answer.status).to.equal(400);
    expect(visibleText(answer)).to.include('Sign in again');
    forged.searchParams.delete('state');
    expect((await visitor.get(pathOf(forged))).status).to.equal(400);
    expect((await visitor.get(pathOf(back))).status).to.equal(200);
  });

  it('works once, also with the previous cookie', async () => {
    const visitor = fixture.client();
    const authorization = await fixture.startSignIn(visitor);
    const cookie = visitor.cookies.get(COOKIE)!;
    const path = pathOf(await fixture.provider.signIn(authorization, newLogin()));
    expect((await visitor.get(path)).status).to.equal(200);
    expect((await visitor.get(path)).status).to.equal(400);
    const thief = fixture.client();
    thief.cookies.set(COOKIE, cookie);
    expect((await thief.get(path)).status).to.equal(400);
    expect(await thief.me()).to.equal(undefined);
  });

  it('works only in the browser that started the sign-in', async () => {
    const path = pathOf(
      await fixture.provider.signIn(await fixture.startSignIn(fixture.client()), newLogin()),
    );
    const thief = fixture.client();
    expect((await thief.get(path)).status).to.equal(400);
    await fixture.startSignIn(thief);
    expect((await thief.get(path)).status).to.equal(400);
    expect(await thief.me()).to.equal(undefined);
  });

  it('expires after ten minutes', async () => {
    const visitor = fixture.client();
    const path = pathOf(
      await fixture.provider.signIn(await fixture.startSignIn(visitor), newLogin()),
    );
    const encryption = createEncryption(CONSOLE_SECRET, 'company sign-in');
    const passing = JSON.parse(encryption.decrypt(visitor.cookies.get(COOKIE)!)!);
    expect(passing.untilMs).to.be.within(Date.now() + 590_000, Date.now() + 600_000);
    visitor.cookies.set(
      COOKIE,
      encryption.encrypt(JSON.stringify({ ...passing, untilMs: Date.now() - 1 })),
    );
    expect((await visitor.get(path)).status).to.equal(400);
  });

  it('rejects a code that belongs to another challenge', async () => {
    const victim = fixture.client();
    const thief = fixture.client();
    const stolen = await fixture.provider.signIn(await fixture.startSignIn(victim), newLogin());
    const own = new URL(
      await fixture.provider.signIn(await fixture.startSignIn(thief), newLogin()),
    );
    own.searchParams.set('code', stolen.searchParams.get('code')!);
    expect((await thief.get(pathOf(own))).status).to.equal(400);
    expect(await thief.me()).to.equal(undefined);
  });

  it('rejects an ID token of another request', async () => {
    const visitor = fixture.client();
    const authorization = new URL(await fixture.startSignIn(visitor));
    authorization.searchParams.set('nonce', 'another');
    const answer = await visitor.get(
      pathOf(await fixture.provider.signIn(authorization.href, newLogin())),
    );
    expect(answer.status).to.equal(502);
    expect(lastProblem()).to.include({ claim: 'nonce' });
  });

  for (const [what, change, details] of [
    ['another audience', { aud: 'another client' }, { claim: 'aud' }],
    ['several audiences, made for another', { aud: ['pressroom', 'another'], azp: 'another' }, {}],
    ['another issuer', { iss: 'https://login.example' }, { claim: 'iss' }],
    [
      'yesterday',
      { exp: 1_700_000_000, iat: 1_699_999_000 },
      { fix: 'synchronize the clocks of the provider and of this machine' },
    ],
    ['nobody', { sub: undefined }, {}],
  ] as const)
    it(`rejects an ID token of ${what} and logs the fix`, async () => {
      const visitor = fixture.client();
      fixture.provider.tamper(claims => ({ ...claims, ...change }));
      const answer = await fixture.signIn(visitor, newLogin());
      expect(answer.status).to.equal(502);
      expect(visibleText(answer)).to.include('Contact your administrator');
      expect(lastProblem()).to.include(details);
      expect(await visitor.me()).to.equal(undefined);
    });

  it('rejects an ID token with an invalid signature', async () => {
    fixture.provider.forge(true);
    try {
      const visitor = fixture.client();
      expect((await fixture.signIn(visitor, newLogin())).status).to.equal(502);
      expect(await visitor.me()).to.equal(undefined);
    } finally {
      fixture.provider.forge(false);
    }
  });

  it('accepts a signature with a key that was just rotated', async () => {
    const ada = newLogin();
    await fixture.signIn(fixture.client(), ada);
    fixture.provider.rotateKeys();
    const visitor = fixture.client();
    await fixture.signIn(visitor, ada);
    expect((await visitor.me())!.email).to.equal(ada.email);
  });

  it('explains that access was denied or canceled', async () => {
    const visitor = fixture.client();
    const answer = await visitor.get(
      pathOf(await fixture.provider.deny(await fixture.startSignIn(visitor))),
    );
    expect(answer.status).to.equal(403);
    expect(visibleText(answer)).to.include('denied access').and.include('Other ways to sign in');
    expect(lastProblem()).to.include({
      error: 'access_denied',
      description: 'canceled by the user',
    });
  });

  it('shows no text of the query', async () => {
    const visitor = fixture.client();
    const { state, iss } = {
      state: new URL(await fixture.startSignIn(visitor)).searchParams.get('state')!,
      iss: fixture.provider.issuer,
    };
    const query = new URLSearchParams({
      state,
      iss,
      error: '<script>alert(1)</script>',
      error_description: 'call 0800 12345',
    });
    const answer = await visitor.get(`/app/sign-in/company/callback?${query}`);
    expect(answer.status).to.equal(502);
    expect(answer.body.toString()).to.not.include('alert(1)').and.not.include('0800');
    expect(answer.headers['content-security-policy']).to.include("default-src 'none'");
  });

  it('logs the fix for a wrong client secret', async () => {
    const variant = await fixture.variant({ PRESSROOM_OIDC_CLIENT_SECRET: 'not the secret' });
    const answer = await fixture.signIn(fixture.client(variant), newLogin());
    expect(answer.status).to.equal(502);
    expect(lastProblem().fix).to.include('_CLIENT_SECRET');
  });

  it('shows an error page when the provider is down', async () => {
    const visitor = fixture.client();
    const path = pathOf(
      await fixture.provider.signIn(await fixture.startSignIn(visitor), newLogin()),
    );
    fixture.provider.replace((_request, response) => response.writeHead(503).end('down'));
    const answer = await visitor.get(path);
    expect(answer.status).to.equal(503);
    expect(visibleText(answer)).to.include('is not responding').and.include('Try again');
  });

  it('keeps codes, tokens and secrets out of both logs after any error', async () => {
    const secrets = [fixture.provider.clientSecret];
    const visitor = fixture.client();
    // A provider that repeats all that it hears.
    let received: string;
    for (const status of [200, 400, 401, 500]) {
      const back = await fixture.provider.signIn(await fixture.startSignIn(visitor), newLogin());
      secrets.push(back.searchParams.get('code')!, back.searchParams.get('state')!);
      fixture.provider.replace(async (request, response) => {
        received = '';
        for await (const piece of request) received += piece;
        secrets.push(new URLSearchParams(received).get('code_verifier')!);
        received += ` ${fixture.provider.clientSecret} ${request.headers.authorization}`;
        secrets.push(request.headers.authorization!.slice(6));
        const repeated = JSON.stringify({
          error: 'server_error',
          error_description: received,
          id_token: received,
          access_token: received,
          token_type: 'bearer',
        });
        response.writeHead(status, { 'content-type': 'application/json' }).end(repeated);
      });
      expect((await visitor.get(pathOf(back))).status).to.be.at.least(400);
      fixture.provider.replace(undefined);
    }
    await fixture.signIn(visitor, newLogin());
    expect(secrets.length).to.equal(1 + 4 * 4);
    const all = lines.join('') + JSON.stringify(await fixture.store.console.audit.find().toArray());
    for (const secret of secrets)
      expect(all).to.not.include(secret).and.not.include(encodeURIComponent(secret));
  });
});
