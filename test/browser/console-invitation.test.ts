// @proves invitations

import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import {
  axeViolations,
  type ConsoleBrowser,
  consoleBrowser,
  picture,
} from '../support/console/console-browser.ts';
import { type ConsoleFixture, consoleFixture } from '../support/console/console-fixture.ts';

describe('invitation page', () => {
  let fixture: ConsoleFixture;
  let browser: ConsoleBrowser;
  before(async () => {
    fixture = await consoleFixture({ workers: 0 });
    browser = await consoleBrowser(fixture);
  });
  after(async () => {
    await browser?.close();
    await fixture.stop();
  });

  async function invited(email = `${randomUUID()}@example.com`): Promise<string> {
    const account = await fixture.account2();
    const owner = await fixture.createUser({ role: 'owner', account });
    const { link } = await owner.good<{ link: string }>(
      'POST',
      `/accounts/${account}/team/invitations`,
      { email, role: 'developer' },
    );
    return link.slice(link.indexOf('/invitation'));
  }

  it('moves the code from the link to its field and signs up a new user', async () => {
    const { page, expectNoErrors } = await browser.open(undefined, await invited());
    expect(await page.inputValue('input[name=token]')).to.match(/^[\w-]{43}$/);
    expect(page.url()).not.to.include('#');
    await page.click('text=Continue');
    await page.fill('input[name=name]', 'Ada Lovelace');
    await page.fill('input[name=password]', 'correct horse battery');
    await page.click('button:text-is("Join")');
    await page.waitForURL(({ pathname }) => !pathname.startsWith('/app/invitation'));
    await page.waitForSelector('#root h1');
    expectNoErrors();
    await page.context().close();
  });

  it('replaces the code when another link is opened in the same tab', async () => {
    const { page, expectNoErrors } = await browser.open(undefined, await invited());
    const first = await page.inputValue('input[name=token]');
    await page.goto(`${browser.origin}/app${await invited()}`);
    await page.waitForURL(({ hash }) => hash === '');
    expect(await page.inputValue('input[name=token]'))
      .to.match(/^[\w-]{43}$/)
      .and.not.equal(first);
    await page.click('text=Continue');
    await page.waitForURL(/accept$/);
    expectNoErrors();
    await page.context().close();
  });

  it('shows that a link was used, with a link to the sign-in page', async () => {
    const link = await invited();
    const used = await browser.open(undefined, link);
    await used.page.click('text=Continue');
    await used.page.fill('input[name=name]', 'Ada Lovelace');
    await used.page.fill('input[name=password]', 'correct horse battery');
    await used.page.click('button:text-is("Join")');
    await used.page.waitForSelector('#root h1');
    await used.page.context().close();
    const { page } = await browser.open(undefined, link);
    await page.click('text=Continue');
    await page.getByRole('alert').filter({ hasText: 'This invitation was already used' }).waitFor();
    expect(await page.locator('form').count()).to.equal(0);
    expect(await axeViolations(page)).to.deep.equal([]);
    await picture(page, 'invitation-used');
    await page.getByRole('link', { name: 'Sign in' }).click();
    await page.waitForURL('**/app/sign-in');
    await page.context().close();
  });

  it('opens a new link in the tab that shows an old one', async () => {
    const { page } = await browser.open(undefined, `/invitation#${'A'.repeat(43)}`);
    await page.click('text=Continue');
    await page.getByRole('alert').filter({ hasText: 'This invitation was already used' }).waitFor();
    await page.goto(`${browser.origin}/app${await invited()}`);
    await page.click('text=Continue');
    await page.waitForSelector('input[name=name]');
    await page.context().close();
  });

  it('works without JavaScript', async () => {
    const link = await invited();
    const { page } = await browser.open(undefined, '/invitation', { javaScriptEnabled: false });
    await page.fill('input[name=token]', link.split('#')[1]!);
    await page.keyboard.press('Enter');
    await page.fill('input[name=name]', 'Ada Lovelace');
    await page.fill('input[name=password]', 'correct horse battery');
    await page.keyboard.press('Enter');
    await page.waitForURL(({ pathname }) => !pathname.startsWith('/app/invitation'));
    expect(await page.context().cookies()).to.satisfy((cookies: { name: string }[]) =>
      cookies.some(({ name }) => name.endsWith('-session')),
    );
    await page.context().close();
  });

  it('is accessible to new, invited and signed-in users', async () => {
    const person = await fixture.createUser();
    await browser.looks(undefined, await invited(), 'invitation', async () => {});
    for (const [who, visitor, link] of [
      ['new', undefined, await invited()],
      ['known', undefined, await invited(person.email)],
      ['member', person, await invited(person.email)],
      ['other', person, await invited()],
    ] as const)
      await browser.looks(
        visitor,
        link,
        `invitation-${who}`,
        async page => {
          await page.click('text=Continue');
          await page.waitForURL(/accept$/);
        },
        who === 'other' ? /status of 403/ : undefined,
      );
  });
});
