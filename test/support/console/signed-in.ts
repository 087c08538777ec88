// Creates users with a session directly in the database.
import { randomUUID } from 'node:crypto';
import { createSessions } from '../../../api/console/auth/sessions.ts';
import type { Role, Store } from '../../../api/store/store.ts';

export interface SignedIn {
  id: string;
  email: string;
  /** The session cookie, as a `Cookie` header. */
  cookie: string;
}

/** Adds a user (by id) to the team of the account (by id) and creates the team if needed. */
export async function joinTeam(
  store: Store,
  account: string,
  user: string,
  role: Role,
): Promise<void> {
  const team = {
    $push: { members: { user, role, since: new Date() } },
    $setOnInsert: { invitations: [] },
  };
  await store.console.teams.updateOne({ _id: account }, team, { upsert: true });
}

/** Creates a user and a session. With `role`, the user is a member of `account` (its id). */
export async function signedIn(
  store: Store,
  {
    account,
    role,
    operator = false,
  }: { account: string; role?: Role | undefined; operator?: boolean | undefined },
): Promise<SignedIn> {
  const id = `usr_${randomUUID()}`;
  const email = `${randomUUID()}@example.com`;
  await store.console.users.insertOne({
    _id: id,
    email,
    name: 'A TestUser',
    operator,
    identities: [],
    createdAt: new Date(),
  });
  if (role) await joinTeam(store, account, id, role);
  const { token } = await createSessions(store).open({
    user: id,
    method: 'password',
    ip: '127.0.0.1',
    userAgent: 'a test',
  });
  return { id, email, cookie: `__Host-pressroom-session=${token}` };
}
