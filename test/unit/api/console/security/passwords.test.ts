import { parseOptions } from '@node-rs/argon2';
import { expect } from 'chai';
import { createPasswords } from '../../../../../api/console/security/passwords.ts';
import { ApiError } from '../../../../../common/contract/errors.ts';

const ADA = { who: 'known', id: 'ada' } as const;

describe('passwords', () => {
  const passwords = createPasswords();

  it('are stored as Argon2id with 19 MiB and two passes, each with a salt of its own', async () => {
    const [one, other] = await Promise.all([
      passwords.hash('correct horse', 'ada'),
      passwords.hash('correct horse', 'ada'),
    ]);
    expect(one).to.match(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$/);
    expect(parseOptions(one)).to.include({ saltLen: 16, outputLen: 32 });
    expect(one).not.to.equal(other);
  });

  it('are known again, and others are not', async () => {
    const hash = await passwords.hash('correct horse', 'ada');
    expect(await passwords.verify(hash, 'correct horse', ADA)).to.equal(true);
    for (const other of ['', 'correct hors', 'correct horse ', 'Correct horse'])
      expect(await passwords.verify(hash, other, ADA)).to.equal(false);
  });

  it('are the same however a keyboard composes their letters', async () => {
    const hash = await passwords.hash('caf\u00e9 au lait', 'ada');
    expect(await passwords.verify(hash, 'cafe\u0301 au lait', ADA)).to.equal(true);
  });

  it('cost the same work when there is nobody to compare with', async () => {
    const one = createPasswords({ atOnce: 1, maxWaiting: 0 });
    const first = one.verify(undefined, 'correct horse', ADA);
    // While it works nothing else finds room.
    const refused = await one.hash('x', 'ada').catch(error => error);
    expect(refused).to.be.instanceOf(ApiError);
    expect(await first).to.equal(false);
    expect(await one.verify(undefined, '', ADA)).to.equal(false);
  });

  it('wait in a line that has an end, where the answer says when to come again', async () => {
    const two = createPasswords({ atOnce: 2, maxWaiting: 3 });
    const all = await Promise.allSettled(
      Array.from({ length: 8 }, (_, each) => two.hash(`password ${each}`, `person ${each}`)),
    );
    expect(all.filter(({ status }) => status === 'fulfilled')).to.have.length(5);
    const refused = all.flatMap(each => (each.status === 'rejected' ? [each.reason] : []));
    for (const error of refused)
      expect(error).to.deep.include({
        code: 'rate_limited',
        status: 429,
        headers: { 'Retry-After': '2' },
      });
    expect(await two.hash('later', 'ada')).to.match(/^\$argon2id/);
  });

  it('of people who are known go first, in a line that strangers cannot fill', async () => {
    const one = createPasswords({ atOnce: 1, maxWaiting: 2 });
    const done: string[] = [];
    const verify = (name: string, who: 'known' | 'stranger') =>
      one.verify(undefined, name, { who, id: name }).then(() => done.push(name));
    const strangers = ['working', 'second', 'third'].map(name => verify(name, 'stranger'));
    expect(await verify('one too many', 'stranger').catch(error => error)).to.be.instanceOf(
      ApiError,
    );
    await Promise.all([...strangers, verify('known', 'known')]);
    expect(done).to.deep.equal(['working', 'known', 'second', 'third']);
  });

  it('of one address leave room in the line for those of others', async () => {
    const one = createPasswords({ atOnce: 1, maxWaiting: 3 });
    const verify = (id: string) => one.verify(undefined, 'a guess', { who: 'stranger', id });
    const guesses = [1, 2, 3].map(() => verify('192.0.2.1'));
    expect(await verify('192.0.2.1').catch(error => error)).to.include({ code: 'rate_limited' });
    expect(() => one.checkRoom({ who: 'stranger', id: '192.0.2.1' })).to.throw(ApiError);
    one.checkRoom({ who: 'stranger', id: '192.0.2.2' });
    expect(await verify('192.0.2.2')).to.equal(false);
    await Promise.all(guesses);
  });

  it('give their place on when one of them fails', async () => {
    const one = createPasswords({ atOnce: 1, maxWaiting: 1 });
    const broken = one.verify('no hash at all', 'x', ADA).catch(error => error);
    const waiting = one.hash('x', 'bea');
    expect(await broken).to.be.instanceOf(Error);
    expect(await waiting).to.match(/^\$argon2id/);
  });
});
