// @proves consent
// Clickjacking: a site that asks for a double click and puts the consent page under the second one.
// The page ignores clicks right after it becomes visible.
import { expect } from 'chai';
import { type ConsentFixture, consentFixture } from '../support/console/consent-fixture.ts';

describe('consent page right after it becomes visible', () => {
  let all: ConsentFixture;
  before(async () => {
    all = await consentFixture();
  });
  after(() => all?.stop());

  it('ignores clicks for the first moments', async () => {
    const { fixture, browser, arrived } = all;
    const person = await fixture.createUser({ role: 'developer' });
    const { page } = await browser.open(person, '/');
    await page.clock.install();
    await page.clock.pauseAt(Date.now() + 3600e3);
    await page.goto(all.ask(await all.client()).url);
    const allow = page.getByRole('button', { name: 'Allow' });
    const click = () => allow.evaluate((button: { click(): void }) => button.click());
    const given = () => fixture.store.console.oauthGrants.countDocuments({ user: person.id });
    await click();
    expect(await allow.getAttribute('aria-disabled')).to.equal('true');
    await page.clock.fastForward(1_000);
    await page.evaluate('dispatchEvent(new Event("focus"))');
    await click();
    expect([await given(), arrived.length]).to.deep.equal([0, 0]);
    await page.clock.fastForward(1_000);
    await click();
    await page.waitForURL(/\/callback/);
    expect([await given(), arrived.length]).to.deep.equal([1, 1]);
  });
});
