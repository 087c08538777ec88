import { expect } from 'chai';
import { createHeartbeat } from '../../../../../api/console/reports/heartbeat.ts';
import type { ProcessDocument, Store } from '../../../../../api/store/store.ts';
import { silentLog } from '../../../../../common/log.ts';
import { PROTOCOL, type WorkerStatus } from '../../../../../common/protocol.ts';
import { eventually } from '../../../../support/eventually.ts';

const status = (fields: Partial<WorkerStatus> = {}): WorkerStatus => ({
  protocol: PROTOCOL,
  pool: 'default',
  capacity: 2,
  ready: 2,
  busy: 0,
  draining: false,
  chrome: 'up',
  chromeVersion: '156',
  ...fields,
});

describe('the heartbeat of a process', () => {
  let written: ProcessDocument[];
  let snapshots: number;
  let waiting: Map<string, number>;
  let workers: { address: string; status: WorkerStatus }[];
  let failing: boolean;
  let stop: () => Promise<void>;

  async function started() {
    const processes = {
      replaceOne: async (_filter: object, document: ProcessDocument) => {
        if (failing) throw new Error('unavailable');
        written.push(structuredClone(document));
      },
      deleteOne: async () => {},
    };
    const primary = { throwIfMissing: () => {}, missingMs: () => 0 };
    const store = {
      primary,
      limits: {},
      limited: <T>(operation: Promise<T>) => operation,
      console: { processes },
    };
    const dispatch = {
      waiting() {
        snapshots++;
        return { byAccount: waiting, oldestMs: 0 };
      },
    };
    const heartbeat = createHeartbeat(
      {
        store: store as unknown as Store,
        pool: 'default',
        dispatch,
        workers: { list: () => workers },
        log: silentLog,
      },
      1,
    );
    await heartbeat.start();
    stop = () => heartbeat.stop(new AbortController().signal);
  }
  beforeEach(() => {
    [written, snapshots, waiting, workers, failing] = [[], 0, new Map(), [], false];
  });
  afterEach(() => stop());

  const snapshotsTaken = async (times: number) => {
    const before = snapshots;
    await eventually(() => expect(snapshots).to.be.at.least(before + times));
  };

  it('is written again only when something has changed', async () => {
    await started();
    await snapshotsTaken(20);
    expect(written).to.have.length(1);
    waiting.set('a', 1);
    await eventually(() => expect(written).to.have.length(2));
    expect(written[1]!.queue).to.deep.include({ waiting: 1, byAccount: { a: 1 } });
  });

  it('names the hundred accounts with the longest queues, and counts all', async () => {
    for (let i = 1; i <= 150; i++) waiting.set(`a${i}`, i);
    await started();
    await eventually(() => expect(written).to.have.length(1));
    const { queue } = written[0]!;
    expect(Object.keys(queue.byAccount)).to.have.length(100);
    expect(queue.byAccount).to.include({ a150: 150, a51: 51 }).and.not.have.property('a50');
    expect(queue.waiting).to.equal((150 * 151) / 2);
  });

  it('contains the state of each worker', async () => {
    workers = [
      { address: 'a', status: status({ busy: 1 }) },
      { address: 'b', status: status({ draining: true }) },
      { address: 'c', status: status({ chrome: 'down' }) },
    ];
    await started();
    await eventually(() => expect(written).to.have.length(1));
    expect(written[0]!.workers).to.deep.equal([
      { address: 'a', state: 'serving', capacity: 2, busy: 1 },
      { address: 'b', state: 'draining', capacity: 2, busy: 0 },
      { address: 'c', state: 'chrome down', capacity: 2, busy: 0 },
    ]);
  });

  it('is written as soon as MongoDB is available again', async () => {
    failing = true;
    await started();
    await snapshotsTaken(5);
    failing = false;
    await eventually(() => expect(written).to.have.length(1));
  });
});
