import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { pino } from 'pino';
import { createSetup } from '../../../api/console/auth/bootstrap.ts';
import { createUsers } from '../../../api/console/users/users.ts';
import { type ConsoleFixture, consoleFixture } from '../../support/console/console-fixture.ts';
import { type CookieClient, cookieClient } from '../../support/cookie-client.ts';
import type { Installation } from '../../support/installation.ts';

const PASSWORD = 'correct horse battery';

describe('the first person of an installation', () => {
  const running: { stop(): Promise<boolean> }[] = [];

  /** One that nobody has set up, and the links that its log has shown. */
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

  it('comes by the link of the log, and runs the installation then', async () => {
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

  it('can sign in with the password from then on', async () => {
    const { at, links } = await fresh();
    await browser(at).post('/app/setup', someone(tokenOf(links[0]!)));
    expect(
      (await browser(at).post('/app/sign-in', { email: 'ada@example.com', password: PASSWORD }))
        .location,
    ).to.equal('/app');
  });

  it('owns the account `default` when that waits for an owner', async () => {
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

  it('is one alone when the link is used twice at the same moment', async () => {
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
    // The others come too late at one of two places: there is somebody already, or the link is
    // void.
    expect(answers.filter(({ status }) => status === 303)).to.have.length(1);
    for (const { status } of answers) expect(status).to.be.oneOf([303, 401, 409]);
    expect(await at.store.console.users.countDocuments()).to.equal(1);
  });

  it('gives a link to one of many who use it at once', async () => {
    const { at } = await fresh();
    const setup = createSetup(at.store);
    const [one, other] = [await setup.createToken(), await setup.createToken()];
    const used = await Promise.all(
      Array.from({ length: 10 }, (_, each) => setup.use(each % 2 ? one : other)),
    );
    expect(used.filter(Boolean)).to.have.length(1);
  });

  it('voids the links of all processes by using one', async () => {
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

  it('cannot come by a link that is older than a day', async () => {
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

  it('cannot come without the link', async () => {
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

  it('keeps the link good when something else in the form is wrong', async () => {
    const { at, links } = await fresh();
    const token = tokenOf(links[0]!);
    const wrong: [Record<string, string>, string][] = [
      [{ password: 'short' }, 'Must be at least 12 characters.'],
      [{ email: 'nobody' }, 'Must be an email address'],
      [{ name: ' ' }, 'Must be a string that is not blank.'],
      [{ account: at.account }, 'An account with this name already exists.'],
    ];
    for (const [field, words] of wrong) {
      const { status, html } = await browser(at).post('/app/setup', someone(token, field));
      expect(status).to.equal(400);
      expect(html).to.include(words).and.include(`value="${token}"`);
    }
    expect((await browser(at).post('/app/setup', someone(token))).status).to.equal(303);
  });

  it('takes the whole link where the token is asked for', async () => {
    const { at, links } = await fresh();
    expect((await browser(at).post('/app/setup', someone(links[0]!))).status).to.equal(303);
  });

  it('is shown the way: who wants to sign in comes to the setup, as long as there is nobody', async () => {
    const { at, links } = await fresh();
    expect((await browser(at).get('/app/sign-in')).location).to.equal('/app/setup');
    await browser(at).post('/app/setup', someone(tokenOf(links[0]!)));
    expect((await browser(at).get('/app/sign-in')).status).to.equal(200);
    expect((await browser(at).get('/app/setup')).html).to.include(
      'This installation already has an administrator',
    );
  });

  it('refuses a form of another site', async () => {
    const { at, links } = await fresh();
    const answer = await browser(at).post('/app/setup', someone(tokenOf(links[0]!)), {
      'sec-fetch-site': 'cross-site',
    });
    expect(answer.status).to.equal(403);
  });

  describe('that the configuration names', () => {
    const ADMIN = { PRESSROOM_ADMIN_EMAIL: 'Root@Example.com', PRESSROOM_ADMIN_PASSWORD: PASSWORD };

    it('is there after the start, and no link is shown', async () => {
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

    it('is one person when processes start at the same moment', async () => {
      const { at } = await fresh();
      await Promise.all([fresh(ADMIN, at.uri), fresh(ADMIN, at.uri)]);
      expect(await at.store.console.users.countDocuments()).to.equal(1);
    });

    it('keeps a password that was changed, and a person who is there', async () => {
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
