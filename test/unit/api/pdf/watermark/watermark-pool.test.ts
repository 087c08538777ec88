import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { fileURLToPath } from 'node:url';
import type { Worker } from 'node:worker_threads';
import { expect } from 'chai';
import * as watermarkModule from '../../../../../api/pdf/watermark/watermark-pdf.ts';
import { WatermarkPool } from '../../../../../api/pdf/watermark/watermark-pool.ts';
import { ApiError } from '../../../../../common/contract/errors.ts';
import { eventually } from '../../../../support/eventually.ts';
import * as faultyModule from '../../../../support/faulty-watermark.ts';

const filename = fileURLToPath(new URL('../../../../support/faulty-watermark.ts', import.meta.url));
const { FAULTS } = faultyModule;
const never = new AbortController().signal;
const pdf = (does: number) => new Uint8Array([does, 42]);

describe('the watermark pool', () => {
  let pool: WatermarkPool;
  const opened: WatermarkPool[] = [];
  const open = (options: ConstructorParameters<typeof WatermarkPool>[0] = {}) => {
    pool = new WatermarkPool({ filename, threads: 1, ...options });
    opened.push(pool);
    return pool;
  };
  /** How many have begun and not ended. */
  let threads = 0;
  const onThread = (message: unknown) => {
    threads++;
    (message as { worker: Worker }).worker.once('exit', () => {
      threads--;
    });
  };
  before(() => subscribe('worker_threads', onThread));
  after(() => unsubscribe('worker_threads', onThread));
  afterEach(() => Promise.all(opened.splice(0).map(each => each.stop())));

  const failure = async (work: Promise<unknown>) =>
    work.then(
      () => expect.fail('it did not fail'),
      (error: ApiError) => error,
    );

  it('runs modules without a default export, so that a thread may end while it loads one', () => {
    // The pool requires the module. Node wraps a module with a default export, and aborts the
    // process when the thread ends before the wrapper has run (CreateRequiredModuleFacade).
    for (const module of [watermarkModule, faultyModule])
      expect(Object.keys(module)).to.include('addWatermarkInThread').and.not.include('default');
  });

  it('starts no thread before the first PDF', async () => {
    open();
    await pool.start();
    expect(threads).to.equal(0);
    await pool.add(pdf(FAULTS.echo), 'account', never);
    expect(threads).to.equal(1);
  });

  it('returns the new PDF and takes over the memory of the given one', async () => {
    const given = pdf(FAULTS.echo);
    expect([...(await open().add(given, 'account', never))]).to.deep.equal([FAULTS.echo, 42]);
    expect(given.length).to.equal(0);
  });

  for (const [what, does] of [
    ['throws', FAULTS.throws],
    ['ends its thread', FAULTS.exits],
    ['uses up its thread’s memory', FAULTS.swells],
  ] as const)
    it(`fails only the PDF that ${what}, and continues with the queued ones`, async () => {
      open({ heapMiB: 64 });
      const broken = failure(pool.add(pdf(does), 'account', never));
      const waiting = [
        pool.add(pdf(FAULTS.echo), 'account', never),
        pool.add(pdf(FAULTS.echo), 'account', never),
      ];
      const error = await broken;
      expect(error)
        .to.be.instanceOf(ApiError)
        .and.to.include({ code: 'render_failed', reason: 'internal' });
      expect(error.cause).to.be.instanceOf(Error);
      for (const each of await Promise.all(waiting))
        expect([...each]).to.deep.equal([FAULTS.echo, 42]);
    });

  it('ends a thread when its caller aborts, and rejects with the reason', async () => {
    open();
    const gone = new AbortController();
    const hanging = failure(pool.add(pdf(FAULTS.hangs), 'account', gone.signal));
    const next = pool.add(pdf(FAULTS.echo), 'account', never);
    setImmediate(() => gone.abort(new Error('the client disconnected')));
    expect((await hanging).message).to.equal('the client disconnected');
    expect([...(await next)]).to.deep.equal([FAULTS.echo, 42]);
  });

  it('removes a queued PDF when its caller aborts', async () => {
    open({ maxWaiting: 2 });
    const [first, second] = [new AbortController(), new AbortController()];
    const hanging = failure(pool.add(pdf(FAULTS.hangs), 'account', first.signal));
    const waiting = failure(pool.add(pdf(FAULTS.echo), 'account', second.signal));
    second.abort(new Error('the client disconnected'));
    expect((await waiting).message).to.equal('the client disconnected');
    const next = pool.add(pdf(FAULTS.echo), 'account', never);
    first.abort(new Error('and so did this one'));
    await hanging;
    expect([...(await next)]).to.deep.equal([FAULTS.echo, 42]);
  });

  it('does not start when the caller has already aborted', async () => {
    const given = pdf(FAULTS.echo);
    expect(
      (await failure(open().add(given, 'account', AbortSignal.abort(new Error('gone'))))).message,
    ).to.equal('gone');
    expect(given.length).to.equal(2);
  });

  it('ends a PDF that takes too long', async () => {
    open({ drawMs: 1_000 });
    expect(await failure(pool.add(pdf(FAULTS.hangs), 'account', never))).to.include({
      reason: 'internal',
    });
    expect([...(await createdAgain())]).to.deep.equal([FAULTS.echo, 42]);
  });
  const createdAgain = () => eventually(() => pool.add(pdf(FAULTS.echo), 'account', never));

  it('rejects as overloaded when too many PDFs are queued', async () => {
    open({ maxWaiting: 2 });
    const gone = new AbortController();
    const held = ['a', 'b', 'c'].map(account =>
      failure(pool.add(pdf(FAULTS.hangs), account, gone.signal)),
    );
    const error = await failure(pool.add(pdf(FAULTS.echo), 'account', never));
    expect(error).to.include({ code: 'render_failed', reason: 'overloaded' });
    expect(error.headers).to.deep.equal({ 'Retry-After': '2' });
    gone.abort(new Error('gone'));
    await Promise.all(held);
    expect([...(await pool.add(pdf(FAULTS.echo), 'account', never))]).to.deep.equal([
      FAULTS.echo,
      42,
    ]);
  });

  it('rejects an account over its fair share, and accepts another one', async () => {
    open({ maxWaiting: 3 });
    const gone = new AbortController();
    const held = [1, 2, 3].map(() => failure(pool.add(pdf(FAULTS.hangs), 'greedy', gone.signal)));
    const error = await failure(pool.add(pdf(FAULTS.echo), 'greedy', never));
    expect(error).to.include({ code: 'concurrency_limit', status: 429 });
    const other = pool.add(pdf(FAULTS.echo), 'modest', never);
    gone.abort(new Error('gone'));
    await Promise.all(held);
    expect([...(await other)]).to.deep.equal([FAULTS.echo, 42]);
  });

  it('serves another account while one has slow PDFs', async () => {
    open({ threads: 2 });
    const gone = new AbortController();
    const held = [1, 2, 3].map(() => failure(pool.add(pdf(FAULTS.hangs), 'greedy', gone.signal)));
    for (let count = 0; count < 3; count++)
      expect([...(await pool.add(pdf(FAULTS.echo), 'modest', never))]).to.deep.equal([
        FAULTS.echo,
        42,
      ]);
    gone.abort(new Error('gone'));
    await Promise.all(held);
  });

  it('serves accounts in turn', async () => {
    open();
    const order: string[] = [];
    const stamp = (accountId: string) =>
      pool.add(pdf(FAULTS.echo), accountId, never).then(() => order.push(accountId));
    await Promise.all(['a', 'a', 'a', 'b', 'c'].map(stamp));
    expect(order).to.deep.equal(['a', 'a', 'b', 'c', 'a']);
  });

  it('rejects as overloaded, not as an internal error, after a long wait behind others', async () => {
    open({ drawMs: 300 });
    const hanging = failure(pool.add(pdf(FAULTS.hangs), 'one', never));
    const waiting = [1, 2].map(() => failure(pool.add(pdf(FAULTS.hangs), 'other', never)));
    expect(await hanging).to.include({ reason: 'internal' });
    expect((await Promise.all(waiting)).map(({ reason }) => reason)).to.include('overloaded');
  });

  it('serves the PDFs of an account in the order of their arrival', async () => {
    open();
    const order: number[] = [];
    await Promise.all(
      [1, 2, 3, 4].map(async n =>
        order.push(await pool.add(pdf(FAULTS.echo), 'account', never).then(() => n)),
      ),
    );
    expect(order).to.deep.equal([1, 2, 3, 4]);
  });

  it('ends its threads and fails their PDFs when the process stops', async () => {
    open();
    const hanging = failure(pool.add(pdf(FAULTS.hangs), 'account', never));
    const waiting = failure(pool.add(pdf(FAULTS.echo), 'account', never));
    await pool.stop();
    expect(await hanging).to.include({ reason: 'internal' });
    expect(await waiting).to.include({ reason: 'internal' });
    expect(threads).to.equal(0);
  });
});
