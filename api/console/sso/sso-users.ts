// Who may sign in through the company, and who that is here: linked by issuer and subject, never by
// an address that somebody else proved.

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
   * The address is of somebody with a password, who must show it once: the person at the provider
   * may be another one.
   */
  | { kind: 'unproven'; user: UserDocument; identity: Identity };

export interface SsoUsers {
  /**
   * Finds the person, or makes one. Throws SsoError for who may not sign in; its message is for the
   * person. `ip` is for the audit log.
   */
  userOf(claims: IdentityClaims, ip: string): Promise<SsoUser>;
  /**
   * The person has shown the password. Throws SsoError when either has been linked otherwise
   * meanwhile.
   */
  link(user: UserDocument, identity: Identity, ip: string): Promise<void>;
  /**
   * What follows a sign-in: the first one ever makes the person a member of the configured account.
   * Returns whether the person is a member of any account.
   */
  arrived(user: UserDocument, ip: string): Promise<boolean>;
}

interface Deps {
  config: Pick<SsoConfig, 'domains' | 'trustEmail' | 'account' | 'role'>;
  store: Store;
  users: Users;
  teams: Teams;
  audit: Audit;
  log: Log;
}

const refused = (problem: string, message: string) => new SsoError(403, message, { problem });

const disabled = () =>
  refused(
    'the person is disabled',
    'You may not sign in here any more. Ask who runs this installation.',
  );

const anothers = (email: string) =>
  new SsoError(
    409,
    `${email} belongs to somebody here whom the company’s sign-in knows as another person. If that was you, ask who runs this installation to forget it.`,
    { problem: 'the address is linked to another subject of the provider' },
  );

function checkDomain(config: Deps['config'], email: string): void {
  if (isSsoEmail(email, config)) return;
  throw refused(
    'the domain is not in PRESSROOM_OIDC_DOMAINS',
    `${email.slice(0, MAX_EMAIL)} may not sign in here. Use an address of ${config.domains.join(' or ')}.`,
  );
}

/** The address at the first sign-in. */
function provenEmail(config: Deps['config'], { email, emailVerified }: IdentityClaims): string {
  const parsed = emailText.safeParse(email);
  if (!parsed.success)
    throw refused(
      'the provider says no address',
      'The company’s sign-in did not say your email address. Have one entered there.',
    );
  checkDomain(config, parsed.data);
  if (!emailVerified && !config.trustEmail)
    throw refused(
      'the address is not verified at the provider',
      `The company’s sign-in has not verified that ${parsed.data} is your address. Have it verified there, then come again.`,
    );
  return parsed.data;
}

export function createSsoUsers({ config, store, users, teams, audit, log }: Deps): SsoUsers {
  async function link(user: UserDocument, identity: Identity, ip: string): Promise<void> {
    try {
      await users.linkIdentity(user._id, identity);
    } catch (error) {
      throw error instanceof ApiError && error.code === 'conflict' ? anothers(user.email) : error;
    }
    await audit.note(
      { user: user._id, actor: user.email, ip },
      { action: 'person.company_linked' },
    );
  }

  async function made(
    email: string,
    claims: IdentityClaims,
    ip: string,
  ): Promise<UserDocument | undefined> {
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
      // Two first sign-ins at once: the other one made the person.
      if (error instanceof ApiError && error.code === 'conflict') return undefined;
      throw error;
    }
  }

  async function found(claims: IdentityClaims): Promise<UserDocument | undefined> {
    const user = await users.byIdentity(claims.issuer, claims.subject);
    if (!user) return undefined;
    if (user.disabled) throw disabled();
    // A domain that was taken off the list closes to those who came before, too. The address is
    // theirs to change at the provider.
    checkDomain(config, claims.email ?? user.email);
    return user;
  }

  async function userOf(claims: IdentityClaims, ip: string): Promise<SsoUser> {
    const known = await found(claims);
    if (known) return { kind: 'known', user: known };
    const email = provenEmail(config, claims);
    const { issuer, subject } = claims;
    const same =
      (await users.byEmail(email)) ??
      (await made(email, claims, ip)) ??
      (await users.byEmail(email));
    if (!same)
      throw refused(
        'the address was taken at the same time',
        'Your address was taken by somebody else in this moment. Begin again.',
      );
    if (same.disabled) throw disabled();
    if (same.identities.some(each => each.issuer === issuer && each.subject === subject))
      return { kind: 'known', user: same };
    // The company gave the address to somebody else, who must not find the former person's keys.
    if (same.identities.some(each => each.issuer === issuer)) throw anothers(email);
    if (same.password !== undefined)
      return { kind: 'unproven', user: same, identity: { issuer, subject } };
    // Somebody entered the address here for a person who has no other way in than this.
    await link(same, { issuer, subject }, ip);
    return { kind: 'known', user: same };
  }

  async function join(user: UserDocument, wanted: string, ip: string): Promise<void> {
    const { accounts, limited, limits } = store;
    const account = await limited(
      accounts.findOne(
        { $or: [{ _id: wanted }, { name: wanted }] },
        { projection: { _id: 1 }, ...limits },
      ),
    );
    if (!account) {
      log.error(
        { account: wanted },
        'people of the company became members of nothing: PRESSROOM_OIDC_ACCOUNT is no account',
      );
      return;
    }
    let outcome: 'joined' | 'member already' | 'full' = 'full';
    await teams.change(account._id, ({ members }) => {
      const member = members.some(each => each.user === user._id);
      outcome = member ? 'member already' : members.length < MAX_MEMBERS ? 'joined' : 'full';
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
        'somebody of the company could not become a member: the account is full',
      );
  }

  return {
    userOf,
    link,
    async arrived(user, ip) {
      if (config.account !== undefined && user.lastSignInAt === undefined)
        await join(user, config.account, ip);
      const { console, limited, limits } = store;
      return (
        (await limited(
          console.teams.countDocuments({ 'members.user': user._id }, { limit: 1, ...limits }),
        )) > 0
      );
    },
  };
}
