// @proves oauth-key-rotation
// `pressroom oauth rotate-keys`, and pending consents while API processes read the new keys one
// after another.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { oauthKeys, rotateOAuthKeys } from '../../../api/console/oauth/keys.ts';
import { silentLog } from '../../../common/log.ts';
import {
  CONSOLE_SECRET,
  type ConsoleFixture,
  consoleFixture,
  type TestUser,
} from '../../support/console/console-fixture.ts';
import {
  authorizeApp,
  codeOf,
  jsonOf,
  newClient,
  redeem,
} from '../../support/console/oauth-flow.ts';
import { inTurn, moreProcesses } from '../../support/more-processes.ts';

const PROGRAMS = {
  'the command line': fileURLToPath(new URL('../../../cli/main.ts', import.meta.url)),
  'the command of the image': fileURLToPath(new URL('../../../cli/in-image.ts', import.meta.url)),
};

describe('the rotation of the OAuth server’s keys', () => {
  let fixture: ConsoleFixture;
  let person: TestUser;
  /** Each process reads the keys at its first call. */
  const another = moreProcesses();
  beforeEach(async () => {
    fixture = await consoleFixture({ workers: 0 });
    person = await fixture.createUser({ role: 'developer' });
  });
  afterEach(() => fixture.stop());

  async function run(
    program: string,
    env: Record<string, string> = { PRESSROOM_SECRET: CONSOLE_SECRET },
  ) {
    const { PATH = '', HOME = '' } = process.env;
    const all = {
      PATH,
      HOME,
      MONGODB_URI: fixture.uri,
      PRESSROOM_PEPPER: 'a pepper of the tests',
      ...env,
    };
    const child = spawn(process.execPath, [program, 'oauth', 'rotate-keys'], { env: all });
    child.stdin.end();
    const [out, errors, [code]] = await Promise.all([
      text(child.stdout),
      text(child.stderr),
      once(child, 'close'),
    ]);
    return { code, out, errors };
  }
  const keys = () => oauthKeys(fixture.store, CONSOLE_SECRET, silentLog);
  const kids = async (of: ConsoleFixture) =>
    jsonOf<{ keys: { kid: string }[] }>(await of.call('GET', '/oauth/jwks')).keys.map(
      ({ kid }) => kid,
    );

  /** Each step of the consent reaches the next process of the list. */
  async function consentAt(...processes: ConsoleFixture[]): Promise<number> {
    const client = await newClient(fixture);
    const { code, verifier } = await codeOf(inTurn(processes), person, { client });
    return (await redeem(fixture, client, code, verifier)).status;
  }

  for (const [name, program] of Object.entries(PROGRAMS))
    it(`is done by ${name}, which prints when the keys take effect`, async () => {
      const [old] = await keys();
      const { code, out, errors } = await run(program);
      expect(code, errors).to.equal(0);
      expect(out).to.equal('');
      expect(errors)
        .to.include('within a minute')
        .and.include('Consents in progress are not affected')
        .and.not.include(old!.cookie);
      expect((await keys()).map(({ cookie }) => cookie)[1]).to.equal(old!.cookie);
      expect(
        await fixture.store.console.audit.countDocuments({
          action: 'oauth.keys_rotated',
          actor: 'command line',
        }),
      ).to.equal(1);
    });

  it('adds both keys when two commands run concurrently', async () => {
    await keys();
    const results = await Promise.all(Object.values(PROGRAMS).map(program => run(program)));
    expect(results.map(({ code }) => code)).to.deep.equal([0, 0]);
    expect(await keys()).to.have.length(3);
  });

  it('fails without the secret of the API, and changes nothing', async () => {
    const early = await run(PROGRAMS['the command line']);
    expect([early.code, early.errors]).to.deep.equal([
      1,
      'No keys exist yet. They are created when the first app connects.\n',
    ]);
    const before = await keys();
    const other = await run(PROGRAMS['the command line'], {
      PRESSROOM_SECRET: 'another secret of the tests',
    });
    expect(other.code).to.equal(1);
    expect(other.errors).to.include('another PRESSROOM_SECRET');
    const none = await run(PROGRAMS['the command of the image'], {});
    expect(none.code).to.equal(2);
    expect(none.errors).to.include('PRESSROOM_SECRET is not set');
    expect(await keys()).to.deep.equal(before);
  });

  it('does not break a consent across processes before all have read the new keys', async () => {
    await authorizeApp(fixture, person);
    await rotateOAuthKeys(fixture.store, CONSOLE_SECRET);
    const quick = await another(fixture);
    expect(await kids(quick)).to.have.length(2);
    expect(await kids(fixture)).to.have.length(1);
    expect(await consentAt(quick, fixture)).to.equal(200);
    expect(await consentAt(fixture, quick)).to.equal(200);
  });

  it('does not break a consent that started with the old keys when the new keys sign', async () => {
    await authorizeApp(fixture, person);
    const fourMinutesMs = 4 * 60_000;
    await rotateOAuthKeys(fixture.store, CONSOLE_SECRET, () => Date.now() - fourMinutesMs);
    const [quick, other] = [await another(fixture), await another(fixture)];
    expect((await kids(quick))[0]).not.to.equal((await kids(fixture))[0]);
    expect(await consentAt(fixture, quick, other)).to.equal(200);
    expect(await consentAt(quick, other)).to.equal(200);
  });

  it('reaches a running process within a minute, and keeps tokens valid', async () => {
    const { client } = await authorizeApp(fixture, person);
    const before = await kids(fixture);
    await rotateOAuthKeys(fixture.store, CONSOLE_SECRET);
    const realNow = Date.now;
    Date.now = () => realNow() + 61_000;
    try {
      expect(await kids(fixture))
        .to.have.length(2)
        .and.include(before[0]);
    } finally {
      Date.now = realNow;
    }
    expect((await authorizeApp(fixture, person, { client })).scope).to.equal('render');
  });
});
