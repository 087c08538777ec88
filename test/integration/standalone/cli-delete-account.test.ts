// @proves account-deletion, audit-log
// `pressroom accounts delete`: what it says before, what it needs, and a second run after a kill.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { MongoClient } from 'mongodb';
import { connectStore, type Store } from '../../../api/store/store.ts';
import { silentLog } from '../../../common/log.ts';
import { eventually } from '../../support/eventually.ts';
import { PRESSROOM_PROGRAM, runNodeProgram } from '../../support/run-program.ts';
import { freshMongod } from '../../support/servers/mongod.ts';
import { storedJob } from '../../support/stored-job.ts';

const SECRET = 'a secret of the tests that is long enough';
const DATABASE = 'deletions';
const MAIN = fileURLToPath(new URL('../../../cli/main.ts', import.meta.url));

describe('the deletion of an account on the command line', function () {
  this.timeout(120_000);
  let mongod: Awaited<ReturnType<typeof freshMongod>>;
  let admin: MongoClient;
  let env: Record<string, string>;
  let store: Store;

  const pressroom = (...args: string[]) => runNodeProgram(PRESSROOM_PROGRAM, args, env);
  async function good(...args: string[]) {
    const ran = await pressroom(...args);
    expect(ran.code, ran.errors).to.equal(0);
    return ran;
  }

  before(async () => {
    mongod = await freshMongod();
    admin = await MongoClient.connect(mongod.uri);
    env = {
      MONGODB_URI: mongod.uriFor(DATABASE),
      PRESSROOM_PEPPER: 'a pepper of the tests',
      PRESSROOM_SECRET: SECRET,
    };
    store = connectStore({ uri: env['MONGODB_URI']!, operationTimeoutMs: 5_000 }, silentLog);
    await store.start(AbortSignal.timeout(10_000));
  });
  after(async () => {
    await store?.stop(AbortSignal.timeout(5_000));
    await admin?.close();
    await mongod?.stop();
  });

  /** With two keys and a finished asynchronous render. */
  async function account(name: string): Promise<string> {
    await good('accounts', 'create', name);
    await good('keys', 'create', '--account', name);
    await good('keys', 'create', '--account', name, '--test');
    const { _id } = (await store.accounts.findOne({ name }))!;
    await storedJob(store, SECRET, _id, { pdf: Buffer.alloc(100_000) });
    return _id;
  }
  const jobsOf = (id: string) => store.asynchronous.jobs.countDocuments({ account: id });

  for (const [how, args, message] of [
    ['without --confirm', [], 'Nothing was deleted. Deleting account "acme"'],
    ['with another name', ['--confirm', 'Acme'], 'Nothing was deleted: --confirm is not "acme".'],
  ] as const)
    it(`deletes nothing ${how}, but says what it would delete and how`, async () => {
      const id = (await store.accounts.findOne({ name: 'acme' }))?._id ?? (await account('acme'));
      const { code, out, errors } = await pressroom('accounts', 'delete', 'acme', ...args);
      expect(code).to.equal(2);
      expect(out).to.equal('');
      expect(errors)
        .to.include(message)
        .and.include('2 API keys\n')
        .and.include('1 asynchronous render with its PDF\n')
        .and.match(/run: pressroom accounts delete acme --confirm acme\n$/);
      expect(await store.accounts.countDocuments({ _id: id })).to.equal(1);
      expect(await jobsOf(id)).to.equal(1);
    });

  it('prints a command for the shell for every name', async () => {
    const name = "Ada's $HOME";
    await good('accounts', 'create', name);
    const { errors } = await pressroom('accounts', 'delete', name);
    const quoted = String.raw`'Ada'\''s $HOME'`;
    expect(errors).to.include(`pressroom accounts delete ${quoted} --confirm ${quoted}\n`);
  });

  it('prints a command that works for a name like an option', async () => {
    await good('accounts', 'create', '--', '-x');
    const { errors } = await pressroom('accounts', 'delete', '--', '-x');
    const printed = /run: pressroom (.*)\n$/.exec(errors)![1]!.split(' ');
    expect((await good(...printed)).errors).to.match(/^Deleted account "-x"/);
  });

  it('deletes the account and its data, and records it in the audit log', async () => {
    const id = await account('other');
    const { out, errors } = await good('accounts', 'delete', 'other', '--confirm', 'other');
    expect(out).to.equal('');
    expect(errors).to.equal(`Deleted account "other" (${id}).\n`);
    expect((await good('accounts', 'list')).out).to.not.include('other');
    expect(await jobsOf(id)).to.equal(0);
    const entries = await store.console.audit.find({ account: id }).sort({ at: -1 }).toArray();
    expect(entries[0]).to.include({
      actor: 'command line',
      action: 'account.deleted',
      target: 'other',
    });
    const again = await pressroom('accounts', 'delete', 'other', '--confirm', 'other');
    expect(again.code).to.equal(1);
    expect(again.errors).to.include('There is no account named `other`');
  });

  it('is refused for an account with a subscription, with the fix', async () => {
    const id = await account('payer');
    const billing = { 'billing.subscription': 'sub_1', 'billing.periodEnd': new Date(2 ** 42) };
    await store.accounts.updateOne({ _id: id }, { $set: billing });
    const { code, errors } = await pressroom('accounts', 'delete', 'payer', '--confirm', 'payer');
    expect(code).to.equal(1);
    expect(errors).to.include('subscription at Stripe (sub_1)').and.include('Cancel it there');
    expect(await jobsOf(id)).to.equal(1);
  });

  it('is not blocked by the transaction of a process that was killed', async () => {
    const id = await account('half');
    const dead = await MongoClient.connect(mongod.uriFor(DATABASE), { appName: 'pressroom' });
    const session = dead.startSession();
    session.startTransaction();
    await dead
      .db()
      .collection<{ _id: string }>('accounts')
      .findOneAndDelete({ _id: id }, { session });
    // Otherwise it could be the transaction of a process that lives.
    const idle = [
      { $currentOp: { idleSessions: true } },
      { $match: { 'transaction.timeInactiveMicros': { $gte: 3_000_000 } } },
    ];
    await eventually(async () =>
      expect(await admin.db('admin').aggregate(idle).toArray()).to.have.length(1),
    );
    await good('accounts', 'delete', 'half', '--confirm', 'half');
    expect(await store.accounts.countDocuments({ _id: id })).to.equal(0);
    expect(await jobsOf(id)).to.equal(0);
    await session.endSession();
    await dead.close();
  });

  it('is finished by a second run after kill -9, and deletes no new account', async () => {
    const id = await account('killed');
    const failPoint = (mode: string) =>
      admin.db('admin').command({
        configureFailPoint: 'failCommand',
        mode,
        data: {
          failCommands: ['delete'],
          namespace: `${DATABASE}.jobs`,
          blockConnection: true,
          // Longer than the command waits. Turning it off waits for what it blocks.
          blockTimeMS: 10_000,
        },
      });
    await failPoint('alwaysOn');
    const args = [MAIN, 'accounts', 'delete', 'killed', '--confirm', 'killed'];
    const { PATH = '', HOME = '' } = process.env;
    const child = spawn(process.execPath, args, { env: { PATH, HOME, ...env }, stdio: 'ignore' });
    const closed = once(child, 'close');
    await eventually(async () =>
      expect(await store.deletedAccounts.countDocuments({ _id: id })).to.equal(1),
    );
    child.kill('SIGKILL');
    await closed;
    expect(await store.accounts.countDocuments({ _id: id })).to.equal(0);
    expect(await jobsOf(id)).to.equal(1);
    await failPoint('off');
    const next = await account('killed');
    const { errors } = await good('accounts', 'delete', 'killed', '--confirm', 'killed');
    expect(errors).to.equal(
      `Finished the deletion of account "killed" (${id}).\nAnother account has this name now (${next}) and was not deleted. To delete it, run the command again.\n`,
    );
    expect(await jobsOf(id)).to.equal(0);
    expect(await store.accounts.countDocuments({ _id: next })).to.equal(1);
    expect(await jobsOf(next)).to.equal(1);
  });

  it('says that data remains when MongoDB fails in the middle, and how to go on', async () => {
    const id = await account('failed');
    const failPoint = (mode: string) =>
      admin.db('admin').command({
        configureFailPoint: 'failCommand',
        mode,
        data: { failCommands: ['delete'], namespace: `${DATABASE}.jobs`, errorCode: 2 },
      });
    await failPoint('alwaysOn');
    const { code, errors } = await pressroom('accounts', 'delete', 'failed', '--confirm', 'failed');
    await failPoint('off');
    expect(code).to.equal(1);
    expect(errors)
      .to.include('some of its data remains')
      .and.include('pressroom accounts delete failed --confirm failed');
    await good('accounts', 'delete', 'failed', '--confirm', 'failed');
    expect(await jobsOf(id)).to.equal(0);
  });
});
