// @proves account-deletion
// What callers and members of a deleted account see, and what becomes of its running renders.
import { expect } from 'chai';
import { pino } from 'pino';
import { AccountDeletion } from '../../../api/accounts/account-deletion.ts';
import { PdfStore } from '../../../api/console/downloads/pdf-store.ts';
import type { Document } from '../../../api/store/store.ts';
import { asyncClient, batchClient } from '../../support/async-fixture.ts';
import {
  CONSOLE_SECRET,
  type ConsoleFixture,
  consoleFixture,
} from '../../support/console/console-fixture.ts';
import { eventually } from '../../support/eventually.ts';
import { renderCall } from '../../support/http-call.ts';
import { html } from '../../support/installation.ts';
import { NOISE } from '../../support/pages/noise-page.ts';
import { storedJob } from '../../support/stored-job.ts';

describe('a deleted account', function () {
  this.timeout(120_000);
  const lines: Document[] = [];
  let fixture: ConsoleFixture;
  let deletion: AccountDeletion;
  let created = 0;

  before(async () => {
    const write = (line: string) => void lines.push(JSON.parse(line));
    fixture = await consoleFixture({ workers: 2, log: pino({ level: 'warn' }, { write }) });
    deletion = new AccountDeletion(fixture.store);
  });
  after(() => fixture?.stop());

  async function account(name = `account ${++created}`) {
    const { id } = await fixture.accounts.createAccount(name, { plan: 'scale' });
    const { text: key } = await fixture.accounts.createKey(name, { name: 'key' });
    const port = fixture.api.port();
    return {
      id,
      name,
      key,
      client: asyncClient(port, key),
      batches: batchClient(port, key),
      render: (body: unknown) => renderCall(port, key, body),
    };
  }
  /** Without the deletion of its data, as after a crash in the middle. */
  const begin = (id: string) => deletion.begin(id, async () => {});
  async function deleteNow(id: string): Promise<void> {
    await begin(id);
    await deletion.finish(id);
  }
  const jobsOf = (id: string) => fixture.store.asynchronous.jobs.countDocuments({ account: id });
  const chunksOf = (job: string) =>
    fixture.store.console.storedPdfChunks.countDocuments({ files_id: new RegExp(`^${job}/`) });
  /** No process runs a job, so that none can store anything. */
  const noneRuns = () =>
    eventually(async () =>
      expect(await fixture.metrics.text()).to.match(/^pressroom_async_running(?:\{.*\})? 0$/m),
    );
  const until = (id: string, running: number) =>
    eventually(async () =>
      expect((await fixture.accounts.accountById(id)).running).to.equal(running),
    );

  it('has no key that works, even where the key was just used', async () => {
    const { id, client, batches, render } = await account();
    const { _id: job } = await storedJob(fixture.store, CONSOLE_SECRET, id, {
      pdf: Buffer.from('%PDF'),
    });
    expect((await render({ html: html('x') })).status).to.equal(200);
    expect((await client.call('GET', `/${job}/pdf`)).status).to.equal(200);
    await begin(id);
    const answers = [
      await render({ html: html('x') }),
      await client.call('POST', '', { html: html('x') }),
      await batches.post('{"html": "x"}'),
      ...(await Promise.all(['', `/${job}`, `/${job}/pdf`].map(path => client.call('GET', path)))),
      await client.call('DELETE', `/${job}`),
    ];
    expect(answers.map(({ status }) => status)).to.deep.equal(answers.map(() => 401));
    expect(await jobsOf(id)).to.equal(1);
    await deletion.finish(id);
    expect(await jobsOf(id)).to.equal(0);
    expect(await chunksOf(job)).to.equal(0);
  });

  it('is gone for its members, whose logins remain', async () => {
    const { id } = await account();
    const member = await fixture.createUser({ role: 'owner', account: id });
    const operator = await fixture.createUser({ operator: true });
    const paths = ['renders', 'keys', 'usage', 'team', 'audit', 'async-renders'];
    for (const path of paths) await member.good('GET', `/accounts/${id}/${path}`);
    await begin(id);
    for (const { call } of [member, operator])
      for (const path of paths)
        expect((await call('GET', `/accounts/${id}/${path}`)).status, path).to.equal(404);
    expect((await operator.call('GET', `/operator/accounts/${id}`)).status).to.equal(404);
    expect((await member.good<{ accounts: [] }>('GET', '/me')).accounts).to.deep.equal([]);
    await deletion.finish(id);
  });

  it('has no link to a PDF that works', async () => {
    const { id } = await account();
    const pdfs = new PdfStore(fixture.store, { ttlMs: 60_000, accountMaxBytes: 2 ** 20 });
    const { token } = await pdfs.save(
      {
        renderId: `rnd_${id}`,
        account: id,
        user: 'usr_1',
        filename: 'a.pdf',
        pages: 1,
        pdf: Buffer.from('%PDF'),
      },
      new AbortController().signal,
    );
    const download = async () => (await fixture.call('GET', `/files/${token}`)).status;
    expect(await download()).to.equal(200);
    await begin(id);
    expect(await download()).to.equal(404);
    await deletion.finish(id);
    expect(await download()).to.equal(404);
  });

  it('ends a synchronous render with an error, and the process goes on', async () => {
    const { id, render } = await account();
    const rendering = render({ html: html('x'), wait_delay: '20s' });
    await until(id, 1);
    await deleteNow(id);
    expect((await rendering).error()).to.include({ code: 'render_failed' });
    expect((await fixture.render({ html: html('x') })).status).to.equal(200);
  });

  it('ends asynchronous renders quietly, and nothing of them remains', async () => {
    const { id, client } = await account();
    const running = await client.submit({ html: html(NOISE), wait_delay: '20s' });
    await until(id, 1);
    const waiting = client.call('GET', `/${running.id}?wait=2s`);
    await deleteNow(id);
    // 401 if the account was deleted before the key was checked.
    expect((await waiting).status).to.be.oneOf([401, 404]);
    await noneRuns();
    expect(await jobsOf(id)).to.equal(0);
    expect(await chunksOf(running.id)).to.equal(0);
    expect(await fixture.store.asynchronous.outbox.countDocuments({ account: id })).to.equal(0);
    const warnings = lines.filter(line => JSON.stringify(line).includes(running.id));
    expect(warnings).to.deep.equal([]);
  });

  it('keeps no PDF of renders that end while the account is deleted', async () => {
    const { id, client } = await account();
    const submitted = await Promise.all(
      Array.from({ length: 6 }, (_, nth) =>
        client.submit({ html: html(NOISE), wait_delay: `${nth * 200}ms` }),
      ),
    );
    await eventually(async () =>
      expect((await client.read(submitted[0]!.id)).attempts).to.equal(1),
    );
    await deleteNow(id);
    await noneRuns();
    for (const job of submitted) expect(await chunksOf(job.id), job.id).to.equal(0);
    expect(await jobsOf(id)).to.equal(0);
    expect(await fixture.store.asynchronous.outbox.countDocuments({ account: id })).to.equal(0);
  });

  it('gives its name to a new account without its renders, keys and usage', async () => {
    const former = await account('reused');
    await former.render({ html: html('x') });
    await former.client.end((await former.client.submit({ html: html('x') })).id);
    await deleteNow(former.id);
    const { id, client } = await account('reused');
    expect(await fixture.accounts.accountById(id)).to.include({ keys: 1, usage: 0, running: 0 });
    expect(JSON.parse((await client.call('GET', '')).body.toString()).items).to.deep.equal([]);
    expect((await former.render({ html: html('x') })).status).to.equal(401);
  });
});
