import { parseOptions } from '@node-rs/argon2';
import { expect } from 'chai';
import { createPasswords } from '../../../../../api/console/security/passwords.ts';
import { ApiError } from '../../../../../common/contract/errors.ts';

const ADA = { kind: 'known', id: 'ada' } as const;

describe('password hashing', () => {
  const passwords = createPasswords();

  it('stores Argon2id hashes with 19 MiB, two passes and a salt each', async () => {
    const [one, other] = await Promise.all([
      passwords.hash('correct horse', 'ada'),
      passwords.hash('correct horse', 'ada'),
    ]);
    expect(one).to.match(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$/);
    expect(parseOptions(one)).to.include({ saltLen: 16, outputLen: 32 });
    expect(one).not.to.equal(other);
  });

  it('accepts the password and rejects others', async () => {
    const hash = await passwords.hash('correct horse', 'ada');
    expect(await passwords.verify(hash, 'correct horse', ADA)).to.equal(true);
    for (const other of ['', 'correct hors', 'correct horse ', 'Correct horse'])
      expect(await passwords.verify(hash, other, ADA)).to.equal(false);
  });

  it('accepts a password in another Unicode normalization', async () => {
    const hash = await passwords.hash('caf\u00e9 au lait', 'ada');
    expect(await passwords.verify(hash, 'cafe\u0301 au lait', ADA)).to.equal(true);
  });

  it('computes a hash of the same cost when the user does not exist', async () => {
    const one = createPasswords({ atOnce: 1, maxWaiting: 0 });
    const first = one.verify(undefined, 'correct horse', ADA);
    // While it runs, the queue has no capacity left.
    const rejected = await one.hash('x', 'ada').catch(error => error);
    expect(rejected).to.be.instanceOf(ApiError);
    expect(await first).to.equal(false);
    expect(await one.verify(undefined, '', ADA)).to.equal(false);
  });

  it('rejects beyond the limit of the queue, with Retry-After', async () => {
    const two = createPasswords({ atOnce: 2, maxWaiting: 3 });
    const all = await Promise.allSettled(
      Array.from({ length: 8 }, (_, each) => two.hash(`password ${each}`, `user ${each}`)),
    );
    expect(all.filter(({ status }) => status === 'fulfilled')).to.have.length(5);
    const rejected = all.flatMap(each => (each.status === 'rejected' ? [each.reason] : []));
    for (const error of rejected)
      expect(error).to.deep.include({
        code: 'rate_limited',
        status: 429,
        headers: { 'Retry-After': '2' },
      });
    expect(await two.hash('later', 'ada')).to.match(/^\$argon2id/);
  });

  it('runs hashes of known users first, from a queue that unknown callers cannot fill', async () => {
    const one = createPasswords({ atOnce: 1, maxWaiting: 2 });
    const done: string[] = [];
    const verify = (name: string, kind: 'known' | 'unknown') =>
      one.verify(undefined, name, { kind, id: name }).then(() => done.push(name));
    const unknown = ['working', 'second', 'third'].map(name => verify(name, 'unknown'));
    expect(await verify('one too many', 'unknown').catch(error => error)).to.be.instanceOf(
      ApiError,
    );
    await Promise.all([...unknown, verify('known', 'known')]);
    expect(done).to.deep.equal(['working', 'known', 'second', 'third']);
  });

  it('limits each address to its fair share of the queue', async () => {
    const one = createPasswords({ atOnce: 1, maxWaiting: 3 });
    const verify = (id: string) => one.verify(undefined, 'a guess', { kind: 'unknown', id });
    const guesses = [1, 2, 3].map(() => verify('192.0.2.1'));
    expect(await verify('192.0.2.1').catch(error => error)).to.include({ code: 'rate_limited' });
    expect(() => one.checkCapacity({ kind: 'unknown', id: '192.0.2.1' })).to.throw(ApiError);
    one.checkCapacity({ kind: 'unknown', id: '192.0.2.2' });
    expect(await verify('192.0.2.2')).to.equal(false);
    await Promise.all(guesses);
  });

  it('frees the capacity of a hash that fails', async () => {
    const one = createPasswords({ atOnce: 1, maxWaiting: 1 });
    const broken = one.verify('no hash at all', 'x', ADA).catch(error => error);
    const waiting = one.hash('x', 'bea');
    expect(await broken).to.be.instanceOf(Error);
    expect(await waiting).to.match(/^\$argon2id/);
  });
});
