// How the first person signs in to a new installation: as the administrator of the configuration,
// or by a setup link that works once. The page of the link is pages/setup.ts.

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

/** What `npm start` makes at its first start. */
export const WAITING_ACCOUNT = 'default';

export interface FirstOwner {
  /** The id of the account `default` while it has no owner. */
  waiting(): Promise<string | undefined>;
  /** Makes the person its owner. False when it has one already. */
  own(accountId: string, userId: string): Promise<boolean>;
  /** Makes the person one of the owners. False when there is no account of this name. */
  addOwner(accountName: string, userId: string): Promise<boolean>;
  /**
   * Makes the account with the largest plan, and the person its owner. Rejects with ApiError
   * `validation_error` for a name that is taken.
   */
  ownNew(name: string, userId: string): Promise<string>;
  isTaken(name: string): Promise<boolean>;
  /** Whether there is any account. */
  hasAccounts(): Promise<boolean>;
}

export function createFirstOwner(store: Store, plans: readonly Plan[]): FirstOwner {
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
    addOwner: async (name, userId) => {
      const account = await byName(name);
      if (account)
        await teams.change(account._id, ({ members }) => ({ members: withOwner(members, userId) }));
      return account !== null;
    },
    waiting: async () => {
      const account = await byName(WAITING_ACCOUNT);
      return account && !(await hasOwner(account._id)) ? account._id : undefined;
    },
    ownNew: async (name, userId) => {
      const largest = plans.reduce((best, plan) => (plan.parallel > best.parallel ? plan : best));
      const settings: AccountSettings = { plan: largest.name };
      // Keys are not touched here, so no pepper is needed.
      const { id } = await new Accounts(store, { plans, peppers: [] }).createAccount(
        name,
        settings,
      );
      await own(id, userId);
      return id;
    },
    isTaken: async name => (await byName(name)) !== null,
    hasAccounts: async () =>
      (await limited(store.accounts.findOne({}, { projection: { _id: 1 }, ...limits }))) !== null,
  };
}

/**
 * Whether the error says that another process of the installation, which started at the same
 * moment, was quicker.
 */
const wasTaken = (error: unknown) =>
  error instanceof ApiError && (error.code === 'conflict' || error.code === 'validation_error');

/** Without any account there would be nothing to look at. */
async function ownFirstAccount(firstOwner: FirstOwner, userId: string): Promise<void> {
  if (!(await firstOwner.waiting()) && !(await firstOwner.hasAccounts()))
    await firstOwner.ownNew(WAITING_ACCOUNT, userId).catch(error => {
      if (!wasTaken(error)) throw error;
    });
  const waiting = await firstOwner.waiting();
  if (waiting) await firstOwner.own(waiting, userId);
}

/**
 * Creates the administrator of the configuration. A user who has that address already is left
 * unchanged. True when it was created.
 */
async function makeAdmin(
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

/** The setup link; undefined once there is a user. */
async function setupLink({
  setup,
  publicUrl,
}: {
  setup: Setup;
  publicUrl: string;
}): Promise<string | undefined> {
  return (await setup.needed()) ? `${publicUrl}/app/setup#${await setup.createToken()}` : undefined;
}

const LASTS_MS = 24 * 3600e3;
/** Of processes that started one after the other; the oldest go. */
const MAX_TOKENS = 20;
const ID = 'setup';

export interface Setup {
  /** True while there is no user. */
  needed(): Promise<boolean>;
  /** The text of a new token, which is stored nowhere. */
  createToken(): Promise<string>;
  /** Uses up the token, and with it all others: of several at once one gets true. */
  use(token: string): Promise<boolean>;
  /** Whether it could be used now. */
  isGood(token: string): Promise<boolean>;
}

export function createSetup(store: Store, now = () => Date.now()): Setup {
  const { meta, limits, limited } = store;
  const withToken = (token: string) => ({
    _id: ID,
    tokens: { $elemMatch: { hash: hashToken(token), expires: { $gt: new Date(now()) } } },
  });

  return {
    needed: async () =>
      (await limited(store.console.users.findOne({}, { projection: { _id: 1 }, ...limits }))) ===
      null,
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
    use: async token =>
      isToken(token) &&
      (await limited(meta.findOneAndUpdate(withToken(token), { $set: { tokens: [] } }, limits))) !==
        null,
    isGood: async token =>
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

/**
 * At the start: creates the configured administrator, or publishes the setup link while there is no
 * user.
 */
export function bootstrapService(
  auth: { users: Users; audit: Audit; firstOwner: FirstOwner; setup: Setup; publicUrl: string },
  { secure }: { secure: boolean },
  { admin, publicUrl, log, onSetupLink }: BootstrapDeps,
): Service {
  return {
    name: 'first person',
    start: async () => {
      if (admin && (await makeAdmin(auth, admin)))
        log.info('the administrator of the configuration was made');
      if (!secure)
        log.warn(
          { publicUrl },
          'the dashboard is reached by plain http: passwords travel in the open, give it https',
        );
      if (new URL(publicUrl).pathname !== '/')
        log.warn(
          { publicUrl },
          'the dashboard and /mcp work at the root of a host alone: give PRESSROOM_PUBLIC_URL a host name without a path',
        );
      const link = await setupLink(auth);
      if (!link) return;
      if (onSetupLink) onSetupLink(link);
      else
        log.warn({ link }, 'nobody has set this installation up: open the link, which works once');
    },
    stop: async () => {},
  };
}
