// Wires authentication: users, passwords, two-factor, sessions, login and its limits.
import type { Network } from '../../../common/addresses.ts';
import type { Plan } from '../../accounts/plans.ts';
import type { Store } from '../../store/store.ts';
import type { Cookies } from '../kit/cookies.ts';
import type { Audit } from '../security/audit.ts';
import { passwords } from '../security/passwords.ts';
import { createSignInLimits } from '../security/sign-in-limits.ts';
import { isSsoEmail, type SsoConfig } from '../sso/sso-config.ts';
import { createUsers } from '../users/users.ts';
import { createFirstOwner, createSetup } from './bootstrap.ts';
import { createDevices } from './devices.ts';
import { createLogin } from './login.ts';
import { createPendingTwoFactor } from './pending-two-factor.ts';
import type { Sessions } from './sessions.ts';
import { TwoFactor } from './two-factor.ts';

export interface AuthDeps {
  publicUrl: string;
  secret: string;
  store: Store;
  cookies: Cookies;
  sessions: Sessions;
  audit: Audit;
  plans: readonly Plan[];
  trustedProxies: readonly Network[];
  /** The label and the email domains of SSO; undefined when it is off. */
  sso?: Pick<SsoConfig, 'name' | 'domains'> | undefined;
  /** False: only operators sign in with a password. */
  passwordSignIn: boolean;
}

export type Auth = ReturnType<typeof createAuth>;

export function createAuth(deps: AuthDeps) {
  const {
    publicUrl,
    secret,
    store,
    cookies,
    sessions,
    audit,
    plans,
    trustedProxies,
    sso,
    passwordSignIn,
  } = deps;
  const users = createUsers(store);
  const devices = createDevices(secret, cookies);
  return {
    publicUrl,
    sso,
    passwordSignIn,
    /**
     * Whether a new user with this address may set a password. Not for SSO domains: the invitation
     * link is shown to the inviter, who could claim the address of another person.
     */
    newWithPassword: (email: string) => passwordSignIn && !(sso && isSsoEmail(email, sso)),
    cookies,
    sessions,
    audit,
    users,
    passwords,
    devices,
    limits: createSignInLimits(store, secret),
    twoFactor: new TwoFactor(store, { secret, label: `Pressroom ${new URL(publicUrl).host}` }),
    pendingTwoFactor: createPendingTwoFactor(secret, cookies, users),
    login: createLogin({ sessions, cookies, users, audit, devices, trustedProxies }),
    setup: createSetup(store),
    firstOwner: createFirstOwner(store, plans),
  };
}
