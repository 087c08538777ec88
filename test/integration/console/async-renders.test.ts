// @proves permissions, foreign-ids, audit-log, gone

import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import type {
  AsyncRenderDetail,
  AsyncRenderViews,
} from '../../../api/console/contract/async-renders.ts';
import type { AuditPage } from '../../../api/console/contract/users.ts';
import { createJobId } from '../../../api/jobs/job-id.ts';
import type { JobDocument } from '../../../api/store/store.ts';
import type { Batch } from '../../../common/contract/batches.ts';
import { asyncClient, batchClient } from '../../support/async-fixture.ts';
import {
  CONSOLE_SECRET,
  type ConsoleFixture,
  consoleFixture,
  type TestUser,
} from '../../support/console/console-fixture.ts';
import { storedJob } from '../../support/stored-job.ts';

describe('asynchronous renders in the management API', () => {
  let fixture: ConsoleFixture;
  let account: string;
  let developer: TestUser;
  before(async () => {
    fixture = await consoleFixture({ workers: 0 });
  });
  beforeEach(async () => {
    account = await fixture.account2();
    developer = await fixture.createUser({ role: 'developer', account });
  });
  after(() => fixture.stop());

  const path = (rest = '') => `/accounts/${account}/async-renders${rest}`;
  const stored = (over?: Parameters<typeof storedJob>[3]) =>
    storedJob(fixture.store, CONSOLE_SECRET, account, over);
  const list = (query = '') => developer.good<AsyncRenderViews>('GET', path(query));
  const idsOf = ({ items }: AsyncRenderViews) => items.map(({ id }) => id);
  const problem = async (method: string, rest: string, who = developer) => {
    const answer = await who.call(method, path(rest));
    return { status: answer.status, ...answer.error() };
  };
  const audited = async () => {
    const owner = await fixture.createUser({ role: 'owner', account });
    return (await owner.good<AuditPage>('GET', `/accounts/${account}/audit`)).items;
  };

  it('show what the API shows and the key, but nothing of the request', async () => {
    const { name } = (await fixture.store.accounts.findOne({ _id: account }))!;
    const { text, key } = await fixture.accounts.createKey(name, { name: 'invoices' });
    const client = asyncClient(fixture.api.port(), text);
    const body = { html: '<p>a secret text</p>', reference: 'invoice 7', filename: 'seven.pdf' };
    const { id } = await client.submit(body);
    const expected = {
      ...(await client.read(id)),
      key: { id: key.id, name: 'invoices', last4: text.slice(-4) },
    };
    const detail = { ...expected, attempt_log: [] };
    expect(await developer.good('GET', path(`/${id}`))).to.deep.equal(detail);
    const { items, next } = await list();
    expect(items).to.deep.equal([expected]);
    expect(next).to.equal(null);
    expect(JSON.stringify(items)).not.to.match(/secret text|seven/);
  });

  it('are listed newest first, page by page, and filtered by status', async () => {
    const jobs: JobDocument[] = [];
    for (let index = 0; index < 5; index++)
      jobs.push(
        await stored({
          createdAt: new Date(Date.now() - index * 1_000),
          status: index % 2 === 0 ? 'queued' : 'canceled',
        }),
      );
    const ids = jobs.map(({ _id }) => _id);
    const first = await list('?limit=3');
    expect(idsOf(first)).to.deep.equal(ids.slice(0, 3));
    expect(idsOf(await list(`?limit=3&cursor=${first.next}`))).to.deep.equal(ids.slice(3));
    expect(idsOf(await list('?status=canceled'))).to.deep.equal([ids[1], ids[3]]);
  });

  it('show how each attempt ended, but no messages', async () => {
    const at = (second: number) => new Date(Date.UTC(2027, 0, 1, 12, 0, second));
    const error = { code: 'render_failed', reason: 'worker_lost', message: 'Lost.' } as const;
    const { _id } = await stored({
      status: 'failed',
      attemptLog: [
        { startedAt: at(1), endedAt: at(2) },
        { startedAt: at(3), endedAt: at(4), error: { code: 'render_failed', reason: 'internal' } },
        { startedAt: at(5) },
      ],
      endedAt: at(6),
      error,
    });
    const time = (second: number) => at(second).toISOString();
    const shown = await developer.good<AsyncRenderDetail>('GET', path(`/${_id}`));
    expect(shown).to.deep.include({ attempts: 3, error });
    expect(shown.attempt_log).to.deep.equal([
      { started_at: time(1), ended_at: time(2), outcome: 'interrupted' },
      {
        started_at: time(3),
        ended_at: time(4),
        outcome: 'failed',
        error: { code: 'render_failed', reason: 'internal' },
      },
      {
        started_at: time(5),
        ended_at: time(6),
        outcome: 'failed',
        error: { code: 'render_failed', reason: 'worker_lost' },
      },
    ]);
    expect((await list()).items[0]).not.to.have.property('attempt_log');
  });

  it('reject an unknown status, cursor, limit or parameter', async () => {
    for (const query of ['status=done', 'cursor=x', 'limit=0', 'limit=101', 'account=other'])
      expect(await problem('GET', `?${query}`), query).to.include({
        status: 400,
        code: 'validation_error',
      });
  });

  it('are canceled by a developer, with one audit entry', async () => {
    const { _id } = await stored({ reference: 'invoice 7' });
    for (let times = 0; times < 2; times++)
      expect(await developer.good('DELETE', path(`/${_id}`))).to.include({ status: 'canceled' });
    expect(await fixture.store.asynchronous.outbox.countDocuments({ _id })).to.equal(1);
    const [entry, ...others] = await audited();
    expect(others).to.deep.equal([]);
    expect(entry).to.deep.include({
      actor: developer.email,
      action: 'render.canceled',
      target: 'invoice 7',
      details: { render: _id },
      ip: '127.0.0.1',
    });
  });

  it('that have ended are not canceled, and nothing is audited', async () => {
    const { _id } = await stored({ pdf: Buffer.from('a PDF') });
    expect(await problem('DELETE', `/${_id}`)).to.include({
      status: 409,
      message: 'The render has already ended: it is succeeded.',
    });
    expect(await audited()).to.deep.equal([]);
  });

  it('are downloaded with their file name until they expire', async () => {
    const pdf = Buffer.from('the bytes of a PDF');
    const { _id } = await stored({ pdf, filename: 'invoice.pdf', sandbox: true });
    const answer = await developer.call('GET', path(`/${_id}/pdf`));
    expect(answer.status).to.equal(200);
    expect(answer.body.equals(pdf)).to.equal(true);
    expect(answer.headers).to.include({
      'content-type': 'application/pdf',
      'content-length': String(pdf.length),
      'content-disposition': 'inline; filename="invoice.pdf"',
      'cache-control': 'no-store',
      'x-sandbox': 'true',
    });
    const past = new Date(Date.now() - 1_000);
    await fixture.store.asynchronous.jobs.updateOne({ _id }, { $set: { expiresAt: past } });
    expect(await problem('GET', `/${_id}/pdf`)).to.include({ status: 410, code: 'gone' });
  });

  it('have no PDF before they succeed', async () => {
    const { _id } = await stored();
    expect(await problem('GET', `/${_id}/pdf`)).to.include({ status: 409, code: 'conflict' });
  });

  it('of another account are not found, and are not canceled', async () => {
    const other = await fixture.account2();
    const { _id } = await storedJob(fixture.store, CONSOLE_SECRET, other);
    for (const id of [_id, createJobId(), randomUUID()])
      for (const [method, rest] of [
        ['GET', ''],
        ['GET', '/pdf'],
        ['DELETE', ''],
      ] as const)
        expect(await problem(method, `/${id}${rest}`), `${method} ${id}${rest}`).to.include({
          status: 404,
          code: 'not_found',
        });
    expect(await fixture.store.asynchronous.jobs.findOne({ _id })).to.include({ status: 'queued' });
    expect(idsOf(await list())).to.deep.equal([]);
  });

  it('are read by a viewer, who can neither cancel nor download', async () => {
    const viewer = await fixture.createUser({ role: 'viewer', account });
    const { _id } = await stored({ pdf: Buffer.from('a PDF') });
    expect(await viewer.good('GET', path(`/${_id}`))).to.include({ id: _id });
    expect(await problem('DELETE', `/${_id}`, viewer)).to.include({ status: 403 });
    expect(await problem('GET', `/${_id}/pdf`, viewer)).to.include({ status: 403 });
  });

  it('are read by an administrator of the installation, who gets no PDF', async () => {
    const operator = await fixture.createUser({ operator: true });
    const { _id } = await stored({ pdf: Buffer.from('a PDF') });
    expect(await operator.good('GET', path(`/${_id}`))).to.include({ id: _id });
    expect(await problem('GET', `/${_id}/pdf`, operator)).to.include({ status: 404 });
  });

  describe('of a batch', () => {
    /** Three queued renders. */
    async function submitted() {
      const { name } = (await fixture.store.accounts.findOne({ _id: account }))!;
      const { text } = await fixture.accounts.createKey(name, { name: 'invoices' });
      const lines = [1, 2, 3].map(number => JSON.stringify({ html: `<p>${number}</p>` }));
      const batches = batchClient(fixture.api.port(), text);
      return { batches, batch: await batches.submit(lines.join('\n')) };
    }
    const batchPath = (id: string) => `/accounts/${account}/batches/${id}`;

    it('are listed and counted as by the API', async () => {
      const { batches, batch } = await submitted();
      const other = await stored();
      const own = await list(`?batch=${batch.id}`);
      expect(own.items.map(item => item.batch)).to.have.deep.members(
        [0, 1, 2].map(index => ({ id: batch.id, index })),
      );
      expect(idsOf(await list()))
        .to.have.length(4)
        .and.include(other._id);
      expect(await developer.good('GET', batchPath(batch.id))).to.deep.equal(
        await batches.read(`/v1/batches/${batch.id}`),
      );
    });

    it('are canceled together, with one audit entry', async () => {
      const { batch } = await submitted();
      const one = (await list(`?batch=${batch.id}&limit=1`)).items[0]!;
      await fixture.store.asynchronous.jobs.updateOne(
        { _id: one.id },
        { $set: { status: 'expired' } },
      );
      for (let times = 0; times < 2; times++) {
        const { counts } = await developer.good<Batch>('DELETE', batchPath(batch.id));
        expect(counts).to.include({ queued: 0, canceled: 2, expired: 1 });
      }
      const [entry, ...others] = await audited();
      expect(others).to.deep.equal([]);
      expect(entry).to.deep.include({
        actor: developer.email,
        action: 'batch.canceled',
        target: batch.id,
        details: { canceled: 2 },
      });
    });

    it('of another account are neither found nor canceled', async () => {
      const { batch } = await submitted();
      const other = await fixture.account2();
      const stranger = await fixture.createUser({ role: 'owner', account: other });
      for (const method of ['GET', 'DELETE'])
        expect(
          (await stranger.call(method, `/accounts/${other}/batches/${batch.id}`)).status,
          method,
        ).to.equal(404);
      expect(
        idsOf(await stranger.good('GET', `/accounts/${other}/async-renders?batch=${batch.id}`)),
      ).to.deep.equal([]);
      const { counts } = await developer.good<Batch>('GET', batchPath(batch.id));
      expect(counts.queued).to.equal(3);
    });
  });

  it('are not canceled by a request from another site', async () => {
    const { _id } = await stored();
    const answer = await developer.call('DELETE', path(`/${_id}`), undefined, {
      'sec-fetch-site': 'cross-site',
    });
    expect(answer.status).to.equal(403);
    expect(await developer.good('GET', path(`/${_id}`))).to.include({ status: 'queued' });
  });
});

describe('the management API without asynchronous renders', () => {
  let fixture: ConsoleFixture;
  before(async () => {
    fixture = await consoleFixture({ workers: 0, env: { PRESSROOM_ASYNC: 'off' } });
  });
  after(() => fixture.stop());

  it('has no routes for them, and the dashboard knows', async () => {
    const owner = await fixture.createUser({ role: 'owner' });
    const me = await owner.good<{ installation: { asyncRenders: boolean } }>('GET', '/me');
    expect(me.installation.asyncRenders).to.equal(false);
    const path = `/accounts/${fixture.accountId}/async-renders`;
    expect((await owner.call('GET', path)).status).to.equal(404);
    expect(fixture.api.consoleRows.filter(row => row.path.includes('async'))).to.deep.equal([]);
  });
});
