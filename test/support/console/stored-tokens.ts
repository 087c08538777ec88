// Reads and changes the expiry of single tokens and clients in the store of the OAuth server.
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

/** Time until the token or client expires. */
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

/** Makes an access token expired. */
export const endAccess = (fixture: Fixture, token: string) =>
  change(fixture, 'AccessToken', token, { expiresAt: new Date(Date.now() - 1_000) });

/** Marks a refresh token as used `ms` ago. */
export const usedBeforeMs = (fixture: Fixture, token: string, ms: number) =>
  change(fixture, 'RefreshToken', token, { consumedAt: new Date(Date.now() - ms) });
