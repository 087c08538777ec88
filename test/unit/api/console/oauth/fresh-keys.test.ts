// What one process knows of the OAuth server's keys, and when it looks for new ones.
import { expect } from 'chai';
import { createFreshKeys } from '../../../../../api/console/oauth/fresh-keys.ts';
import type { OAuthKey } from '../../../../../api/console/oauth/keys.ts';
import { NoPrimary } from '../../../../../api/store/failures.ts';

const key = (cookie: string, signsFromMs = 0): OAuthKey => ({
  cookie,
  jwk: { kid: cookie },
  signsFromMs,
});

describe('the keys of a process', () => {
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

  it('are read once a minute, however many ask', async () => {
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

  it('change their order when the time of the new ones has come, without being read', async () => {
    stored = [key('two', nowMs + 30_000), key('one')];
    expect(await cookies()).to.deep.equal(['one', 'two']);
    nowMs += 30_000;
    expect(await cookies()).to.deep.equal(['two', 'one']);
    expect(reads).to.equal(1);
  });

  it('stay while the database is away, for which few calls wait', async () => {
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

  it('are asked for again when the first try failed', async () => {
    broken = new NoPrimary(20_000);
    const failed = await cookies().catch(error => error);
    expect(failed).to.equal(broken);
    broken = undefined;
    expect(await cookies()).to.deep.equal(['one']);
  });

  it('stay when somebody with another secret has replaced them', async () => {
    await cookies();
    stored = undefined;
    nowMs += 60_000;
    expect(await cookies()).to.deep.equal(['one']);
  });
});
