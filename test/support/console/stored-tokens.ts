// What the OAuth server keeps of a token or an app, and the time moved on for one of them alone.
import { expect } from 'chai';
import { documentId } from '../../../api/console/oauth/adapter.ts';
import type { ConsoleFixture } from './console-fixture.ts';

type Fixture = Pick<ConsoleFixture, 'store'>;

async function change(
  { store }: Fixture,
  kind: string,
  id: string,
  $set: { expiresAt: Date } | { consumedAt: Date },
): Promise<void> {
  expect(
    (await store.console.oauth.updateOne({ _id: documentId(kind, id) }, { $set })).matchedCount,
  ).to.equal(1);
}

/** How long from now it is kept. */
export async function keptForMs(
  { store }: Fixture,
  kind: 'AccessToken' | 'Client',
  id: string,
): Promise<number> {
  return (
    (await store.console.oauth.findOne({ _id: documentId(kind, id) }))!.expiresAt.getTime() -
    Date.now()
  );
}

/** As if its hour were over. */
export const endAccess = (fixture: Fixture, token: string) =>
  change(fixture, 'AccessToken', token, { expiresAt: new Date(Date.now() - 1_000) });

/** As if the refresh token had been used so long ago. */
export const usedBeforeMs = (fixture: Fixture, token: string, ms: number) =>
  change(fixture, 'RefreshToken', token, { consumedAt: new Date(Date.now() - ms) });
