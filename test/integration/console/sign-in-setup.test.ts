import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { pino } from 'pino';
import { createSetup } from '../../../api/console/auth/bootstrap.ts';
import { createUsers } from '../../../api/console/users/users.ts';
import { type ConsoleFixture, consoleFixture } from '../../support/console/console-fixture.ts';
import { type CookieClient, cookieClient } from '../../support/cookie-client.ts';
import type { Installation } from '../../support/installation.ts';

const PASSWORD = 'correct horse battery';

describe('the setup of an installation', () => {
  const running: { stop(): Promise<boolean> }[] = [];

  /** One without an administrator, and the setup links in its log. */
  async function fresh(
    env: Record<string, string> = {},
    uri?: string,
  ): Promise<{ at: ConsoleFixture; links: string[] }> {
    const links: string[] = [];
    const log = pino(
      { level: 'warn' },
      { write: line => links.push(...(/http[^"]*\/app\/setup#[\w-]+/.exec(line) ?? [])) },
    );
    const at = await consoleFixture({
      workers: 0,
      log: log as never,
      env,
      ...(uri !== undefined && { uri }),
    });
    running.push(at);
    return { at, links };
  }
  const tokenOf = (link: string) => link.split('#')[1]!;
  const someone = (token: string, more: Record<string, string> = {}) => ({
    token,
    name: 'Ada',
    email: 'ada@example.com',
    password: PASSWORD,
    account: 'Ada and friends',
    ...more,
  });
  const browser = (at: Installation): CookieClient => cookieClient(at.api.port());

  afterEach(async () => {
    for (const each of running.splice(0).reverse()) expect(await each.stop()).to.equal(true);
  });

  it('creates the first administrator by the link in the log', async () => {
    const { at, links } = await fresh();
    expect(links).to.have.length(1);
    expect(links[0]).to.match(/^http:\/\/localhost:8080\/app\/setup#[\w-]{43}$/);
    const who = browser(at);
    const { status, location } = await who.post('/app/setup', someone(tokenOf(links[0]!)));
    expect([status, location]).to.deep.equal([303, '/app']);
    const me = JSON.parse((await who.api('GET', '/me')).body.toString());
    expect(me.user).to.include({
      email: 'ada@example.com',
      name: 'Ada',
      operator: true,
      hasPassword: true,
    });
    expect(me.accounts).to.have.length(1);
    expect(me.accounts[0]).to.include({ name: 'Ada and friends', role: 'owner' });
    const account = await at.store.accounts.findOne({ name: 'Ada and friends' });
    expect(account!.plan).to.equal('scale');
    expect(
      await at.store.console.audit.countDocuments({
        action: 'operator.created',
        actor: 'ada@example.com',
      }),
    ).to.equal(1);
  });

  it('lets the administrator sign in with the password afterwards', async () => {
    const { at, links } = await fresh();
    await browser(at).post('/app/setup', someone(tokenOf(links[0]!)));
    expect(
      (await browser(at).post('/app/sign-in', { email: 'ada@example.com', password: PASSWORD }))
        .location,
    ).to.equal('/app');
  });

  it('makes the administrator owner of the account `default` when it has no owner', async () => {
    const { at, links } = await fresh();
    const { id } = await at.accounts.createAccount('default', { plan: 'scale' });
    const who = browser(at);
    expect((await who.get('/app/setup')).html).not.to.include('name="account"');
    const { account: _none, ...fields } = someone(tokenOf(links[0]!));
    expect((await who.post('/app/setup', fields)).status).to.equal(303);
    const { accounts } = JSON.parse((await who.api('GET', '/me')).body.toString());
    expect(accounts).to.have.length(1);
    expect(accounts[0]).to.include({ id, name: 'default', role: 'owner' });
  });

  it('creates one user when the link is used twice concurrently', async () => {
    const { at, links } = await fresh();
    const token = tokenOf(links[0]!);
    const answers = await Promise.all(
      [1, 2, 3].map(each =>
        browser(at).post(
          '/app/setup',
          someone(token, { email: `${each}@example.com`, account: `team ${each}` }),
        ),
      ),
    );
    // The others come too late at one of two places: there is an administrator already, or the link is
    // void.
    expect(answers.filter(({ status }) => status === 303)).to.have.length(1);
    for (const { status } of answers) expect(status).to.be.oneOf([303, 401, 409]);
    expect(await at.store.console.users.countDocuments()).to.equal(1);
  });

  it('lets one of many concurrent requests use a token', async () => {
    const { at } = await fresh();
    const setup = createSetup(at.store);
    const [one, other] = [await setup.createToken(), await setup.createToken()];
    const used = await Promise.all(
      Array.from({ length: 10 }, (_, each) => setup.use(each % 2 ? one : other)),
    );
    expect(used.filter(Boolean)).to.have.length(1);
  });

  it('voids the links of all processes once one is used', async () => {
    const { at, links } = await fresh();
    const second = await fresh({}, at.uri);
    expect(second.links).to.have.length(1);
    await browser(second.at).post('/app/setup', someone(tokenOf(second.links[0]!)));
    const { status, html } = await browser(at).post(
      '/app/setup',
      someone(tokenOf(links[0]!), { email: 'eve@example.com' }),
    );
    expect(status).to.equal(409);
    expect(html).to.include('This installation already has an administrator');
    expect(await createSetup(at.store).isGood(tokenOf(links[0]!))).to.equal(false);
    expect((await fresh({}, at.uri)).links).to.deep.equal([]);
  });

  it('rejects a link older than a day', async () => {
    const { at } = await fresh();
    let now = Date.now();
    const setup = createSetup(at.store, () => now);
    const token = await setup.createToken();
    now += 24 * 3600e3 - 1;
    expect(await setup.isGood(token)).to.equal(true);
    now += 1;
    expect(await setup.isGood(token)).to.equal(false);
    expect(await setup.use(token)).to.equal(false);
  });

  it('rejects a request without a valid token', async () => {
    const { at } = await fresh();
    for (const token of ['', 'x', 'a'.repeat(43)]) {
      const { status, html } = await browser(at).post('/app/setup', someone(token));
      expect(status).to.equal(401);
      expect(html)
        .to.include('This token is incorrect')
        .and.include('value="Ada"')
        .and.not.include(PASSWORD);
    }
    expect(await at.store.console.users.countDocuments()).to.equal(0);
  });

  it('keeps the link valid when another field is invalid', async () => {
    const { at, links } = await fresh();
    const token = tokenOf(links[0]!);
    const wrong: [Record<string, string>, string][] = [
      [{ password: 'short' }, 'Must be at least 12 characters.'],
      [{ email: 'nobody' }, 'Must be an email address'],
      [{ name: ' ' }, 'Must be at least 1 character.'],
      [{ account: at.account }, 'An account with this name already exists.'],
    ];
    for (const [field, message] of wrong) {
      const { status, html } = await browser(at).post('/app/setup', someone(token, field));
      expect(status).to.equal(400);
      expect(html).to.include(message).and.include(`value="${token}"`);
    }
    expect((await browser(at).post('/app/setup', someone(token))).status).to.equal(303);
  });

  it('accepts the whole link in place of the token', async () => {
    const { at, links } = await fresh();
    expect((await browser(at).post('/app/setup', someone(links[0]!))).status).to.equal(303);
  });

  it('redirects from the sign-in to the setup while no user exists', async () => {
    const { at, links } = await fresh();
    expect((await browser(at).get('/app/sign-in')).location).to.equal('/app/setup');
    await browser(at).post('/app/setup', someone(tokenOf(links[0]!)));
    expect((await browser(at).get('/app/sign-in')).status).to.equal(200);
    expect((await browser(at).get('/app/setup')).html).to.include(
      'This installation already has an administrator',
    );
  });

  it('rejects a form of another site', async () => {
    const { at, links } = await fresh();
    const answer = await browser(at).post('/app/setup', someone(tokenOf(links[0]!)), {
      'sec-fetch-site': 'cross-site',
    });
    expect(answer.status).to.equal(403);
  });

  describe('with an administrator in the configuration', () => {
    const ADMIN = { PRESSROOM_ADMIN_EMAIL: 'Root@Example.com', PRESSROOM_ADMIN_PASSWORD: PASSWORD };

    it('creates the administrator at startup and shows no link', async () => {
      const { at, links } = await fresh(ADMIN);
      expect(links).to.deep.equal([]);
      const who = browser(at);
      expect(
        (await who.post('/app/sign-in', { email: 'root@example.com', password: PASSWORD })).status,
      ).to.equal(303);
      const me = JSON.parse((await who.api('GET', '/me')).body.toString());
      expect(me.user).to.include({ email: 'root@example.com', operator: true });
      expect(
        me.accounts.map(({ name, role }: { name: string; role: string }) => [name, role]),
      ).to.deep.equal([['default', 'owner']]);
    });

    it('creates one user when processes start concurrently', async () => {
      const { at } = await fresh();
      await Promise.all([fresh(ADMIN, at.uri), fresh(ADMIN, at.uri)]);
      expect(await at.store.console.users.countDocuments()).to.equal(1);
    });

    it('keeps an existing user and a changed password', async () => {
      const { at } = await fresh();
      const users = createUsers(at.store);
      const { password } = await users.create({
        email: 'root@example.com',
        name: 'Root',
        password: `another ${randomUUID()}`,
      });
      await fresh(ADMIN, at.uri);
      const stored = await users.byEmail('root@example.com');
      expect(stored).to.deep.include({ password, operator: false, name: 'Root' });
    });
  });
});
