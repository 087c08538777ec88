// @proves audit-log

import { spawn } from 'node:child_process';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { text } from 'node:stream/consumers';
import { expect } from 'chai';
import { connectStore, type Store } from '../../../api/store/store.ts';
import { silentLog } from '../../../common/log.ts';
import { PRESSROOM_PROGRAM, type ProgramRun, runNodeProgram } from '../../support/run-program.ts';
import { testDatabase } from '../../support/servers/mongod.ts';
import { type NpmStart, npmStart } from '../../support/servers/npm-start.ts';
import { temporaryFolder } from '../../support/temporary.ts';

const KEY = /^pressroom_live_[0-9A-Za-z]{38}\n$/;

describe('the command line', () => {
  const at = temporaryFolder();
  let env: Record<string, string>;

  /** Runs the command outside the repository, with only the given settings. */
  function pressroom(args: string[], settings = env, input = ''): Promise<ProgramRun> {
    const { PRESSROOM_CHROME = '' } = process.env;
    const all = { PRESSROOM_CHROME, ...settings };
    return runNodeProgram(PRESSROOM_PROGRAM, args, all, { input, cwd: at() });
  }

  const good = async (args: string[], settings = env) => {
    const ran = await pressroom(args, settings);
    expect(ran.code, ran.errors).to.equal(0);
    return ran;
  };

  before(async () => {
    env = { MONGODB_URI: (await testDatabase()).uri, PRESSROOM_PEPPER: 'a pepper of the tests' };
  });

  describe('on the database of MONGODB_URI', () => {
    let keyId: string;
    let store: Store;
    before(async () => {
      store = connectStore({ uri: env['MONGODB_URI']!, operationTimeoutMs: 5_000 }, silentLog);
      await store.start(AbortSignal.timeout(10_000));
    });
    after(() => store.stop(AbortSignal.timeout(5_000)));

    it('creates an account and lists it', async () => {
      expect((await good(['accounts', 'create', 'acme', '--plan', 'growth'])).out).to.equal(
        'acme\n',
      );
      const rows = (await good(['accounts', 'list'])).out.split('\n').map(line => line.split(/ +/));
      expect(rows[0]).to.deep.equal([
        'NAME',
        'PLAN',
        'STATE',
        'INTRANET',
        'KEYS',
        'RUNNING',
        'USAGE',
        'REUSE',
      ]);
      expect(rows[1]).to.deep.equal(['acme', 'growth', 'active', 'off', '0', '0', '0', 'on']);
    });

    it('changes an account', async () => {
      await good([
        'accounts',
        'set',
        'acme',
        '--plan',
        'scale',
        '--intranet',
        'on',
        '--renderer-reuse',
        'off',
        '--state',
        'past_due',
      ]);
      expect((await good(['accounts', 'list'])).out).to.match(/acme +scale +past_due +on .* off\n/);
    });

    it('prints only the new key to stdout, for use in scripts', async () => {
      const { out, errors } = await good([
        'keys',
        'create',
        '--account',
        'acme',
        '--name',
        'billing job',
      ]);
      expect(out).to.match(KEY);
      expect(errors).not.to.include(out.trim());
      keyId = /^Created key (\w+)\./.exec(errors)![1]!;
      const list = (await good(['keys', 'list', '--account', 'acme'])).out;
      expect(list)
        .to.include(keyId)
        .and.include('billing job')
        .and.include(`…${out.trim().slice(-4)}`)
        .and.not.include(out.trim());
    });

    it('creates read-only keys and test keys, and lists scopes and type', async () => {
      const create = async (...args: string[]) => {
        const { out, errors } = await good(['keys', 'create', '--account', 'acme', ...args]);
        return { text: out.trim(), id: /^Created key (\w+)\./.exec(errors)![1]! };
      };
      const read = await create('--scope', 'read');
      const test = await create('--test');
      expect(read.text).to.match(/^pressroom_live_/);
      expect(test.text).to.match(/^pressroom_test_/);
      const list = (await good(['keys', 'list', '--account', 'acme'])).out;
      expect(list).to.match(new RegExp(`${read.id} .* live +read +\\d`));
      expect(list).to.match(new RegExp(`${test.id} .* test +render, read +\\d`));
      expect((await good(['accounts', 'list'])).out).to.match(/acme .* 3 +0 +0/);
      for (const { id } of [read, test]) await good(['keys', 'revoke', id]);
      await store.console.audit.deleteMany({ 'details.key': { $in: [read.id, test.id] } });
    });

    it('revokes a key by its ID without an account', async () => {
      await good(['keys', 'revoke', keyId]);
      expect((await good(['keys', 'list'])).out).not.to.include(keyId);
      const again = await pressroom(['keys', 'revoke', keyId]);
      expect(again.code).to.equal(1);
      expect(again.errors).to.include(keyId).and.include('keys list');
    });

    it('records changes of accounts and keys in the audit log of the account', async () => {
      const account = (await store.accounts.findOne({ name: 'acme' }))!;
      const entries = await store.console.audit
        .find({ account: account._id })
        .sort({ at: 1 })
        .toArray();
      expect(
        entries.map(({ actor, user, action, target }) => [actor, user, action, target]),
      ).to.deep.equal([
        ['command line', undefined, 'account.created', 'acme'],
        ['command line', undefined, 'account.changed', 'acme'],
        ['command line', undefined, 'key.created', 'billing job'],
        ['command line', undefined, 'key.revoked', 'billing job'],
      ]);
      expect(entries[0]!.details).to.deep.equal({ plan: 'growth' });
      expect(entries[1]!.details).to.deep.equal({
        plan: 'scale',
        planBefore: 'growth',
        state: 'past_due',
        stateBefore: 'active',
        intranet: true,
        intranetBefore: false,
        rendererReuse: false,
        rendererReuseBefore: true,
      });
      for (const { details } of entries.slice(2))
        expect(details).to.include({ key: keyId }).and.have.property('last4');
    });

    it('prints one line and exits with 1 when a command fails', async () => {
      for (const [args, texts] of [
        [
          ['accounts', 'create', 'acme'],
          ['already', 'acme'],
        ],
        [
          ['accounts', 'create', 'other', '--plan', 'gold'],
          ['gold', 'scale'],
        ],
        [['accounts', 'set', 'nobody', '--plan', 'free'], ['nobody']],
        [
          ['accounts', 'set', 'acme'],
          ['plan', 'state'],
        ],
        [['keys', 'create', '--account', 'nobody'], ['nobody']],
      ] as const) {
        const { code, errors, out } = await pressroom([...args]);
        expect(code, errors).to.equal(1);
        expect(out).to.equal('');
        expect(errors.trim().split('\n')).to.have.length(1);
        for (const text of texts) expect(errors).to.include(text);
      }
    });

    it('reports an unreachable database without printing its password', async () => {
      const { code, errors } = await pressroom(['accounts', 'list'], {
        MONGODB_URI: 'mongodb://me:hidden@127.0.0.1:1/?authSource=admin',
        PRESSROOM_PEPPER: 'a pepper of the tests',
      });
      expect(code).to.equal(1);
      expect(errors).to.include('MongoDB').and.not.include('hidden');
    });
  });

  describe('with invalid arguments or variables', () => {
    const cases: [string[], string][] = [
      [['acounts', 'list'], 'accounts'],
      [['accounts'], 'Usage'],
      [['accounts', 'create'], 'name'],
      [['accounts', 'create', 'x', '--plam', 'free'], '--plan'],
      [['accounts', 'set', 'x', '--intranet', 'maybe'], 'on, off'],
      [['accounts', 'set', 'x', '--renderer-reuse', 'never'], 'on, off'],
      [['accounts', 'set', 'x', '--state', 'gone'], 'past_due'],
      [['keys', 'create'], '--account'],
      [['keys', 'create', '--account', 'x', '--scope', 'write'], 'render, read'],
      [['keys', 'create', '--account', 'x', '--scope'], 'argument missing'],
      [['render', 'x.pdf'], '--output'],
      [['render', 'x.html'], 'PRESSROOM_KEY'],
      [
        ['render', 'x.html', '-o', 'x.pdf', '--key', 'k', '--server', 'here'],
        '--server must be a URL',
      ],
      [['render', 'x.html', '-o', 'x.pdf', '--key', 'k', '--scale', 'big'], 'number'],
      [['render', 'x.html', '-o', 'x.pdf', '--key', 'k', '--json', '[1]'], 'JSON object'],
      [['api', 'now'], 'too many arguments'],
    ];
    for (const [args, message] of cases)
      it(`prints the usage error and exits with 2: ${args.join(' ')}`, async () => {
        const { code, errors, out } = await pressroom(args);
        expect(code, errors).to.equal(2);
        expect(errors).to.include(message);
        expect(out).to.equal('');
      });

    it('reports an invalid variable', async () => {
      const { code, errors } = await pressroom(['accounts', 'list'], {
        ...env,
        PRESSROOM_PLANS: 'gold',
      });
      expect(code).to.equal(2);
      expect(errors).to.include('PRESSROOM_PLANS');
    });
  });

  it('ends without a message when its reader stops early', async () => {
    const command = 'for i in 1 2 3; do "$0" "$1" render --help | true; done';
    const shell = spawn('bash', ['-c', command, process.execPath, PRESSROOM_PROGRAM]);
    expect(await text(shell.stderr)).to.equal('');
  });

  it('prints help with the exit codes for every command', async () => {
    for (const command of [
      [],
      ['accounts'],
      ['accounts', 'create'],
      ['keys', 'revoke'],
      ['render'],
      ['doctor'],
    ]) {
      const { out } = await good([...command, '--help']);
      expect(out).to.include('Usage: pressroom');
      if (command.length !== 1 || command[0] !== 'accounts') expect(out).to.include('Exit codes');
    }
    expect((await good(['--version'])).out).to.match(/^\d+\.\d+\.\d+\n$/);
  });

  describe('while Pressroom runs on this machine', () => {
    let server: NpmStart;
    let here: Record<string, string>;
    let key: string;

    before(async () => {
      server = await npmStart(at('data'));
      here = { PRESSROOM_DATA_DIR: at('data'), PRESSROOM_SERVER: server.url };
      await writeFile(at('page.html'), '<title>Of a file</title><h1>Hello</h1>');
    });

    after(async () => {
      server.ctrlC();
      expect(await server.ended).to.equal(0);
    });

    it('uses the database of the running installation', async () => {
      await good(['accounts', 'create', 'beside', '--plan', 'growth'], here);
      key = (await good(['keys', 'create', '--account', 'beside'], here)).out.trim();
      expect((await good(['accounts', 'list'], here)).out)
        .to.match(/beside +growth/)
        .and.match(/default +scale/);
    });

    it('renders a file, and standard input to standard output', async () => {
      const settings = { ...here, PRESSROOM_KEY: key };
      const { out, errors } = await good(
        ['render', 'page.html', '--format', 'A5', '--landscape', '--margin', '1cm'],
        settings,
      );
      expect(out).to.equal('');
      expect(errors).to.include('Saved page.pdf (1 page).');
      const pdf = (await readFile(at('page.pdf'))).toString('latin1');
      const [width, height] = /MediaBox \[0 0 ([\d.]+) ([\d.]+)\]/.exec(pdf)!.slice(1).map(Number);
      expect(width!).to.be.closeTo(595, 2);
      expect(height!).to.be.closeTo(420, 2);

      await good(['render', 'page.html', '--filename', 'order 7: ü (€)'], settings);
      expect((await readFile(at('order 7- ü (€).pdf'))).subarray(0, 5).toString()).to.equal(
        '%PDF-',
      );

      const piped = await pressroom(
        ['render', '-', '--json', '{"scale":0.5}'],
        settings,
        '<h1>Of standard input</h1>',
      );
      expect(piped.code, piped.errors).to.equal(0);
      expect(piped.out.slice(0, 5)).to.equal('%PDF-');
    });

    it('shows on a terminal how long a render takes, and nothing elsewhere', async () => {
      const settings = { ...here, PRESSROOM_KEY: key };
      const args = ['render', 'page.html', '-o', 'slow.pdf', '--wait-delay', '2500ms'];
      expect((await good(args, settings)).errors).to.equal('Saved slow.pdf (1 page).\n');
      const { PATH = '', HOME = '' } = process.env;
      const command = [process.execPath, PRESSROOM_PROGRAM, ...args].join(' ');
      const terminal = spawn('script', ['-qec', command, '/dev/null'], {
        cwd: at(),
        env: { PATH, HOME, TERM: 'xterm', ...settings },
        stdio: ['ignore', 'pipe', 'ignore'],
      });
      const shown = await text(terminal.stdout);
      expect(shown).to.include('Rendering page.html: 1 s').and.include('Rendering page.html: 2 s');
      // The line is gone before the message.
      expect(shown.trimEnd()).to.match(/\r\x1b\[KSaved slow\.pdf \(1 page\)\.$/);
    });

    it('says what may be wrong with the PDF', async () => {
      await writeFile(at('flawed.html'), '<img src="http://10.0.0.1/logo.png">x');
      const header = '<div style="height:100mm">x</div>';
      const { errors } = await good(['render', 'flawed.html', '--header', header], {
        ...here,
        PRESSROOM_KEY: key,
      });
      expect(errors)
        .to.include('Saved flawed.pdf (1 page).\n')
        .and.include('1 resource of the page did not load.')
        .and.include('The header is taller than its height');
    });

    it('prints the error message of the API and writes no file', async () => {
      const settings = { ...here, PRESSROOM_KEY: key };
      const wrong = await pressroom(
        ['render', 'page.html', '-o', 'wrong.pdf', '--pages', '3-1'],
        settings,
      );
      expect(wrong.code).to.equal(1);
      expect(wrong.errors)
        .to.include('pages')
        .and.include('validation_error')
        .and.match(/request [0-9a-f-]{36}/);
      const denied = await pressroom(
        ['render', 'page.html', '-o', 'wrong.pdf', '--key', 'pressroom_live_no'],
        settings,
      );
      expect(denied.code).to.equal(1);
      expect(denied.errors).to.include('unauthorized');
      expect((await readdir(at())).filter(name => name.includes('wrong'))).to.deep.equal([]);
    });

    it('reports a missing file and an unreachable server', async () => {
      const settings = { ...here, PRESSROOM_KEY: key };
      expect((await pressroom(['render', 'none.html', '-o', 'x.pdf'], settings)).errors)
        .to.include('none.html')
        .and.include('ENOENT');
      const away = await pressroom(
        ['render', 'page.html', '-o', 'x.pdf', '--server', 'http://127.0.0.1:1'],
        settings,
      );
      expect(away.code).to.equal(1);
      expect(away.errors).to.include('http://127.0.0.1:1').and.include('npm start');
    });
  });

  // In its own suite, because mocha runs nested suites after the single tests.
  describe('while Pressroom is not running', () => {
    it('starts the managed mongod for each command, one after the other', async () => {
      const here = { PRESSROOM_DATA_DIR: at('data') };
      const lists = await Promise.all([
        good(['accounts', 'list'], here),
        good(['keys', 'list'], here),
      ]);
      expect(lists[0].out).to.include('beside');
      expect(lists[1].out).to.include('first start');
    });
  });

  it('checks the machine with doctor, including a start of Chrome', async () => {
    const { out, code } = await pressroom(['doctor']);
    expect(code, out).to.equal(0);
    const lines = out.trim().split('\n');
    expect(lines).to.have.length(10);
    for (const line of lines) expect(line).to.match(/^(ok {4}|warn {2}|fail {2})\S/);
    expect(out)
      .to.match(/Node 24/)
      .and.match(/Chrome\/\d+/)
      .and.include('MongoDB at MONGODB_URI is responding')
      .and.match(/Fonts for Latin, .*emoji/);
    const bad = await pressroom(['doctor'], { ...env, PRESSROOM_CHROME: '/nowhere/chrome' });
    expect(bad.code).to.equal(1);
    expect(bad.out).to.match(/^fail {2}.*\/nowhere\/chrome/m);
  });
});
