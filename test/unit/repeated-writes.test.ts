import { expect } from 'chai';
import { MongoNetworkError, MongoNetworkTimeoutError, MongoServerError, MongoServerSelectionError, MongoWriteConcernError } from 'mongodb';
import { repeatedOnce } from '../../api/store/store.ts';

const answer = (code: number) => new MongoServerError({ message: `the server says ${code}`, code });
const notOfAMajority = (code: number) => new MongoWriteConcernError({ ok: 1, writeConcernError: { code, errmsg: 'not yet' } });
const lost = () => new MongoNetworkError('the connection broke');
const silent = () => new MongoNetworkTimeoutError('no answer');
/** The driver has waited for a primary already, as long as it may. */
const nobody = () => new MongoServerSelectionError('no primary', {} as never);

/** Fails with these errors, one after the other, and then succeeds; tells what each attempt was told. */
async function attempts(...errors: Error[]) {
  const told: boolean[] = [];
  const end = await repeatedOnce(async again => {
    told.push(again);
    const error = errors[told.length - 1];
    if (error) throw error;
    return 'done';
  }).catch(error => error);
  return { told, end };
}

describe('a write that is safe to repeat', () => {
  it('is not repeated when it succeeds', async () => {
    expect(await attempts()).to.deep.equal({ told: [false], end: 'done' });
  });

  for (const code of [6, 7, 89, 91, 189, 262, 9001, 10107, 11600, 11602, 13435, 13436]) {
    it(`is repeated once when the server says ${code}, or that a majority may not have it for that reason`, async () => {
      for (const error of [answer(code), notOfAMajority(code)])
        expect(await attempts(error)).to.deep.equal({ told: [false, true], end: 'done' });
    });
  }

  it('is repeated once when its connection breaks or stays silent', async () => {
    for (const error of [lost(), silent()]) {
      expect(await attempts(error)).to.deep.equal({ told: [false, true], end: 'done' });
      expect(await attempts(error, lost())).to.have.deep.property('told', [false, true]);
    }
  });

  it('is not repeated after other errors: a mistake, a time limit, a majority that is late, no primary', async () => {
    for (const error of [answer(1), answer(50), answer(11000), notOfAMajority(64), nobody(), new TypeError('ours')])
      expect(await attempts(error)).to.deep.equal({ told: [false], end: error });
  });

  it('fails with the last error, but for one that would say that nothing is on its way any more', async () => {
    const [first, second] = [lost(), answer(11602)];
    expect((await attempts(first, second)).end).to.equal(first);
    expect((await attempts(second, first)).end).to.equal(first);
    const selection = nobody();
    expect((await attempts(first, selection)).end).to.equal(selection);
    expect((await attempts(answer(91), second)).end).to.equal(second);
  });
});
