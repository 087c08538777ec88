// Creates the first user of an installation: the administrator from the configuration, or by a
// one-time setup link. The page of the link is pages/setup.ts.

import { ApiError } from '../../../common/contract/errors.ts';
import type { Service } from '../../../common/lifecycle.ts';
import type { Log } from '../../../common/log.ts';
import { type AccountSettings, Accounts } from '../../accounts/accounts.ts';
import type { Plan } from '../../accounts/plans.ts';
import type { Store, TeamDocument } from '../../store/store.ts';
import type { Audit } from '../security/audit.ts';
import { createToken, hashToken, isToken } from '../security/tokens.ts';
import { createTeams } from '../users/teams.ts';
import type { Users } from '../users/users.ts';
import type { FirstAdmin } from './admin-config.ts';

/** The account that `npm start` creates at its first start. */
export const WAITING_ACCOUNT = 'default';

type FirstOwner = ReturnType<typeof createFirstOwner>;

export function createFirstOwner(store: Store, plans: readonly Plan[]) {
  const teams = createTeams(store);
  const { limits, limited } = store;
  const byName = (name: string) =>
    limited(store.accounts.findOne({ name }, { projection: { _id: 1 }, ...limits }));

  const hasOwner = async (accountId: string) =>
    (await teams.of(accountId)).members.some(({ role }) => role === 'owner');

  const withOwner = (members: TeamDocument['members'], user: string): TeamDocument['members'] => [
    ...members.filter(member => member.user !== user),
    { user, role: 'owner', since: new Date() },
  ];

  /** Makes the user the owner of the account. False when it already has one. */
  async function own(accountId: string, userId: string): Promise<boolean> {
    let owned = false;
    await teams.change(accountId, ({ members }) => {
      owned = !members.some(({ role }) => role === 'owner');
      return { members: owned ? withOwner(members, userId) : members };
    });
    return owned;
  }

  return {
    own,
    /** Adds the user as an owner. False when no account has this name. */
    addOwner: async (name: string, userId: string) => {
      const account = await byName(name);
      if (account)
        await teams.change(account._id, ({ members }) => ({ members: withOwner(members, userId) }));
      return account !== null;
    },
    /** The id of the account `default` while it has no owner. */
    waiting: async () => {
      const account = await byName(WAITING_ACCOUNT);
      return account && !(await hasOwner(account._id)) ? account._id : undefined;
    },
    /**
     * Creates an account on the largest plan with the user as its owner. Rejects with ApiError
     * `validation_error` for a name that is taken.
     */
    ownNew: async (name: string, userId: string) => {
      const largest = plans.reduce((best, plan) => (plan.parallel > best.parallel ? plan : best));
      const settings: AccountSettings = { plan: largest.name };
      // Creates no key, so no pepper is needed.
      const { id } = await new Accounts(store, { plans, peppers: [] }).createAccount(
        name,
        settings,
      );
      await own(id, userId);
      return id;
    },
    isTaken: async (name: string) => (await byName(name)) !== null,
    /** Whether any account exists. */
    hasAccounts: async () =>
      (await limited(store.accounts.findOne({}, { projection: { _id: 1 }, ...limits }))) !== null,
  };
}

/** True when another process of the installation, started at the same time, was first. */
const wasTaken = (error: unknown) =>
  error instanceof ApiError && (error.code === 'conflict' || error.code === 'validation_error');

/** The dashboard needs an account to show. */
async function ownFirstAccount(firstOwner: FirstOwner, userId: string): Promise<void> {
  if (!(await firstOwner.waiting()) && !(await firstOwner.hasAccounts()))
    await firstOwner.ownNew(WAITING_ACCOUNT, userId).catch(error => {
      if (!wasTaken(error)) throw error;
    });
  const waiting = await firstOwner.waiting();
  if (waiting) await firstOwner.own(waiting, userId);
}

/** Creates the configured administrator unless the address exists. True when it was created. */
async function createAdmin(
  { users, audit, firstOwner }: { users: Users; audit: Audit; firstOwner: FirstOwner },
  { email, password }: FirstAdmin,
): Promise<boolean> {
  if (await users.byEmail(email)) return false;
  try {
    const user = await users.create({
      email,
      password,
      name: email.split('@')[0]!,
      operator: true,
    });
    await ownFirstAccount(firstOwner, user._id);
    await audit.note(
      { actor: 'configuration' },
      { action: 'operator.created', target: user.email },
    );
    return true;
  } catch (error) {
    if (wasTaken(error)) return false;
    throw error;
  }
}

const LASTS_MS = 24 * 3600e3;
/** Each start creates one; the oldest are removed. */
const MAX_TOKENS = 20;
const ID = 'setup';

type Setup = ReturnType<typeof createSetup>;

export function createSetup(store: Store, now = () => Date.now()) {
  const { meta, limits, limited } = store;
  const withToken = (token: string) => ({
    _id: ID,
    tokens: { $elemMatch: { hash: hashToken(token), expires: { $gt: new Date(now()) } } },
  });

  return {
    /** True while no user exists. */
    needed: async () =>
      (await limited(store.console.users.findOne({}, { projection: { _id: 1 }, ...limits }))) ===
      null,
    /** Returns a new token, of which only the hash is stored. */
    createToken: async () => {
      const token = createToken();
      const made = { hash: hashToken(token), expires: new Date(now() + LASTS_MS) };
      await limited(
        meta.updateOne(
          { _id: ID },
          { $push: { tokens: { $each: [made], $slice: -MAX_TOKENS } } },
          { upsert: true, ...limits },
        ),
      );
      return token;
    },
    /** Consumes all tokens. Of several concurrent calls exactly one returns true. */
    use: async (token: string) =>
      isToken(token) &&
      (await limited(meta.findOneAndUpdate(withToken(token), { $set: { tokens: [] } }, limits))) !==
        null,
    /** Whether the token could be used now. */
    isGood: async (token: string) =>
      isToken(token) && (await limited(meta.findOne(withToken(token), limits))) !== null,
  };
}

interface BootstrapDeps {
  admin: FirstAdmin | undefined;
  publicUrl: string;
  log: Log;
  /** Receives the setup link; without it the link is logged. */
  onSetupLink?: ((url: string) => void) | undefined;
}

/** At startup: creates the configured administrator, or publishes the setup link. */
export function bootstrapService(
  auth: { users: Users; audit: Audit; firstOwner: FirstOwner; setup: Setup },
  { secure }: { secure: boolean },
  { admin, publicUrl, log, onSetupLink }: BootstrapDeps,
): Service {
  return {
    name: 'first user',
    start: async () => {
      if (admin && (await createAdmin(auth, admin)))
        log.info('created the administrator from the configuration');
      if (!secure)
        log.warn(
          { publicUrl },
          'the dashboard uses plain http and sends passwords unencrypted: use https',
        );
      if (new URL(publicUrl).pathname !== '/')
        log.warn(
          { publicUrl },
          'the dashboard and /mcp only work at the root of a host: set PRESSROOM_PUBLIC_URL to a URL without a path',
        );
      if (!(await auth.setup.needed())) return;
      const link = `${publicUrl}/app/setup#${await auth.setup.createToken()}`;
      if (onSetupLink) onSetupLink(link);
      else log.warn({ link }, 'this installation is not set up: open the link (it works once)');
    },
    stop: async () => {},
  };
}
