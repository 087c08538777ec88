// A person with a password, who opens in a browser what an app sends them to, signs in where they
// must, and answers the page of consent.
import type { TestBrowser } from '../browser.ts';
import { consentShown, personWithPassword, press, signIn } from '../pages/page-steps.ts';
import type { ConsoleFixture, Person } from './console-fixture.ts';

export interface ConsentingUser {
  person: Person;
  /**
   * Resolves when the app's own page has been opened. The browser stays signed in from one answer
   * to the next.
   */
  answer(url: string, button?: 'Allow' | 'Cancel'): Promise<void>;
  /** Another browser, which knows nobody. */
  useNewBrowser(): Promise<void>;
}

export async function consentingUser(
  fixture: ConsoleFixture,
  browser: TestBrowser,
): Promise<ConsentingUser> {
  const person = await personWithPassword(fixture, { role: 'developer' });
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
