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

describe('the report of a process', () => {
  let said: ProcessDocument[];
  let looks: number;
  let waiting: Map<string, number>;
  let workers: { address: string; status: WorkerStatus }[];
  let failing: boolean;
  let stop: () => Promise<void>;

  async function started() {
    const processes = {
      replaceOne: async (_filter: object, document: ProcessDocument) => {
        if (failing) throw new Error('away');
        said.push(structuredClone(document));
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
        looks++;
        return { byAccount: waiting, oldestMs: 0 };
      },
    };
    const report = createHeartbeat(
      {
        store: store as unknown as Store,
        pool: 'default',
        dispatch,
        workers: { list: () => workers },
        log: silentLog,
      },
      1,
    );
    await report.start();
    stop = () => report.stop(new AbortController().signal);
  }
  beforeEach(() => {
    [said, looks, waiting, workers, failing] = [[], 0, new Map(), [], false];
  });
  afterEach(() => stop());

  const looked = async (times: number) => {
    const before = looks;
    await eventually(() => expect(looks).to.be.at.least(before + times));
  };

  it('is written again when something has changed, and not as long as nothing has', async () => {
    await started();
    await looked(20);
    expect(said).to.have.length(1);
    waiting.set('a', 1);
    await eventually(() => expect(said).to.have.length(2));
    expect(said[1]!.queue).to.deep.include({ waiting: 1, byAccount: { a: 1 } });
  });

  it('names the hundred accounts that wait most, and counts all', async () => {
    for (let i = 1; i <= 150; i++) waiting.set(`a${i}`, i);
    await started();
    await eventually(() => expect(said).to.have.length(1));
    const { queue } = said[0]!;
    expect(Object.keys(queue.byAccount)).to.have.length(100);
    expect(queue.byAccount).to.include({ a150: 150, a51: 51 }).and.not.have.property('a50');
    expect(queue.waiting).to.equal((150 * 151) / 2);
  });

  it('has the state of each worker', async () => {
    workers = [
      { address: 'a', status: status({ busy: 1 }) },
      { address: 'b', status: status({ draining: true }) },
      { address: 'c', status: status({ chrome: 'down' }) },
    ];
    await started();
    await eventually(() => expect(said).to.have.length(1));
    expect(said[0]!.workers).to.deep.equal([
      { address: 'a', state: 'serving', capacity: 2, busy: 1 },
      { address: 'b', state: 'draining', capacity: 2, busy: 0 },
      { address: 'c', state: 'chrome down', capacity: 2, busy: 0 },
    ]);
  });

  it('is written once MongoDB takes it, however long that lasts', async () => {
    failing = true;
    await started();
    await looked(5);
    failing = false;
    await eventually(() => expect(said).to.have.length(1));
  });
});
