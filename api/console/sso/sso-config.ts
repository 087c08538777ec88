// The environment variables of single sign-on (OpenID Connect), and the configuration read from
// them.
import { domainToASCII } from 'node:url';
import { z } from 'zod';
import {
  ConfigError,
  choice,
  listVariable,
  onOff,
  parsed,
  secret,
  textVariable,
} from '../../../common/config.ts';

/** Without `owner`: signing in first must not make a user the owner of an account. */
const FIRST_ROLES = ['admin', 'developer', 'billing', 'viewer'] as const;
const LOOPBACK = new Set(['localhost', '127.0.0.1', '[::1]']);

function issuer(value: string | undefined): URL | undefined {
  if (value === undefined) return undefined;
  const url = URL.canParse(value) ? new URL(value) : undefined;
  if (
    !url ||
    !(url.protocol === 'https:' || (url.protocol === 'http:' && LOOPBACK.has(url.hostname)))
  )
    throw new Error('must be an https URL (http only on localhost)');
  if (url.username || url.password || url.search || url.hash)
    throw new Error('must be a URL without credentials, query and fragment');
  if (url.pathname.includes('/.well-known/'))
    throw new Error('must be the issuer without `/.well-known/…`');
  return url;
}

function domains(entries: string[]): string[] {
  return entries.map(entry => {
    const domain = domainToASCII(entry);
    if (!/^([a-z0-9]([a-z0-9-]*[a-z0-9])?\.)+[a-z0-9-]*[a-z0-9]$/.test(domain))
      throw new Error(`\`${entry}\` must be the domain of an email address, such as example.com`);
    return domain;
  });
}

export const ssoVariables = z.object({
  PRESSROOM_OIDC_ISSUER: parsed(textVariable(undefined, 'an https URL'), issuer).describe(
    'Turns on SSO (single sign-on) by OpenID Connect: the issuer as in the discovery document of the identity provider. Register `PRESSROOM_PUBLIC_URL/app/sign-in/company/callback` there as the redirect URI. Two-factor authentication is up to the provider: SSO users are not asked for a code of the dashboard.',
  ),
  PRESSROOM_OIDC_CLIENT_ID: textVariable(undefined, 'text').describe(
    'The client ID of Pressroom at the identity provider.',
  ),
  PRESSROOM_OIDC_CLIENT_SECRET: secret().describe('The client secret.'),
  PRESSROOM_OIDC_CLIENT_AUTH: choice(['auto', 'basic', 'post'], 'auto').describe(
    'How the client secret is sent: `basic` (`client_secret_basic`), `post` (`client_secret_post`), or `auto`: a method that the provider supports.',
  ),
  PRESSROOM_OIDC_NAME: textVariable('Sign in with SSO').describe(
    'The label of the button on the sign-in page.',
  ),
  PRESSROOM_OIDC_DOMAINS: parsed(
    listVariable('', 'domains such as `example.com`'),
    domains,
  ).describe('The email domains that may sign in through SSO. Subdomains do not match.'),
  PRESSROOM_OIDC_TRUST_EMAIL: onOff('off').describe(
    'Accepts email addresses without the claim `email_verified` at the first sign-in. Only for a provider whose users cannot choose their address.',
  ),
  PRESSROOM_OIDC_ACCOUNT: textVariable(undefined, 'the name or the id of an account').describe(
    'The account that users join at their first sign-in. Without it they need an invitation.',
  ),
  PRESSROOM_OIDC_ROLE: choice(FIRST_ROLES, 'developer').describe(
    'The role of new SSO users in that account.',
  ),
  PRESSROOM_PASSWORDS: onOff('on').describe(
    'Whether users may sign in with a password. When `off`, all users except administrators must use SSO; administrators keep their passwords to be able to fix SSO.',
  ),
});

export interface SsoConfig {
  issuer: URL;
  clientId: string;
  clientSecret: string;
  clientAuth: 'auto' | 'basic' | 'post';
  /** The label of the button. */
  name: string;
  /** Lower case, ASCII. */
  domains: string[];
  trustEmail: boolean;
  /** The account that users join at their first sign-in. */
  account: string | undefined;
  role: (typeof FIRST_ROLES)[number];
}

/** Whether the domain of the address is one of the SSO domains. Subdomains do not match. */
export const isSsoEmail = (email: string, { domains }: Pick<SsoConfig, 'domains'>): boolean =>
  domains.includes(email.slice(email.lastIndexOf('@') + 1).toLowerCase());

/** Undefined when SSO is off. Throws ConfigError naming what is missing. */
export function readSsoConfig(e: z.output<typeof ssoVariables>): SsoConfig | undefined {
  const needed = {
    PRESSROOM_OIDC_ISSUER: e.PRESSROOM_OIDC_ISSUER,
    PRESSROOM_OIDC_CLIENT_ID: e.PRESSROOM_OIDC_CLIENT_ID,
    PRESSROOM_OIDC_CLIENT_SECRET: e.PRESSROOM_OIDC_CLIENT_SECRET,
    PRESSROOM_OIDC_DOMAINS:
      e.PRESSROOM_OIDC_DOMAINS.length > 0 ? e.PRESSROOM_OIDC_DOMAINS : undefined,
  };
  const {
    PRESSROOM_OIDC_ISSUER: issuer,
    PRESSROOM_OIDC_CLIENT_ID: clientId,
    PRESSROOM_OIDC_CLIENT_SECRET: clientSecret,
  } = needed;
  const missing = Object.entries(needed).flatMap(([name, value]) =>
    value === undefined ? [name] : [],
  );
  if (issuer && clientId && clientSecret && missing.length === 0)
    return {
      issuer,
      clientId,
      clientSecret,
      clientAuth: e.PRESSROOM_OIDC_CLIENT_AUTH,
      name: e.PRESSROOM_OIDC_NAME,
      domains: e.PRESSROOM_OIDC_DOMAINS,
      trustEmail: e.PRESSROOM_OIDC_TRUST_EMAIL,
      account: e.PRESSROOM_OIDC_ACCOUNT,
      role: e.PRESSROOM_OIDC_ROLE,
    };
  if (missing.length < Object.keys(needed).length || e.PRESSROOM_OIDC_ACCOUNT !== undefined)
    throw new ConfigError(`SSO is only partly configured: also set ${missing.join(', ')}`);
  if (!e.PRESSROOM_PASSWORDS)
    throw new ConfigError('PRESSROOM_PASSWORDS=off requires SSO: set PRESSROOM_OIDC_ISSUER');
  return undefined;
}
