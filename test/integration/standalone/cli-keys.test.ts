// @proves audit-log
// `pressroom accounts` and `pressroom keys` as scripts use them: JSON lists, options of a key, the
// name of the command in messages, and the audit log entry of each change.
import { expect } from 'chai';
import { Command } from 'commander';
import { connectStore, type Store } from '../../../api/store/store.ts';
import { addAccountCommands, addKeyCommands } from '../../../cli/accounts.ts';
import { addAdminCommands } from '../../../cli/admin.ts';
import { addOAuthCommands } from '../../../cli/oauth.ts';
import type { Terminal } from '../../../cli/terminal.ts';
import { silentLog } from '../../../common/log.ts';
import { PRESSROOM_PROGRAM, runNodeProgram } from '../../support/run-program.ts';
import { testDatabase } from '../../support/servers/mongod.ts';

describe('accounts and keys on the command line', function () {
  this.timeout(60_000);
  let env: Record<string, string>;
  let store: Store;

  const pressroom = (args: string[], more: Record<string, string> = {}, input = '') =>
    runNodeProgram(PRESSROOM_PROGRAM, args, { ...env, ...more }, { input });
  async function good(args: string[], input = '') {
    const ran = await pressroom(args, {}, input);
    expect(ran.code, ran.errors).to.equal(0);
    return ran;
  }
  const json = async (...args: string[]) => JSON.parse((await good([...args, '--json'])).out);
  const createKey = (...args: string[]) => good(['keys', 'create', '--account', 'acme', ...args]);

  before(async () => {
    env = {
      MONGODB_URI: (await testDatabase()).uri,
      PRESSROOM_PEPPER: 'a pepper of the tests',
      PRESSROOM_SECRET: 'a secret of the tests that is long enough',
    };
    store = connectStore({ uri: env['MONGODB_URI']!, operationTimeoutMs: 5_000 }, silentLog);
    await store.start(AbortSignal.timeout(10_000));
    await good(['accounts', 'create', 'acme', '--plan', 'growth']);
  });
  after(() => store?.stop(AbortSignal.timeout(5_000)));

  it('lists accounts as JSON', async () => {
    expect(await json('accounts', 'list')).to.deep.equal([
      {
        name: 'acme',
        plan: 'growth',
        state: 'active',
        intranet: false,
        renderer_reuse: true,
        keys: 0,
        running: 0,
        usage: 0,
      },
    ]);
  });

  it('lists keys as JSON, with their options', async () => {
    expect(await json('keys', 'list', '--account', 'acme')).to.deep.equal([]);
    const { out } = await createKey('--name', 'plain');
    await createKey(
      ...['--name', 'narrow', '--scope', 'read', '--expires', '2099-12-31'],
      ...['--allowed-ip', '203.0.113.7', '2001:db8::/32'],
    );
    await createKey('--test', '--expires', '2099-12-31T12:00:00+02:00');
    const [plain, narrow, test] = await json('keys', 'list');
    expect(plain).to.deep.include({
      account: 'acme',
      name: 'plain',
      last4: out.trim().slice(-4),
      test: false,
      scopes: ['render', 'read'],
      allowed_ips: [],
      expires_at: null,
    });
    expect(plain).to.include.keys('id', 'created_at');
    expect(narrow).to.deep.include({
      scopes: ['read'],
      allowed_ips: ['203.0.113.7/32', '2001:db8::/32'],
      expires_at: '2099-12-31T23:59:59.999Z',
    });
    expect(test).to.deep.include({ test: true, expires_at: '2099-12-31T10:00:00.000Z' });
    expect((await good(['keys', 'list'])).out).to.match(/narrow .* 2099-12-31/);
  });

  for (const [args, message] of [
    [['--expires', 'tomorrow'], '--expires must be a date'],
    [['--expires', '2099-13-01'], '--expires must be a date'],
    [['--expires', '2099-12-31T12:00:00'], '--expires must be a date'],
    [['--expires', '2020-01-01'], '--expires must be in the future'],
    [['--allowed-ip', 'example.com'], '--allowed-ip must be an IP address'],
    [['--allowed-ip', '10.0.0.0/33'], '--allowed-ip must be an IP address'],
    [['--allowed-ip'], 'argument missing'],
  ] as const)
    it(`creates no key with ${args.join(' ')}`, async () => {
      const before = await json('keys', 'list');
      const { code, errors, out } = await pressroom([
        'keys',
        'create',
        '--account',
        'acme',
        ...args,
      ]);
      expect(code).to.equal(2);
      expect(errors).to.include(message);
      expect(out).to.equal('');
      expect(await json('keys', 'list')).to.deep.equal(before);
    });

  it('names the command as npm ran it', async () => {
    const npm = { npm_lifecycle_event: 'pressroom' };
    const lost = await pressroom(['keys', 'revoke', 'nokey'], npm);
    expect(lost.errors).to.include('`npm run -s pressroom -- keys list`');
    const help = await pressroom(['keys', 'create', '--help'], npm);
    expect(help.out).to.include('Usage: npm run -s pressroom -- keys create');
    expect(help.out).to.not.match(/(?<!npm run -s )pressroom (?!--)/);
  });

  describe('the audit log', () => {
    const password = 'correct horse battery staple';
    const email = 'ada@example.com';
    /** What each command that changes something writes. */
    const CHANGES: Record<
      string,
      { args: () => Promise<string[]>; input?: string; action: string }
    > = {
      'accounts create': {
        args: async () => ['accounts', 'create', 'other'],
        action: 'account.created',
      },
      'accounts set': {
        args: async () => ['accounts', 'set', 'acme', '--plan', 'scale'],
        action: 'account.changed',
      },
      'accounts delete': {
        args: async () => {
          await good(['accounts', 'create', 'doomed']);
          return ['accounts', 'delete', 'doomed', '--confirm', 'doomed'];
        },
        action: 'account.deleted',
      },
      'keys create': {
        args: async () => ['keys', 'create', '--account', 'acme'],
        action: 'key.created',
      },
      'keys revoke': {
        args: async () => ['keys', 'revoke', (await json('keys', 'list'))[0].id],
        action: 'key.revoked',
      },
      'admin create': {
        args: async () => ['admin', 'create', '--email', email, '--password-stdin'],
        input: password,
        action: 'operator.created',
      },
      'admin reset-password': {
        args: async () => ['admin', 'reset-password', '--email', email, '--password-stdin'],
        input: `${password} again`,
        action: 'person.password_reset',
      },
    };
    /** `oauth rotate-keys` needs keys: integration/oauth/key-rotation has its entry. */
    const OTHERS = ['accounts list', 'keys list', 'oauth rotate-keys'];

    it('has a row here for each command', () => {
      const program = new Command();
      const terminal = {} as Terminal;
      addAccountCommands(program, terminal);
      addKeyCommands(program, terminal);
      addAdminCommands(program, terminal);
      addOAuthCommands(program, terminal);
      const names = program.commands.flatMap(group =>
        group.commands.map(each => `${group.name()} ${each.name()}`),
      );
      expect(names).to.have.members([...Object.keys(CHANGES), ...OTHERS]);
    });

    for (const [name, { args, input, action }] of Object.entries(CHANGES))
      it(`has an entry of the command line after \`${name}\``, async () => {
        const given = await args();
        const before = await store.console.audit.countDocuments();
        await good(given, input);
        const [last] = await store.console.audit.find().sort({ at: -1 }).limit(1).toArray();
        expect(last).to.include({ actor: 'command line', action });
        expect(await store.console.audit.countDocuments()).to.equal(before + 1);
      });
  });
});
