// Steps on the sign-in and consent pages in a browser.
import type { Page } from 'playwright-core';
import { passwords } from '../../../api/console/security/passwords.ts';
import type { ConsoleFixture, TestUser } from '../console/console-fixture.ts';

export const PASSWORD = 'a password of the tests';

/** Creates a user who can sign in with PASSWORD. */
export async function userWithPassword(
  fixture: ConsoleFixture,
  options?: Parameters<ConsoleFixture['createUser']>[0],
): Promise<TestUser> {
  const person = await fixture.createUser(options);
  await fixture.store.console.users.updateOne(
    { _id: person.id },
    { $set: { password: await passwords.hash(PASSWORD, person.id) } },
  );
  return person;
}

export const press = (page: Page, name: string) =>
  page.getByRole('button', { name, exact: true }).click();

export async function signIn(
  page: Page,
  { email }: Pick<TestUser, 'email'>,
  password = PASSWORD,
): Promise<void> {
  await page.getByLabel('Email').fill(email);
  await page.getByLabel('Password', { exact: true }).fill(password);
  await press(page, 'Sign in');
}

/** Signs in at the identity provider. An empty `subject` makes the sign-in fail. */
export async function signInAtProvider(
  page: Page,
  subject: string,
  link = 'Example account',
): Promise<void> {
  await page.getByRole('link', { name: link }).click();
  await page.getByLabel('Login').fill(subject);
  await press(page, 'Go on');
}

/** Waits for the consent page. */
export const consentShown = (page: Page) =>
  page.getByRole('heading', { name: 'Connect an app' }).waitFor();

/** Waits for the page of the app after the consent. */
export const appShown = (page: Page) => page.getByRole('heading', { name: 'Connected' }).waitFor();

/** The text of the page. */
export const pageText = async (page: Page) =>
  (await page.getByRole('main').textContent())!.replace(/\s+/g, ' ');
