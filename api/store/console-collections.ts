// The collections of the dashboard: their names, indexes and retention.
import type { Db } from 'mongodb';
import type {
  AuditDocument,
  BillingEventDocument,
  CancelledCallsDocument,
  OAuthDocument,
  OAuthGrantDocument,
  ProcessDocument,
  RenderDocument,
  RenderMinuteDocument,
  SessionDocument,
  SignInLimitDocument,
  TeamDocument,
  UsageDayDocument,
  UserDocument,
} from './console-documents.ts';
import { storedPdfCollections } from './stored-pdfs.ts';

export const consoleCollections = (db: Db) => ({
  users: db.collection<UserDocument>('users'),
  sessions: db.collection<SessionDocument>('sessions'),
  teams: db.collection<TeamDocument>('teams'),
  audit: db.collection<AuditDocument>('audit'),
  renders: db.collection<RenderDocument>('renders'),
  usageDays: db.collection<UsageDayDocument>('usage_days'),
  renderMinutes: db.collection<RenderMinuteDocument>('render_minutes'),
  billingEvents: db.collection<BillingEventDocument>('events'),
  signInLimits: db.collection<SignInLimitDocument>('sign_in_limits'),
  processes: db.collection<ProcessDocument>('processes'),
  oauth: db.collection<OAuthDocument>('oauth'),
  oauthGrants: db.collection<OAuthGrantDocument>('oauth_grants'),
  cancelledCalls: db.collection<CancelledCallsDocument>('cancelled_calls'),
  ...storedPdfCollections(db),
});
export type ConsoleCollections = ReturnType<typeof consoleCollections>;

/** Stripe resends an event for up to three days (https://docs.stripe.com/webhooks). */
const BILLING_EVENTS_KEPT_S = 30 * 86_400;

/** The TTL index of the render log. Its expiry is set from the configuration at each start. */
export const RENDERS_TTL_INDEX = 'retention';
export const RENDERS_KEPT_S = 30 * 86_400;

/** Idempotent. */
export async function consoleIndexes(db: Db): Promise<void> {
  const of = consoleCollections(db);
  await db.collection('accounts').createIndex({ createdAt: -1, _id: -1 }, { name: 'newest' });
  await of.users.createIndexes([
    { key: { createdAt: -1, _id: -1 }, name: 'newest' },
    { key: { email: 1 }, unique: true, name: 'email' },
    {
      key: { 'identities.issuer': 1, 'identities.subject': 1 },
      unique: true,
      name: 'identity',
      partialFilterExpression: { 'identities.issuer': { $exists: true } },
    },
  ]);
  await of.sessions.createIndexes([
    { key: { expiresAt: 1 }, expireAfterSeconds: 0, name: 'end' },
    { key: { user: 1 }, name: 'user' },
  ]);
  await of.teams.createIndexes([
    { key: { 'members.user': 1 }, name: 'member' },
    { key: { 'invitations.hash': 1 }, name: 'invitation' },
  ]);
  await of.audit.createIndexes([
    { key: { account: 1, at: -1, _id: -1 }, name: 'of an account' },
    { key: { at: -1, _id: -1 }, name: 'all' },
  ]);
  await of.renders.createIndexes([
    { key: { account: 1, at: -1, _id: -1 }, name: 'of an account' },
    { key: { account: 1, key: 1, at: -1, _id: -1 }, name: 'of a key' },
    { key: { account: 1, outcome: 1, at: -1, _id: -1 }, name: 'by outcome' },
    {
      key: { account: 1, reference: 1, at: -1, _id: -1 },
      name: 'by reference',
      partialFilterExpression: { reference: { $exists: true } },
    },
    { key: { at: 1 }, expireAfterSeconds: RENDERS_KEPT_S, name: RENDERS_TTL_INDEX },
  ]);
  await of.usageDays.createIndexes([{ key: { '_id.account': 1, '_id.day': 1 }, name: 'days' }]);
  await of.renderMinutes.createIndexes([
    { key: { expires: 1 }, expireAfterSeconds: 0, name: 'end' },
  ]);
  await of.billingEvents.createIndexes([
    { key: { at: 1 }, expireAfterSeconds: BILLING_EVENTS_KEPT_S, name: 'end' },
  ]);
  await of.signInLimits.createIndexes([
    { key: { expires: 1 }, expireAfterSeconds: 0, name: 'end' },
  ]);
  await of.processes.createIndexes([{ key: { expires: 1 }, expireAfterSeconds: 0, name: 'end' }]);
}

/** Indexes of OAuth consents, tokens and cancelled calls. Idempotent. */
export async function oauthIndexes(db: Db): Promise<void> {
  const { oauth, oauthGrants, cancelledCalls } = consoleCollections(db);
  await oauth.createIndexes([
    { key: { expiresAt: 1 }, expireAfterSeconds: 0, name: 'end' },
    {
      key: { grantId: 1 },
      name: 'of a grant',
      partialFilterExpression: { grantId: { $exists: true } },
    },
    { key: { uid: 1 }, name: 'second name', partialFilterExpression: { uid: { $exists: true } } },
  ]);
  await oauthGrants.createIndexes([
    { key: { expiresAt: 1 }, expireAfterSeconds: 0, name: 'end' },
    { key: { user: 1, createdAt: -1 }, name: 'of a person' },
  ]);
  await cancelledCalls.createIndexes([
    { key: { expiresAt: 1 }, expireAfterSeconds: 0, name: 'end' },
  ]);
}

/** Sets the retention of the render log. MongoDB deletes older renders within a minute. */
export async function keepRenders(db: Db, keepMs: number): Promise<void> {
  const index = { name: RENDERS_TTL_INDEX, expireAfterSeconds: Math.round(keepMs / 1_000) };
  await db.command({ collMod: 'renders', index });
}
