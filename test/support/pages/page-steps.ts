// What a person does and reads at the pages of the sign-in and of the consent.
import type { Page } from 'playwright-core';
import { passwords } from '../../../api/console/security/passwords.ts';
import type { ConsoleFixture, Person } from '../console/console-fixture.ts';

export const PASSWORD = 'a password of the tests';

/** A person of the fixture who can sign in with PASSWORD. */
export async function personWithPassword(
  fixture: ConsoleFixture,
  options?: Parameters<ConsoleFixture['person']>[0],
): Promise<Person> {
  const person = await fixture.person(options);
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
  { email }: Pick<Person, 'email'>,
  password = PASSWORD,
): Promise<void> {
  await page.getByLabel('Email').fill(email);
  await page.getByLabel('Password', { exact: true }).fill(password);
  await press(page, 'Sign in');
}

/** From a page of ours to the company's and back; an empty `subject` makes it fail there. */
export async function signInAtProvider(
  page: Page,
  subject: string,
  link = 'Example account',
): Promise<void> {
  await page.getByRole('link', { name: link }).click();
  await page.getByLabel('Login').fill(subject);
  await press(page, 'Go on');
}

/** Waits for the page of consent. */
export const consentShown = (page: Page) =>
  page.getByRole('heading', { name: 'Connect an app' }).waitFor();

/** Waits for the page of the app to which a consent leads. */
export const appShown = (page: Page) => page.getByRole('heading', { name: 'Connected' }).waitFor();

/** What the page says. */
export const pageText = async (page: Page) =>
  (await page.getByRole('main').textContent())!.replace(/\s+/g, ' ');
