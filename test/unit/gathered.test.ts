import { mock } from 'node:test';
import { expect } from 'chai';
import { gathered } from '../../api/accounts/gathered.ts';

const LIMITS = { atOnce: 2, most: 4, waitMs: 5 };

describe('calls that leave together', () => {
  beforeEach(() => mock.timers.enable({ apis: ['setTimeout'] }));
  afterEach(() => mock.timers.reset());

  /** What has been sent, each to be ended by the test; and a call whose end, or error, is noted. */
  function rig(limits = LIMITS) {
    const sent: { calls: readonly string[]; end: PromiseWithResolvers<string> }[] = [];
    const ends: Record<string, string> = {};
    const call = gathered<string, string>(calls => {
      const end = Promise.withResolvers<string>();
      sent.push({ calls, end });
      return end.promise;
    }, limits);
    const ended = async (name: string) => {
      ends[name] = await call(name).catch((error: Error) => error.message);
    };
    const calls = (names: string) => {
      for (const name of names) void ended(name);
    };
    const seen = () => new Promise(resolve => setImmediate(resolve));
    return {
      ends,
      calls,
      left: () => sent.map(each => each.calls.join('')),
      end(nth: number, end = 'done') {
        sent[nth]!.end.resolve(end);
        return seen();
      },
      fail(nth: number, words: string) {
        sent[nth]!.end.reject(new Error(words));
        return seen();
      },
    };
  }

  it('leave at once, each alone, while few are under way', async () => {
    const { calls, left, end } = rig();
    calls('ab');
    expect(left()).to.deep.equal(['a', 'b']);
    await end(0);
    await end(1);
    calls('cd');
    expect(left()).to.deep.equal(['a', 'b', 'c', 'd']);
  });

  it('leave with the others, in the order in which they came, when one under way has ended', async () => {
    const { calls, left, end } = rig();
    calls('abcde');
    expect(left()).to.deep.equal(['a', 'b']);
    await end(1);
    expect(left()).to.deep.equal(['a', 'b', 'cde']);
    calls('f');
    await end(2);
    expect(left()).to.deep.equal(['a', 'b', 'cde', 'f']);
  });

  it('leave with the others when one under way has failed, and fail alone', async () => {
    const { calls, left, end, fail, ends } = rig();
    calls('abcd');
    await fail(0, 'broken');
    await end(1);
    await end(2);
    expect(left()).to.deep.equal(['a', 'b', 'cd']);
    expect(ends).to.deep.equal({ a: 'broken', b: 'done', c: 'done', d: 'done' });
  });

  it('have the same end, or the same error', async () => {
    const { calls, end, fail, ends } = rig();
    calls('abcde');
    await end(0, 'one');
    calls('fg');
    await fail(2, 'broken');
    await end(3, 'another');
    expect(ends).to.deep.equal({ a: 'one', c: 'broken', d: 'broken', e: 'broken', f: 'another', g: 'another' });
  });

  it('leave at once when they are so many, and no more in one', async () => {
    const { calls, left } = rig();
    calls('abcdefghijk');
    expect(left()).to.deep.equal(['a', 'b', 'cdef', 'ghij']);
  });

  it('do not wait longer for those that hang, however many hang', async () => {
    const { calls, left, ends, end } = rig();
    calls('abc');
    mock.timers.tick(3);
    calls('d');
    mock.timers.tick(1);
    expect(left()).to.deep.equal(['a', 'b']);
    mock.timers.tick(1);
    expect(left()).to.deep.equal(['a', 'b', 'cd']);
    calls('e');
    mock.timers.tick(4);
    // More than may be at once are under way still.
    await end(2);
    expect(ends).to.deep.equal({ c: 'done', d: 'done' });
    expect(left()).to.deep.equal(['a', 'b', 'cd']);
    mock.timers.tick(1);
    expect(left()).to.deep.equal(['a', 'b', 'cd', 'e']);
  });

  it('leave once: their time does not end that of the next', async () => {
    const { calls, left, end } = rig();
    calls('abc');
    mock.timers.tick(4);
    await end(0);
    calls('d');
    mock.timers.tick(4);
    expect(left()).to.deep.equal(['a', 'b', 'c']);
    mock.timers.tick(1);
    expect(left()).to.deep.equal(['a', 'b', 'c', 'd']);
  });
});
