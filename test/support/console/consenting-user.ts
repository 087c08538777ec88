// A user with a password who opens the authorization URL of an app in a browser, signs in and
// answers the consent page.
import type { TestBrowser } from '../browser.ts';
import { consentShown, press, signIn, userWithPassword } from '../pages/page-steps.ts';
import type { ConsoleFixture, TestUser } from './console-fixture.ts';

export interface ConsentingUser {
  person: TestUser;
  /** Resolves when the browser is back at the app. The browser stays signed in between calls. */
  answer(url: string, button?: 'Allow' | 'Cancel'): Promise<void>;
  /** Switches to a new browser without a session. */
  useNewBrowser(): Promise<void>;
}

export async function consentingUser(
  fixture: ConsoleFixture,
  browser: TestBrowser,
): Promise<ConsentingUser> {
  const person = await userWithPassword(fixture, { role: 'developer' });
  let { page } = await browser.page();
  return {
    person,
    answer: async (url, button = 'Allow') => {
      await page.goto(url);
      if (new URL(page.url()).pathname === '/app/sign-in') await signIn(page, person);
      await consentShown(page);
      await press(page, button);
      await page.waitForURL(({ origin }) => origin !== new URL(url).origin);
    },
    useNewBrowser: async () => {
      await page.context().close();
      ({ page } = await browser.page());
    },
  };
}
