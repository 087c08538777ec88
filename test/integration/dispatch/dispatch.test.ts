import { expect } from 'chai';
import { pino } from 'pino';
import { Dispatcher } from '../../../api/queue/dispatcher.ts';
import { parseWorkerSources } from '../../../api/workers/worker-addresses.ts';
import { Workers, type WorkersOptions } from '../../../api/workers/workers.ts';
import { createMetrics } from '../../../common/operations.ts';
import { createFakeSlots, type FakeSession, workerStatus } from '../../support/fake-slots.ts';
import { createStatusServer, type StatusServer } from '../../support/servers/status-server.ts';

const secret = 'the secret that the pool shares';
const pool = 'default';

describe('worker discovery', () => {
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

  async function workersAt(
    sources: string[],
    more: Partial<WorkersOptions> = {},
  ): Promise<Workers> {
    const log = pino({ level: 'debug' }, { write: (line: string) => lines.push(JSON.parse(line)) });
    const workers = new Workers({
      sources: parseWorkerSources(sources),
      pool,
      secret,
      log,
      ...more,
    });
    closing.push(() => workers.stop());
    await workers.start();
    return workers;
  }

  /** Resolves at the first change after which the condition holds. */
  const until = (workers: Workers, condition: () => boolean) =>
    new Promise<void>(resolve => {
      const look = () => condition() && resolve();
      workers.registry.onChange(look);
      look();
    });

  it('registers the listed workers that respond, with their free slots', async () => {
    const [a, b] = [await server(workerStatus(1)), await server(workerStatus(3, { busy: 1 }))];
    const stopped = await server();
    await stopped.close();
    const workers = await workersAt([a.address, b.address, stopped.address]);
    expect(workers.registry.known()).to.equal(false);
    await until(workers, () => workers.registry.totals().workers === 2);
    expect(workers.registry.totals()).to.deep.equal({
      workers: 2,
      serving: 2,
      slots: 5,
    });
    expect(workers.registry.pick()).to.equal(b.address);
  });

  it('updates a worker with each status report', async () => {
    const a = await server(workerStatus(0));
    const workers = await workersAt([a.address]);
    await until(workers, () => workers.registry.known());
    expect(workers.registry.pick()).to.equal(undefined);
    a.send(workerStatus(2));
    await until(workers, () => workers.registry.pick() === a.address);
    a.send(workerStatus(0, { busy: 2, more: { draining: true } }));
    await until(workers, () => !workers.registry.known());
  });

  it('removes a worker that disconnects and reconnects to it with a new ticket', async () => {
    const first = await server(workerStatus(2));
    const workers = await workersAt([first.address]);
    await until(workers, () => workers.registry.known());
    await first.close();
    await until(workers, () => !workers.registry.known());
    const second = await server(workerStatus(1), { port: first.port });
    await until(workers, () => workers.registry.known());
    second.drop();
    await until(workers, () => !workers.registry.known());
    await until(workers, () => workers.registry.known());
    expect(second.connections()).to.equal(2);
    expect(lines.map(line => line.msg)).to.deep.equal([
      'worker disconnected',
      'worker disconnected',
    ]);
  });

  it('removes a worker that sends no report, or no further report, in time', async () => {
    const mute = await server();
    const workers = await workersAt([mute.address], { silenceMs: 100 });
    await mute.connected();
    expect(workers.registry.known(), 'connected, but no report received').to.equal(false);
    await mute.connected();
    mute.send(workerStatus(1));
    await until(workers, () => workers.registry.known());
    await until(workers, () => !workers.registry.known());
    expect(mute.connections()).to.be.at.least(2);
  });

  it('ignores workers of another pool or an unknown protocol and logs each once', async () => {
    const [other, later, good] = [
      await server(workerStatus(4, { more: { pool: 'other' } })),
      await server(workerStatus(4, { more: { protocol: 99 } })),
      await server(workerStatus(1)),
    ];
    const workers = await workersAt([other.address, later.address, good.address]);
    await Promise.all([
      other.connected(),
      later.connected(),
      until(workers, () => workers.registry.known()),
    ]);
    for (const each of [other, later])
      each.send(workerStatus(3, { more: { protocol: 99, pool: each === other ? 'other' : pool } }));
    good.send(workerStatus(2));
    await until(workers, () => workers.registry.capacity().free === 2);
    later.send(workerStatus(3));
    await until(workers, () => workers.registry.capacity().free === 5);
    expect(workers.registry.totals().workers).to.equal(2);
    expect(lines.map(line => line.problem)).to.have.members([
      'it belongs to the pool other',
      'it uses protocol 99; supported are 0 and 1',
    ]);
  });

  it('follows the addresses of a DNS name and keeps a removed worker until it disconnects', async () => {
    const first = await server(workerStatus(1));
    const second = await server(workerStatus(2), { host: '127.0.0.2', port: first.port });
    let answer: string[] | Error = ['127.0.0.1', '127.0.0.2'];
    let lookup = Promise.withResolvers<void>();
    const resolve = async (name: string) => {
      expect(name).to.equal('pool.ns.svc');
      lookup.resolve();
      lookup = Promise.withResolvers();
      if (answer instanceof Error) throw answer;
      return answer;
    };
    const workers = await workersAt([`dns://pool.ns.svc:${first.port}`], { resolve, lookUpMs: 10 });
    await until(workers, () => workers.registry.totals().slots === 3);
    answer = new Error('SERVFAIL');
    await lookup.promise;
    await lookup.promise;
    expect(workers.registry.totals().workers, 'a failed lookup removes no worker').to.equal(2);
    answer = ['127.0.0.1'];
    await lookup.promise;
    await lookup.promise;
    expect(workers.registry.totals().workers, 'the removed worker is still connected').to.equal(2);
    second.drop();
    await until(workers, () => workers.registry.totals().workers === 1);
    first.drop();
    await until(workers, () => workers.registry.totals().workers === 0);
    await until(workers, () => workers.registry.totals().workers === 1);
    expect([first.connections(), second.connections()]).to.deep.equal([2, 1]);
    answer = ['127.0.0.2'];
    await until(workers, () => workers.registry.totals().workers === 2);
  });

  it('closes the connections to all workers when it stops', async () => {
    const [a, b] = [await server(workerStatus(1)), await server(workerStatus(1))];
    const workers = await workersAt([a.address, b.address]);
    await until(workers, () => workers.registry.totals().workers === 2);
    const closed = new Promise<void>(resolve => {
      const look = () => (a.open() + b.open() === 0 ? resolve() : setImmediate(look));
      look();
    });
    await workers.stop();
    await closed;
  });

  it('dispatches renders as workers report free slots and retries them elsewhere when a worker dies', async () => {
    const [a, b] = [await server(workerStatus(2)), await server(workerStatus(0, { busy: 2 }))];
    const workers = await workersAt([a.address, b.address]);
    const slots = createFakeSlots();
    const dispatch = new Dispatcher<FakeSession>({
      queue: { maxLength: 10, maxBytes: 1_000, waitMs: 5_000, waitWithoutWorkersMs: 5_000 },
      workers: workers.registry,
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
  });
});
