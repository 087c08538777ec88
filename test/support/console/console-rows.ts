// A valid request to every endpoint of the management API and its required permission. A second
// list besides the routes, so that a test detects a mistake in either.
import { randomUUID } from 'node:crypto';
import type { Permission } from '../../../api/console/contract/permissions.ts';
import type { ConsoleRoute } from '../../../api/console/kit/route.ts';
import { createBatchId } from '../../../api/jobs/job-id.ts';
import { storedJob } from '../stored-job.ts';
import { CONSOLE_SECRET, type ConsoleFixture, type TestUser } from './console-fixture.ts';

/** The context of a request. */
export interface Scene {
  fixture: ConsoleFixture;
  /** The account of the request. */
  account: string;
  /** The signed-in user. For requests without a session, an unrelated user. */
  caller: TestUser;
}

export interface Sample {
  /** A permission in the account, `signed-in` (any session), `operator`, or `public` (no session). */
  needs: Permission | 'signed-in' | 'operator' | 'public';
  /** The status when the caller has the permission. */
  good: number;
  /** Creates the objects in the path and returns their ids by parameter name. */
  make?(scene: Scene): Promise<Record<string, string>>;
  body?: (scene: Scene) => unknown;
}

async function aKey({ fixture, account }: Scene) {
  const { name } = (await fixture.store.accounts.findOne({ _id: account }))!;
  return { key: (await fixture.accounts.createKey(name, { name: 'a key' })).key.id };
}

async function anInvitation({ fixture, account }: Scene) {
  const id = `inv_${randomUUID()}`;
  const at = new Date();
  const invitation = {
    id,
    hash: id,
    email: `${id}@example.com`,
    role: 'viewer' as const,
    by: 'usr_x',
    createdAt: at,
    expiresAt: new Date(at.getTime() + 60_000),
  };
  await fixture.store.console.teams.updateOne(
    { _id: account },
    { $push: { invitations: invitation }, $setOnInsert: { members: [] } },
    { upsert: true },
  );
  return { invitation: id };
}

const aMember = async ({ fixture, account }: Scene) => ({
  user: (await fixture.createUser({ role: 'viewer', account })).id,
});

async function aRender({ fixture, account }: Scene) {
  const id = randomUUID();
  await fixture.store.console.renders.insertOne({
    _id: id,
    account,
    at: new Date(),
    via: 'api',
    outcome: 'ok',
    sandbox: false,
    counted: true,
    source: 'html',
    options: {},
    timings: {},
    totalMs: 5,
  });
  return { render: id };
}

async function aQueuedRender({ fixture, account }: Scene) {
  return { render: (await storedJob(fixture.store, CONSOLE_SECRET, account))._id };
}

async function aFinishedRender({ fixture: { store }, account }: Scene) {
  const { _id } = await storedJob(store, CONSOLE_SECRET, account, { pdf: Buffer.from('a PDF') });
  return { render: _id };
}

/** Of one queued render. */
async function aBatch({ fixture: { store }, account }: Scene) {
  const id = createBatchId();
  const batch = { id, index: 0 };
  const { createdAt, keptUntil } = await storedJob(store, CONSOLE_SECRET, account, { batch });
  await store.asynchronous.batches.insertOne({ _id: id, account, createdAt, total: 1, keptUntil });
  return { batch: id };
}

async function anotherSession({ fixture, caller }: Scene) {
  const id = randomUUID();
  const at = new Date();
  const later = new Date(at.getTime() + 60_000);
  await fixture.store.console.sessions.insertOne({
    _id: id,
    publicId: id,
    user: caller.id,
    method: 'password',
    createdAt: at,
    lastSeenAt: at,
    expiresAt: later,
    endsAt: later,
    ip: '127.0.0.1',
    userAgent: '',
  });
  return { session: id };
}

async function anApp({ fixture, account, caller }: Scene) {
  const _id = randomUUID();
  const at = new Date();
  await fixture.store.console.oauthGrants.insertOne({
    _id,
    user: caller.id,
    account,
    clientId: 'a client',
    clientName: 'An App',
    redirect: 'app.example',
    scope: 'render',
    createdAt: at,
    expiresAt: new Date(at.getTime() + 60_000),
  });
  return { grant: _id };
}

const anAccount = async ({ account }: Scene) => ({ id: account });
const aName = () => ({ name: `named ${randomUUID()}` });
const anAddress = () => ({ email: `${randomUUID()}@example.com`, role: 'viewer' });

export const SAMPLES: Record<string, Sample> = {
  'GET /me': { needs: 'signed-in', good: 200 },
  'PATCH /me': { needs: 'signed-in', good: 200, body: aName },
  // Users of the fixture have no password, so this sets the first one.
  'POST /me/password': {
    needs: 'signed-in',
    good: 204,
    body: () => ({ next: 'a long enough password' }),
  },
  'GET /me/sessions': { needs: 'signed-in', good: 200 },
  'DELETE /me/sessions': { needs: 'signed-in', good: 204 },
  'DELETE /me/sessions/:session': { needs: 'signed-in', good: 204, make: anotherSession },
  'GET /me/apps': { needs: 'signed-in', good: 200 },
  'DELETE /me/apps/:grant': { needs: 'signed-in', good: 204, make: anApp },
  'POST /me/two-factor': { needs: 'signed-in', good: 200, body: () => ({ password: '' }) },
  // These fail because two-factor authentication is not set up.
  'POST /me/two-factor/confirm': {
    needs: 'signed-in',
    good: 409,
    body: () => ({ code: '123456' }),
  },
  'POST /me/two-factor/recovery-codes': {
    needs: 'signed-in',
    good: 400,
    body: () => ({ code: '123456' }),
  },
  'DELETE /me/two-factor': { needs: 'signed-in', good: 400, body: () => ({ code: '123456' }) },
  'POST /me/sign-out': { needs: 'signed-in', good: 204 },

  'GET /accounts/:account/overview': { needs: 'account.read', good: 200 },
  'PATCH /accounts/:account': { needs: 'account.rename', good: 204, body: aName },
  'GET /accounts/:account/renders': { needs: 'renders.read', good: 200 },
  'GET /accounts/:account/renders/:render': { needs: 'renders.read', good: 200, make: aRender },
  'GET /accounts/:account/async-renders': { needs: 'renders.read', good: 200 },
  'GET /accounts/:account/async-renders/:render': {
    needs: 'renders.read',
    good: 200,
    make: aQueuedRender,
  },
  'DELETE /accounts/:account/async-renders/:render': {
    needs: 'renders.write',
    good: 200,
    make: aQueuedRender,
  },
  'GET /accounts/:account/async-renders/:render/pdf': {
    needs: 'renders.write',
    good: 200,
    make: aFinishedRender,
  },
  'GET /accounts/:account/batches/:batch': { needs: 'renders.read', good: 200, make: aBatch },
  'DELETE /accounts/:account/batches/:batch': { needs: 'renders.write', good: 200, make: aBatch },
  'GET /accounts/:account/usage': { needs: 'usage.read', good: 200 },
  'GET /accounts/:account/usage.csv': { needs: 'usage.read', good: 200 },
  'GET /accounts/:account/keys': { needs: 'keys.read', good: 200 },
  'POST /accounts/:account/keys': { needs: 'keys.write', good: 201, body: aName },
  'POST /accounts/:account/keys/:key/rotate': {
    needs: 'keys.write',
    good: 201,
    make: aKey,
    body: () => ({ overlap: 'day' }),
  },
  'DELETE /accounts/:account/keys/:key': { needs: 'keys.write', good: 204, make: aKey },
  // Without Chrome, the request must be invalid. The permission is checked before the body.
  'POST /accounts/:account/playground/render': {
    needs: 'playground.render',
    good: 400,
    body: () => ({ html: 'x', pages: 'all' }),
  },
  'GET /accounts/:account/team': { needs: 'team.read', good: 200 },
  'POST /accounts/:account/team/invitations': { needs: 'team.write', good: 201, body: anAddress },
  'DELETE /accounts/:account/team/invitations/:invitation': {
    needs: 'team.write',
    good: 204,
    make: anInvitation,
  },
  'PATCH /accounts/:account/team/members/:user': {
    needs: 'team.write',
    good: 204,
    make: aMember,
    body: () => ({ role: 'developer' }),
  },
  // Removes another user, not the caller.
  'DELETE /accounts/:account/team/members/:user': { needs: 'team.write', good: 204, make: aMember },
  'GET /accounts/:account/audit': { needs: 'audit.read', good: 200 },
  'GET /accounts/:account/billing': { needs: 'billing.read', good: 200 },
  // Without billing, the administrator manages the plans.
  'POST /accounts/:account/billing/checkout': {
    needs: 'billing.write',
    good: 409,
    body: () => ({ plan: 'starter' }),
  },
  'POST /accounts/:account/billing/portal': { needs: 'billing.write', good: 409 },

  'GET /operator/accounts': { needs: 'operator', good: 200 },
  'POST /operator/accounts': { needs: 'operator', good: 201, body: aName },
  'GET /operator/accounts/:id': { needs: 'operator', good: 200, make: anAccount },
  'PATCH /operator/accounts/:id': {
    needs: 'operator',
    good: 200,
    make: anAccount,
    body: () => ({ state: 'paused' }),
  },
  'DELETE /operator/accounts/:id': { needs: 'operator', good: 204, make: anAccount },
  'POST /operator/accounts/:id/invitations': {
    needs: 'operator',
    good: 201,
    make: anAccount,
    body: anAddress,
  },
  'GET /operator/users': { needs: 'operator', good: 200 },
  'PATCH /operator/users/:user': {
    needs: 'operator',
    good: 204,
    make: aMember,
    body: () => ({ disabled: true }),
  },
  'GET /operator/audit': { needs: 'operator', good: 200 },
  'GET /operator/live': { needs: 'operator', good: 200 },
  'GET /operator/health': { needs: 'operator', good: 200 },
  'GET /openapi.json': { needs: 'public', good: 200 },
};

export const nameOf = ({ method, path }: ConsoleRoute): string => `${method.toUpperCase()} ${path}`;

/** The path of a route with ids instead of parameters. */
export const pathWith = ({ path }: ConsoleRoute, ids: Record<string, string>): string =>
  `/console/v1${path.replace(/:(\w+)/g, (_, name: string) => encodeURIComponent(ids[name] ?? `no ${name}`))}`;

/** Everything in the accounts that a request could change, as one string. */
export async function stateOf({ store }: ConsoleFixture, accounts: string[]): Promise<string> {
  const byId = { sort: { _id: 1 } } as const;
  return JSON.stringify([
    await store.accounts.find({ _id: { $in: accounts } }, byId).toArray(),
    await store.console.teams.find({ _id: { $in: accounts } }, byId).toArray(),
    // Invalid requests are logged with a delay and change nothing else.
    await store.console.renders
      .find({ account: { $in: accounts }, code: { $ne: 'validation_error' } }, byId)
      .toArray(),
    await store.console.audit.countDocuments({ account: { $in: accounts } }),
    await store.asynchronous.jobs.find({ account: { $in: accounts } }, byId).toArray(),
  ]);
}
