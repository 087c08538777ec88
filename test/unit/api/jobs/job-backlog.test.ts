import { expect } from 'chai';
import { type Backlog, BacklogReader } from '../../../../api/jobs/job-backlog.ts';

const SOME: Backlog = { runnable: 2, waiting: 9, oldestWaitMs: 4_000 };
const NONE: Backlog = { runnable: 0, waiting: 0, oldestWaitMs: 0 };

describe('backlog of asynchronous renders in one process', () => {
  let nowMs: number;
  let reads: (readonly string[])[];
  let reader: BacklogReader;
  let answer: () => Promise<Backlog>;
  beforeEach(() => {
    nowMs = 0;
    reads = [];
    answer = async () => SOME;
    const read = (accounts: readonly string[]) => {
      reads.push(accounts);
      return answer();
    };
    reader = new BacklogReader(read, () => nowMs);
  });

  it('is read at most once in five seconds', async () => {
    for (nowMs = 0; nowMs <= 10_000; nowMs += 1_000) await reader.found(['a']);
    expect(reads).to.deep.equal([['a'], ['a'], ['a']]);
    expect(reader.latest()).to.deep.equal(SOME);
  });

  it('is zero without a query when no jobs wait', async () => {
    await reader.found(['a']);
    await reader.found([]);
    expect(reader.latest()).to.deep.equal(NONE);
    expect(reads).to.have.length(1);
  });

  it('keeps its value for a minute when it cannot be read', async () => {
    await reader.found(['a']);
    answer = () => Promise.reject(new Error('down'));
    nowMs = 59_000;
    const error = await reader.found(['a']).catch((thrown: Error) => thrown);
    expect(error).to.have.property('message', 'down');
    expect(reader.latest()).to.deep.equal(SOME);
    nowMs = 61_000;
    expect(reader.latest()).to.deep.equal(NONE);
  });
});
