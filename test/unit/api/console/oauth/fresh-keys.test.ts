// The keys of the OAuth server in one process, and when it reads new ones.
import { expect } from 'chai';
import { createFreshKeys } from '../../../../../api/console/oauth/fresh-keys.ts';
import type { OAuthKey } from '../../../../../api/console/oauth/keys.ts';
import { NoPrimary } from '../../../../../api/store/failures.ts';

const key = (cookie: string, signsFromMs = 0): OAuthKey => ({
  cookie,
  jwk: { kid: cookie },
  signsFromMs,
});

describe('the OAuth server’s keys in a process', () => {
  let nowMs: number;
  let stored: OAuthKey[] | undefined;
  let broken: Error | undefined;
  let reads: number;
  let keys: ReturnType<typeof createFreshKeys>;
  beforeEach(() => {
    nowMs = 1_000_000;
    stored = [key('one')];
    broken = undefined;
    reads = 0;
    const read = async () => {
      reads += 1;
      if (broken) throw broken;
      return stored;
    };
    keys = createFreshKeys({ first: async () => (await read())!, again: read, now: () => nowMs });
  });
  const cookies = async () => (await keys()).cookies;

  it('are read once a minute, for concurrent callers too', async () => {
    await Promise.all([cookies(), cookies(), cookies()]);
    nowMs += 59_000;
    await cookies();
    expect(reads).to.equal(1);
    stored = [key('two', nowMs + 180_000), key('one')];
    nowMs += 1_000;
    expect(await Promise.all([cookies(), cookies()])).to.deep.equal([
      ['one', 'two'],
      ['one', 'two'],
    ]);
    expect(reads).to.equal(2);
  });

  it('change their order when the new key starts to sign, without a read', async () => {
    stored = [key('two', nowMs + 30_000), key('one')];
    expect(await cookies()).to.deep.equal(['one', 'two']);
    nowMs += 30_000;
    expect(await cookies()).to.deep.equal(['two', 'one']);
    expect(reads).to.equal(1);
  });

  it('remain while the database is unavailable, with a read every five seconds', async () => {
    await cookies();
    nowMs += 60_000;
    broken = new NoPrimary(20_000);
    expect(await cookies()).to.deep.equal(['one']);
    expect(await cookies()).to.deep.equal(['one']);
    expect(reads).to.equal(2);
    broken = undefined;
    stored = [key('two'), key('one')];
    nowMs += 5_000;
    expect(await cookies()).to.deep.equal(['two', 'one']);
  });

  it('are read again after the first read failed', async () => {
    broken = new NoPrimary(20_000);
    const failed = await cookies().catch(error => error);
    expect(failed).to.equal(broken);
    broken = undefined;
    expect(await cookies()).to.deep.equal(['one']);
  });

  it('remain when a process with another secret has replaced them', async () => {
    await cookies();
    stored = undefined;
    nowMs += 60_000;
    expect(await cookies()).to.deep.equal(['one']);
  });
});
