// Maps the claims of the identity provider to a user. Users are linked by issuer and subject, never
// by an email address alone.

import { ApiError } from '../../../common/contract/errors.ts';
import type { Log } from '../../../common/log.ts';
import type { Store, UserDocument } from '../../store/store.ts';
import { emailText, MAX_EMAIL, nameText } from '../contract/common.ts';
import type { Audit } from '../security/audit.ts';
import { MAX_MEMBERS } from '../users/team-rules.ts';
import type { Teams } from '../users/teams.ts';
import type { Identity, Users } from '../users/users.ts';
import type { IdentityClaims } from './identity-provider.ts';
import { isSsoEmail, type SsoConfig } from './sso-config.ts';
import { SsoError } from './sso-error.ts';

export type SsoUser =
  | { kind: 'known'; user: UserDocument }
  /**
   * The address belongs to a user with a password, which must be entered once: the identity may
   * belong to another person.
   */
  | { kind: 'unproven'; user: UserDocument; identity: Identity };

interface Deps {
  config: Pick<SsoConfig, 'domains' | 'trustEmail' | 'account' | 'role'>;
  store: Store;
  users: Users;
  teams: Teams;
  audit: Audit;
  log: Log;
}

const rejected = (problem: string, message: string) => new SsoError(403, message, { problem });

const disabled = () =>
  rejected('the user is disabled', 'Your login is disabled. Ask your administrator to enable it.');

const linkedToAnother = (email: string) =>
  new SsoError(
    409,
    `The login of ${email} is linked to another identity at your identity provider. Ask your administrator to unlink it.`,
    { problem: 'the address is linked to another subject of the identity provider' },
  );

function checkDomain(config: Deps['config'], email: string): void {
  if (isSsoEmail(email, config)) return;
  throw rejected(
    'the domain is not in PRESSROOM_OIDC_DOMAINS',
    `${email.slice(0, MAX_EMAIL)} cannot sign in here. Use an email address at ${config.domains.join(' or ')}.`,
  );
}

/** The email address at the first sign-in. */
function verifiedEmail(config: Deps['config'], { email, emailVerified }: IdentityClaims): string {
  const parsed = emailText.safeParse(email);
  if (!parsed.success)
    throw rejected(
      'the identity provider sent no email address',
      'Your identity provider did not send an email address. Ask your administrator to add yours there.',
    );
  checkDomain(config, parsed.data);
  if (!emailVerified && !config.trustEmail)
    throw rejected(
      'the address is not verified at the identity provider',
      `Your identity provider has not verified the address ${parsed.data}. Verify it there, then sign in again.`,
    );
  return parsed.data;
}

const isConflict = (error: unknown) => error instanceof ApiError && error.code === 'conflict';

export class SsoUsers {
  readonly #deps: Deps;

  constructor(deps: Deps) {
    this.#deps = deps;
  }

  /**
   * Finds or creates the user. Throws SsoError, with a message for the user, when the sign-in is
   * not allowed. `ip` is for the audit log.
   */
  async userOf(claims: IdentityClaims, ip: string): Promise<SsoUser> {
    const known = await this.#linkedUser(claims);
    if (known) return { kind: 'known', user: known };
    const { config, users } = this.#deps;
    const email = verifiedEmail(config, claims);
    const user =
      (await users.byEmail(email)) ??
      (await this.#create(email, claims, ip)) ??
      (await users.byEmail(email));
    if (!user)
      throw rejected(
        'the address was taken at the same time',
        'Another user has just taken your email address. Sign in again.',
      );
    return this.#userWithEmail(user, claims, ip);
  }

  /**
   * Links after the user entered the password. Throws SsoError when either was linked to something
   * else in the meantime.
   */
  async link(user: UserDocument, identity: Identity, ip: string): Promise<void> {
    const { users, audit } = this.#deps;
    try {
      await users.linkIdentity(user._id, identity);
    } catch (error) {
      throw isConflict(error) ? linkedToAnother(user.email) : error;
    }
    await audit.note(
      { user: user._id, actor: user.email, ip },
      { action: 'person.company_linked' },
    );
  }

  /**
   * After a sign-in. The very first one makes the user a member of the configured account. Returns
   * whether the user is a member of any account.
   */
  async arrived(user: UserDocument, ip: string): Promise<boolean> {
    const { config, store } = this.#deps;
    if (config.account !== undefined && user.lastSignInAt === undefined)
      await this.#join(user, config.account, ip);
    const { console, limited, limits } = store;
    return (
      (await limited(
        console.teams.countDocuments({ 'members.user': user._id }, { limit: 1, ...limits }),
      )) > 0
    );
  }

  async #linkedUser(claims: IdentityClaims): Promise<UserDocument | undefined> {
    const { config, users } = this.#deps;
    const user = await users.byIdentity(claims.issuer, claims.subject);
    if (!user) return undefined;
    if (user.disabled) throw disabled();
    // A domain removed from the list also ends the access of existing users. The address at the
    // provider counts: it may have changed there.
    checkDomain(config, claims.email ?? user.email);
    return user;
  }

  async #userWithEmail(
    user: UserDocument,
    { issuer, subject }: IdentityClaims,
    ip: string,
  ): Promise<SsoUser> {
    if (user.disabled) throw disabled();
    if (user.identities.some(each => each.issuer === issuer && each.subject === subject))
      return { kind: 'known', user };
    // The address was reassigned: the new holder must not get the access of the former one.
    if (user.identities.some(each => each.issuer === issuer)) throw linkedToAnother(user.email);
    if (user.password !== undefined)
      return { kind: 'unproven', user, identity: { issuer, subject } };
    // Created here without a password: SSO is this user's only way to sign in.
    await this.link(user, { issuer, subject }, ip);
    return { kind: 'known', user };
  }

  async #create(
    email: string,
    claims: IdentityClaims,
    ip: string,
  ): Promise<UserDocument | undefined> {
    const { users, audit } = this.#deps;
    const { issuer, subject } = claims;
    const name =
      nameText().safeParse(claims.name).data ??
      email.slice(0, email.lastIndexOf('@')).slice(0, 100);
    try {
      const user = await users.create({ email, name, identity: { issuer, subject } });
      await audit.note(
        { user: user._id, actor: email, ip },
        { action: 'person.created', details: { by: 'company' } },
      );
      return user;
    } catch (error) {
      // A concurrent first sign-in has created the user.
      if (isConflict(error)) return undefined;
      throw error;
    }
  }

  async #join(user: UserDocument, nameOrId: string, ip: string): Promise<void> {
    const { config, store, teams, audit, log } = this.#deps;
    const { accounts, limited, limits } = store;
    const account = await limited(
      accounts.findOne(
        { $or: [{ _id: nameOrId }, { name: nameOrId }] },
        { projection: { _id: 1 }, ...limits },
      ),
    );
    if (!account) {
      log.error(
        { account: nameOrId },
        'an SSO user was not added to a team: the account in PRESSROOM_OIDC_ACCOUNT does not exist',
      );
      return;
    }
    let outcome: 'joined' | 'already a member' | 'full' = 'full';
    await teams.change(account._id, ({ members }) => {
      const member = members.some(each => each.user === user._id);
      outcome = member ? 'already a member' : members.length < MAX_MEMBERS ? 'joined' : 'full';
      return {
        members:
          outcome === 'joined'
            ? [...members, { user: user._id, role: config.role, since: new Date() }]
            : members,
      };
    });
    if ((outcome as string) === 'joined')
      await audit.note(
        { account: account._id, user: user._id, actor: user.email, ip },
        {
          action: 'member.joined',
          target: user.email,
          details: { role: config.role, by: 'company' },
        },
      );
    if (outcome === 'full')
      log.warn(
        { account: account._id, maxMembers: MAX_MEMBERS },
        'an SSO user was not added to a team: the account is full',
      );
  }
}
