import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { createSignInLimits, pauseAfterMs } from '../../../api/console/security/sign-in-limits.ts';
import { createUsers } from '../../../api/console/users/users.ts';
import { ApiError } from '../../../common/contract/errors.ts';
import {
  CONSOLE_SECRET,
  type ConsoleFixture,
  consoleFixture,
} from '../../support/console/console-fixture.ts';
import { cookieClient } from '../../support/cookie-client.ts';

const PASSWORD = 'correct horse battery';

describe('the rate limits of sign-ins', () => {
  let fixture: ConsoleFixture;
  // Not earlier than now: the database removes what is over.
  let at = Date.now();
  const limits = () => createSignInLimits(fixture.store, CONSOLE_SECRET, () => at);
  const someEmail = () => `${randomUUID()}@example.com`;
  let hosts = 0;
  /** IPv6 addresses of different subscribers. */
  const someIp = () => `2001:db8:1:${(++hosts).toString(16)}::1`;

  before(async () => {
    fixture = await consoleFixture({ workers: 0, env: { PRESSROOM_TRUSTED_PROXIES: '127.0.0.1' } });
  });
  after(() => fixture.stop());

  /** The seconds to wait, or `tried`. */
  const outcome = (tried: Promise<unknown>): Promise<number | 'tried'> =>
    tried.then(
      () => 'tried',
      error => {
        expect(error).to.be.instanceOf(ApiError);
        expect(error.code).to.equal('rate_limited');
        return Number(error.headers['Retry-After']);
      },
    );
  async function times(
    count: number,
    attempt: () => Promise<unknown>,
  ): Promise<(number | 'tried')[]> {
    const all: (number | 'tried')[] = [];
    for (let each = 0; each < count; each += 1) all.push(await outcome(attempt()));
    return all;
  }

  describe('for one email and one IP address', () => {
    it('allows five attempts, then requires a pause', async () => {
      const attempt = { email: someEmail(), ip: someIp(), device: undefined };
      expect(await times(6, () => limits().password(attempt))).to.deep.equal([
        ...Array(5).fill('tried'),
        30,
      ]);
    });

    it('allows two concurrent attempts, whichever clock is behind', async () => {
      const attempt = { email: someEmail(), ip: someIp(), device: undefined };
      await limits().password(attempt);
      const behind = createSignInLimits(fixture.store, CONSOLE_SECRET, () => at - 50);
      expect(await outcome(behind.password(attempt))).to.equal('tried');
    });

    it('doubles each pause up to an hour', async () => {
      const attempt = { email: someEmail(), ip: someIp(), device: undefined };
      await times(5, () => limits().password(attempt));
      const pauses: number[] = [];
      for (let round = 0; round < 9; round += 1) {
        const wait = await outcome(limits().password(attempt));
        pauses.push(wait as number);
        at += (wait as number) * 1_000;
        expect(await outcome(limits().password(attempt))).to.equal('tried');
      }
      expect(pauses).to.deep.equal([30, 60, 120, 240, 480, 960, 1920, 3600, 3600]);
    });

    it('does not prolong a pause by attempts during it', async () => {
      const attempt = { email: someEmail(), ip: someIp(), device: undefined };
      await times(10, () => limits().password(attempt));
      at += 30_000;
      expect(await outcome(limits().password(attempt))).to.equal('tried');
    });

    it('allows no more attempts when they are concurrent', async () => {
      const attempt = { email: someEmail(), ip: someIp(), device: undefined };
      const all = await Promise.all(
        Array.from({ length: 12 }, () => outcome(limits().password(attempt))),
      );
      expect(all.filter(each => each === 'tried')).to.have.length(5);
    });

    it('resets the count after a correct password', async () => {
      const attempt = { email: someEmail(), ip: someIp(), device: undefined };
      await times(5, () => limits().password(attempt));
      await limits().passwordWasRight(attempt);
      expect(await times(5, () => limits().password(attempt))).to.deep.equal(
        Array(5).fill('tried'),
      );
    });

    it('resets the count after a day without attempts', async () => {
      const attempt = { email: someEmail(), ip: someIp(), device: undefined };
      await times(6, () => limits().password(attempt));
      at += 25 * 3600e3;
      expect(await times(5, () => limits().password(attempt))).to.deep.equal(
        Array(5).fill('tried'),
      );
    });

    it('counts an IPv6 subscriber as one address', async () => {
      const email = someEmail();
      const tries = await Promise.all(
        Array.from({ length: 8 }, (_, host) =>
          outcome(limits().password({ email, ip: `2001:db8:ffff:1::${host}`, device: undefined })),
        ),
      );
      expect(tries.filter(each => each === 'tried')).to.have.length(5);
    });
  });

  it('does not lock a user out by attempts from another address', async () => {
    const email = someEmail();
    const stranger = { email, ip: someIp(), device: undefined };
    await times(10, () => limits().password(stranger));
    expect(await outcome(limits().password({ email, ip: someIp(), device: undefined }))).to.equal(
      'tried',
    );
  });

  it('allows twenty attempts per minute for all users behind one address', async () => {
    const ip = someIp();
    const tries = await times(22, () =>
      limits().password({ email: someEmail(), ip, device: undefined }),
    );
    expect(tries).to.deep.equal([...Array(20).fill('tried'), 60, 60]);
    at += 60_000;
    expect(
      await outcome(limits().password({ email: someEmail(), ip, device: undefined })),
    ).to.equal('tried');
  });

  describe('when many addresses guess the password of one user', () => {
    const email = someEmail();
    before(async () => {
      expect(
        await times(100, () => limits().password({ email, ip: someIp(), device: undefined })),
      ).not.to.include(3600);
    });

    it('rejects unknown devices for an hour', async () => {
      expect(await outcome(limits().password({ email, ip: someIp(), device: undefined }))).to.equal(
        3600,
      );
    });

    it('still allows the known device of the user, with its own count', async () => {
      const own = { email, ip: someIp(), device: 'the own one' };
      expect(await times(6, () => limits().password(own))).to.deep.equal([
        ...Array(5).fill('tried'),
        30,
      ]);
    });
  });

  it('allows ten codes per day for a user, over all sign-ins', async () => {
    const user = `usr_${randomUUID()}`;
    const tries = await times(11, () =>
      limits().secondFactor({ user, passing: randomUUID(), device: undefined }),
    );
    expect(tries).to.deep.equal([...Array(10).fill('tried'), 24 * 3600]);
    expect(
      await outcome(limits().secondFactor({ user, passing: randomUUID(), device: 'known' })),
    ).to.equal('tried');
  });

  it('stores neither email nor IP addresses', async () => {
    const attempt = { email: someEmail(), ip: '192.0.2.99', device: undefined };
    await limits().password(attempt);
    const all = JSON.stringify(await fixture.store.console.signInLimits.find().toArray());
    expect(all).not.to.include(attempt.email).and.not.include('192.0.2.99');
  });

  it('computes the pauses', () => {
    expect([1, 4, 5, 6, 12, 1_000].map(pauseAfterMs)).to.deep.equal([
      0, 0, 30_000, 60_000, 3600e3, 3600e3,
    ]);
  });

  describe('on the page', () => {
    it('are a 429 with the time to wait, the same for known and unknown users', async () => {
      const email = someEmail();
      await createUsers(fixture.store).create({ email, name: 'Ada', password: PASSWORD });
      const who = cookieClient(fixture.api.port(), { ip: '203.0.113.1' });
      const stranger = cookieClient(fixture.api.port(), { ip: '203.0.113.2' });
      for (let each = 0; each < 5; each += 1) {
        expect((await who.post('/app/sign-in', { email, password: 'wrong' })).status).to.equal(401);
        await stranger.post('/app/sign-in', { email: `x${email}`, password: 'wrong' });
      }
      const rejected = await who.post('/app/sign-in', { email, password: PASSWORD });
      const rejectedUnknown = await stranger.post('/app/sign-in', {
        email: `x${email}`,
        password: PASSWORD,
      });
      expect(rejected.status).to.equal(429);
      expect(Number(rejected.headers['retry-after'])).to.be.within(25, 30);
      expect(rejected.html).to.match(/Try again in \d+ seconds/);
      const textOf = (html: string) =>
        html.replace(/in \d+ seconds/, 'in n seconds').replaceAll(`x${email}`, email);
      expect(textOf(rejectedUnknown.html)).to.equal(textOf(rejected.html));
    });

    it('recognize a known device by its cookie, for its own user only', async () => {
      const [email, other] = [someEmail(), someEmail()];
      for (const each of [email, other])
        await createUsers(fixture.store).create({ email: each, name: 'Ada', password: PASSWORD });
      const ip = '203.0.113.3';
      const who = cookieClient(fixture.api.port(), { ip });
      expect((await who.post('/app/sign-in', { email, password: PASSWORD })).status).to.equal(303);
      const stranger = cookieClient(fixture.api.port(), { ip });
      for (let each = 0; each < 6; each += 1) {
        await stranger.post('/app/sign-in', { email, password: 'wrong' });
        await stranger.post('/app/sign-in', { email: other, password: 'wrong' });
      }
      expect((await stranger.post('/app/sign-in', { email, password: PASSWORD })).status).to.equal(
        429,
      );
      expect(
        (await who.post('/app/sign-in', { email: other, password: PASSWORD })).status,
      ).to.equal(429);
      expect((await who.post('/app/sign-in', { email, password: PASSWORD })).status).to.equal(303);
    });
  });
});
