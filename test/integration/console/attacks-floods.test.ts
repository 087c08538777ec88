import { expect } from 'chai';
import { passwords } from '../../../api/console/security/passwords.ts';
import { createSignInLimits } from '../../../api/console/security/sign-in-limits.ts';
import { CONSOLE_SECRET } from '../../support/console/console-fixture.ts';
import {
  newLogin,
  pathOf,
  type SsoFixture,
  ssoFixture,
  visibleText,
} from '../../support/console/sso-fixture.ts';

describe('a flood of requests to the dashboard', () => {
  let fixture: SsoFixture;
  before(async () => {
    fixture = await ssoFixture();
  });
  after(() => fixture.stop());

  it('is limited to 300 changes per minute for each user', async () => {
    const [one, other] = [
      await fixture.createUser({ role: 'viewer' }),
      await fixture.createUser({ role: 'viewer' }),
    ];
    const statuses: number[] = [];
    for (let sent = 0; sent < 310; sent += 10)
      statuses.push(
        ...(
          await Promise.all(
            Array.from({ length: 10 }, () => one.call('PATCH', '/me', { name: 'Ada' })),
          )
        ).map(({ status }) => status),
      );
    expect(statuses.filter(status => status === 200)).to.have.length(300);
    expect(await fixture.store.console.audit.countDocuments({ user: one.id })).to.equal(300);
    const rejected = await one.call('PATCH', '/me', { name: 'Ada' });
    expect(rejected.status).to.equal(429);
    expect(Number(rejected.headers['retry-after'])).to.be.within(1, 60);
    expect((await one.call('GET', '/me')).status).to.equal(200);
    expect((await other.call('PATCH', '/me', { name: 'Eve' })).status).to.equal(200);
  });

  it('does not count sign-in attempts that were rejected for lack of capacity', async () => {
    const { signInLimits } = fixture.store.console;
    await signInLimits.deleteMany({});
    let over = false;
    // More than the queue holds; each attempt is queued again as soon as it was checked.
    const crowd = Array.from({ length: 34 }, async (_, index) => {
      while (!over)
        await passwords.verify(undefined, 'a guess', { kind: 'unknown', id: `address ${index}` });
    });
    const answer = await fixture
      .client()
      .post('/app/sign-in', { email: 'ada@example.com', password: 'correct horse battery' });
    over = true;
    await Promise.all(crowd);
    expect(answer.status).to.equal(429);
    expect(visibleText(answer)).to.include('Too many sign-ins at the same time');
    expect(await signInLimits.countDocuments()).to.equal(0);
  });

  it('is limited to 100 SSO callbacks per minute for each address', async () => {
    const visitor = fixture.client();
    const back = pathOf(
      await fixture.provider.signIn(await fixture.startSignIn(visitor), newLogin()),
    );
    const limits = createSignInLimits(fixture.store, CONSOLE_SECRET);
    for (let each = 0; each < 100; each += 1) await limits.ssoCallback('127.0.0.1');
    const before = fixture.provider.calls.length;
    const answer = await visitor.get(back);
    expect(answer.status).to.equal(429);
    expect(visibleText(answer)).to.include('Too many attempts');
    expect(Number(answer.headers['retry-after'])).to.be.within(1, 60);
    expect(fixture.provider.calls).to.have.length(before);
    // The started sign-in is still valid.
    await fixture.store.console.signInLimits.deleteMany({});
    expect((await visitor.get(back)).status).to.equal(200);
  });
});
