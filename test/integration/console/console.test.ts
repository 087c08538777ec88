import { expect } from 'chai';
import { type ConsoleFixture, consoleFixture } from '../../support/console/console-fixture.ts';

describe('the dashboard page', () => {
  let fixture: ConsoleFixture;
  before(async () => {
    fixture = await consoleFixture({ workers: 0 });
  });
  after(() => fixture.stop());

  it('redirects to the sign-in without a session', async () => {
    const { status, headers } = await fixture.call('GET', '/app');
    expect(status).to.equal(302);
    expect(headers['location']).to.equal('/app/sign-in');
  });

  it('is served with a session, under a strict Content-Security-Policy', async () => {
    const person = await fixture.createUser({ role: 'owner' });
    const { status, headers, body } = await person.call('GET', '/app', undefined, {
      'sec-fetch-site': 'none',
    });
    expect(status).to.equal(200);
    expect(headers['content-security-policy'])
      .to.include("default-src 'none'")
      .and.not.include('unsafe');
    expect(body.toString()).to.include('<div id="root">');
  });
});
