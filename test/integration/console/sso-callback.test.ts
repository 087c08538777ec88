import { expect } from 'chai';
import { pino } from 'pino';
import { createEncryption } from '../../../api/console/security/encryption.ts';
import { CONSOLE_SECRET } from '../../support/console/console-rig.ts';
import {
  pathOf,
  type SsoFixture,
  somebody,
  ssoFixture,
  words,
} from '../../support/console/sso-fixture.ts';

const COOKIE = '__Host-pressroom-company';

describe('the way back from the provider of the company', () => {
  let rig: SsoFixture;
  const lines: string[] = [];
  before(async () => {
    rig = await ssoFixture({
      log: pino({ level: 'debug' }, { write: (line: string) => void lines.push(line) }),
    });
  });
  beforeEach(() => {
    lines.length = 0;
  });
  afterEach(() => {
    rig.provider.tamper(undefined);
    rig.provider.replace(undefined);
  });
  after(() => rig.stop());

  const lastProblem = () =>
    JSON.parse(lines.findLast(line => line.includes('a sign-in through the company failed'))!);

  it('takes no state but the one that it sent, and lets the right one through afterwards', async () => {
    const ada = somebody();
    const visitor = rig.visitor();
    const back = await rig.provider.signIn(await rig.leave(visitor), ada);
    const forged = new URL(back);
    forged.searchParams.set('state', 'x'.repeat(43));
    const answer = await visitor.get(pathOf(forged));
    expect(answer.status).to.equal(400);
    expect(words(answer)).to.include('Begin again');
    forged.searchParams.delete('state');
    expect((await visitor.get(pathOf(forged))).status).to.equal(400);
    expect((await visitor.get(pathOf(back))).status).to.equal(200);
  });

  it('is good once: in the browser, and with the cookie of before', async () => {
    const visitor = rig.visitor();
    const authorization = await rig.leave(visitor);
    const cookie = visitor.cookies.get(COOKIE)!;
    const path = pathOf(await rig.provider.signIn(authorization, somebody()));
    expect((await visitor.get(path)).status).to.equal(200);
    expect((await visitor.get(path)).status).to.equal(400);
    const thief = rig.visitor();
    thief.cookies.set(COOKIE, cookie);
    expect((await thief.get(path)).status).to.equal(400);
    expect(await thief.me()).to.equal(undefined);
  });

  it('is good in the browser that left for the provider and in no other', async () => {
    const path = pathOf(await rig.provider.signIn(await rig.leave(rig.visitor()), somebody()));
    const thief = rig.visitor();
    expect((await thief.get(path)).status).to.equal(400);
    await rig.leave(thief);
    expect((await thief.get(path)).status).to.equal(400);
    expect(await thief.me()).to.equal(undefined);
  });

  it('is good for ten minutes', async () => {
    const visitor = rig.visitor();
    const path = pathOf(await rig.provider.signIn(await rig.leave(visitor), somebody()));
    const encryption = createEncryption(CONSOLE_SECRET, 'company sign-in');
    const passing = JSON.parse(encryption.decrypt(visitor.cookies.get(COOKIE)!)!);
    expect(passing.untilMs).to.be.within(Date.now() + 590_000, Date.now() + 600_000);
    visitor.cookies.set(
      COOKIE,
      encryption.encrypt(JSON.stringify({ ...passing, untilMs: Date.now() - 1 })),
    );
    expect((await visitor.get(path)).status).to.equal(400);
  });

  it('refuses a code that belongs to another challenge', async () => {
    const victim = rig.visitor();
    const thief = rig.visitor();
    const stolen = await rig.provider.signIn(await rig.leave(victim), somebody());
    const own = new URL(await rig.provider.signIn(await rig.leave(thief), somebody()));
    own.searchParams.set('code', stolen.searchParams.get('code')!);
    expect((await thief.get(pathOf(own))).status).to.equal(400);
    expect(await thief.me()).to.equal(undefined);
  });

  it('refuses an id token of another request', async () => {
    const visitor = rig.visitor();
    const authorization = new URL(await rig.leave(visitor));
    authorization.searchParams.set('nonce', 'another');
    const answer = await visitor.get(
      pathOf(await rig.provider.signIn(authorization.href, somebody())),
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
      { fix: 'the clocks of the provider and of this machine differ' },
    ],
    ['nobody', { sub: undefined }, {}],
  ] as const)
    it(`refuses an id token of ${what}, and says in the log what to fix`, async () => {
      const visitor = rig.visitor();
      rig.provider.tamper(claims => ({ ...claims, ...change }));
      const answer = await rig.signIn(visitor, somebody());
      expect(answer.status).to.equal(502);
      expect(words(answer)).to.include('Tell who runs this installation');
      expect(lastProblem()).to.include(details);
      expect(await visitor.me()).to.equal(undefined);
    });

  it('refuses an id token that the provider did not sign', async () => {
    rig.provider.forge(true);
    try {
      const visitor = rig.visitor();
      expect((await rig.signIn(visitor, somebody())).status).to.equal(502);
      expect(await visitor.me()).to.equal(undefined);
    } finally {
      rig.provider.forge(false);
    }
  });

  it('finds a key that the provider changed a moment ago', async () => {
    const ada = somebody();
    await rig.signIn(rig.visitor(), ada);
    rig.provider.rotateKeys();
    const visitor = rig.visitor();
    await rig.signIn(visitor, ada);
    expect((await visitor.me())!.email).to.equal(ada.email);
  });

  it('says so when the person stopped on the provider’s page', async () => {
    const visitor = rig.visitor();
    const answer = await visitor.get(pathOf(await rig.provider.deny(await rig.leave(visitor))));
    expect(answer.status).to.equal(403);
    expect(words(answer)).to.include('did not let you in').and.include('Other ways to sign in');
    expect(lastProblem()).to.include({
      error: 'access_denied',
      description: 'stopped by the person',
    });
  });

  it('shows nothing of what stands in the address', async () => {
    const visitor = rig.visitor();
    const { state, iss } = {
      state: new URL(await rig.leave(visitor)).searchParams.get('state')!,
      iss: rig.provider.issuer,
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

  it('says with a wrong secret what to fix', async () => {
    const variant = await rig.variant({ PRESSROOM_OIDC_CLIENT_SECRET: 'not the secret' });
    const answer = await rig.signIn(rig.visitor(variant), somebody());
    expect(answer.status).to.equal(502);
    expect(lastProblem().fix).to.include('_CLIENT_SECRET');
  });

  it('is a page when the provider went down meanwhile', async () => {
    const visitor = rig.visitor();
    const path = pathOf(await rig.provider.signIn(await rig.leave(visitor), somebody()));
    rig.provider.replace((_request, response) => response.writeHead(503).end('down'));
    const answer = await visitor.get(path);
    expect(answer.status).to.equal(503);
    expect(words(answer)).to.include('does not answer at the moment').and.include('Try again');
  });

  it('keeps codes, tokens and secrets out of the log and the audit log, whatever goes wrong', async () => {
    const secrets = [rig.provider.clientSecret];
    const visitor = rig.visitor();
    // A provider that repeats all that it hears.
    let heard: string;
    for (const status of [200, 400, 401, 500]) {
      const back = await rig.provider.signIn(await rig.leave(visitor), somebody());
      secrets.push(back.searchParams.get('code')!, back.searchParams.get('state')!);
      rig.provider.replace(async (request, response) => {
        heard = '';
        for await (const piece of request) heard += piece;
        secrets.push(new URLSearchParams(heard).get('code_verifier')!);
        heard += ` ${rig.provider.clientSecret} ${request.headers.authorization}`;
        secrets.push(request.headers.authorization!.slice(6));
        const repeated = JSON.stringify({
          error: 'server_error',
          error_description: heard,
          id_token: heard,
          access_token: heard,
          token_type: 'bearer',
        });
        response.writeHead(status, { 'content-type': 'application/json' }).end(repeated);
      });
      expect((await visitor.get(pathOf(back))).status).to.be.at.least(400);
      rig.provider.replace(undefined);
    }
    await rig.signIn(visitor, somebody());
    expect(secrets.length).to.equal(1 + 4 * 4);
    const all = lines.join('') + JSON.stringify(await rig.store.console.audit.find().toArray());
    for (const secret of secrets)
      expect(all).to.not.include(secret).and.not.include(encodeURIComponent(secret));
  });
});
