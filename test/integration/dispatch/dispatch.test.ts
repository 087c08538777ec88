import { expect } from 'chai';
import { pino } from 'pino';
import { Dispatcher } from '../../../api/queue/dispatcher.ts';
import { parseWorkerSources } from '../../../api/workers/worker-addresses.ts';
import { createWorkers, type Workers, type WorkersOptions } from '../../../api/workers/workers.ts';
import { createMetrics } from '../../../common/operations.ts';
import { createFakeSlots, type FakeSession, workerStatus } from '../../support/fake-slots.ts';
import { createStatusServer, type StatusServer } from '../../support/servers/status-server.ts';

const secret = 'the secret that the pool shares';
const pool = 'default';

describe('the workers that the API knows', () => {
  const closing: (() => Promise<void>)[] = [];
  let lines: { msg: string; problem?: string }[];

  beforeEach(() => {
    lines = [];
  });

  afterEach(async () => {
    for (const close of closing.splice(0).reverse()) await close();
  });

  async function server(
    status?: unknown,
    at: { port?: number; host?: string; pool?: string } = {},
  ): Promise<StatusServer> {
    const started = await createStatusServer({ secret, pool, status, ...at });
    closing.push(() => started.close());
    return started;
  }

  async function workersAt(words: string[], more: Partial<WorkersOptions> = {}): Promise<Workers> {
    const log = pino({ level: 'debug' }, { write: (line: string) => lines.push(JSON.parse(line)) });
    const workers = createWorkers({
      sources: parseWorkerSources(words),
      pool,
      secret,
      log,
      ...more,
    });
    closing.push(() => workers.stop(AbortSignal.timeout(1_000)));
    await workers.start();
    return workers;
  }

  /** Waits for the change after which it is so. */
  const until = (workers: Workers, isSo: () => boolean) =>
    new Promise<void>(resolve => {
      const look = () => isSo() && resolve();
      workers.onChange(look);
      look();
    });

  it('are those of the list that answer, with what each has free', async () => {
    const [a, b] = [await server(workerStatus(1)), await server(workerStatus(3, { busy: 1 }))];
    const nobody = await server();
    await nobody.close();
    const workers = await workersAt([a.address, b.address, nobody.address]);
    expect(workers.known()).to.equal(false);
    await until(workers, () => workers.totals().workers === 2);
    expect(workers.totals()).to.deep.equal({ workers: 2, serving: 2, ready: 4, busy: 1, slots: 5 });
    expect(workers.pick()).to.equal(b.address);
  });

  it('change with every word they say', async () => {
    const a = await server(workerStatus(0));
    const workers = await workersAt([a.address]);
    await until(workers, () => workers.known());
    expect(workers.pick()).to.equal(undefined);
    a.send(workerStatus(2));
    await until(workers, () => workers.pick() === a.address);
    a.send(workerStatus(0, { busy: 2, more: { draining: true } }));
    await until(workers, () => !workers.known());
  });

  it('are forgotten when they die and found again when they come back, each time with a new ticket', async () => {
    const first = await server(workerStatus(2));
    const workers = await workersAt([first.address]);
    await until(workers, () => workers.known());
    await first.close();
    await until(workers, () => !workers.known());
    const second = await server(workerStatus(1), { port: first.port });
    await until(workers, () => workers.known());
    second.drop();
    await until(workers, () => !workers.known());
    await until(workers, () => workers.known());
    expect(second.connections()).to.equal(2);
    expect(lines.map(line => line.msg)).to.deep.equal(['a worker is gone', 'a worker is gone']);
  });

  it('are dead when they fall silent, at once or after a word', async () => {
    const mute = await server();
    const workers = await workersAt([mute.address], { silenceMs: 100 });
    await mute.connected();
    expect(workers.known(), 'connected, but it has not said a word').to.equal(false);
    await mute.connected();
    mute.send(workerStatus(1));
    await until(workers, () => workers.known());
    await until(workers, () => !workers.known());
    expect(mute.connections()).to.be.at.least(2);
  });

  it('are not used, and this is logged once, when they serve another pool or speak an unknown protocol', async () => {
    const [other, later, good] = [
      await server(workerStatus(4, { more: { pool: 'other' } })),
      await server(workerStatus(4, { more: { protocol: 99 } })),
      await server(workerStatus(1)),
    ];
    const workers = await workersAt([other.address, later.address, good.address]);
    await Promise.all([
      other.connected(),
      later.connected(),
      until(workers, () => workers.known()),
    ]);
    for (const each of [other, later])
      each.send(workerStatus(3, { more: { protocol: 99, pool: each === other ? 'other' : pool } }));
    good.send(workerStatus(2));
    await until(workers, () => workers.totals().ready === 2);
    later.send(workerStatus(3));
    await until(workers, () => workers.totals().ready === 5);
    expect(workers.totals().workers).to.equal(2);
    expect(lines.map(line => line.problem)).to.have.members([
      'it serves the pool other',
      'it speaks protocol 99; accepted are 0 and 1',
    ]);
  });

  it('are all that a name stands for; one that it names no more is used until it closes, and never called again', async () => {
    const first = await server(workerStatus(1));
    const second = await server(workerStatus(2), { host: '127.0.0.2', port: first.port });
    let answer: string[] | Error = ['127.0.0.1', '127.0.0.2'];
    let asked = Promise.withResolvers<void>();
    const resolve = async (name: string) => {
      expect(name).to.equal('pool.ns.svc');
      asked.resolve();
      asked = Promise.withResolvers();
      if (answer instanceof Error) throw answer;
      return answer;
    };
    const workers = await workersAt([`dns://pool.ns.svc:${first.port}`], { resolve, lookUpMs: 10 });
    await until(workers, () => workers.totals().slots === 3);
    answer = new Error('SERVFAIL');
    await asked.promise;
    await asked.promise;
    expect(workers.totals().workers, 'a failing look-up takes nobody away').to.equal(2);
    answer = ['127.0.0.1'];
    await asked.promise;
    await asked.promise;
    expect(workers.totals().workers, 'it still talks').to.equal(2);
    second.drop();
    await until(workers, () => workers.totals().workers === 1);
    first.drop();
    await until(workers, () => workers.totals().workers === 0);
    await until(workers, () => workers.totals().workers === 1);
    expect([first.connections(), second.connections()]).to.deep.equal([2, 1]);
    answer = ['127.0.0.2'];
    await until(workers, () => workers.totals().workers === 2);
  });

  it('hear nothing more from an API that has stopped', async () => {
    const [a, b] = [await server(workerStatus(1)), await server(workerStatus(1))];
    const workers = await workersAt([a.address, b.address]);
    await until(workers, () => workers.totals().workers === 2);
    const gone = new Promise<void>(resolve => {
      const look = () => (a.open() + b.open() === 0 ? resolve() : setImmediate(look));
      look();
    });
    await workers.stop(AbortSignal.timeout(1_000));
    await gone;
  });

  it('get renders from dispatch as they tell of free slots, and lose them to others when they die', async () => {
    const [a, b] = [await server(workerStatus(2)), await server(workerStatus(0, { busy: 2 }))];
    const workers = await workersAt([a.address, b.address]);
    const slots = createFakeSlots();
    const dispatch = new Dispatcher<FakeSession>({
      queue: { maxLength: 10, maxBytes: 1_000, waitMs: 5_000, waitWithoutWorkersMs: 5_000 },
      workers,
      openSlot: slots.openSlot,
      secret,
      pool,
      metrics: createMetrics({ processDefaults: false }),
    });
    const render = (accountId: string) => {
      const job = {
        accountId,
        trial: false,
        bytes: 1,
        renderId: accountId,
        egress: 'public' as const,
        maxMs: 1_000,
        signal: AbortSignal.timeout(10_000),
      };
      return dispatch.dispatch(job, session =>
        session.worker === a.address ? session.work() : Promise.resolve(`${accountId} on b`),
      );
    };
    const calls = [render('x'), render('y'), render('z')];
    const running = [await slots.next(), await slots.next()];
    expect(slots.attempts).to.deep.equal([a.address, a.address]);
    await a.close();
    for (const session of running) session.end('closed');
    b.send(workerStatus(3));
    expect(await Promise.all(calls)).to.deep.equal(['x on b', 'y on b', 'z on b']);
    await dispatch.drained();
  });
});
