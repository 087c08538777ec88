// The environment variables of the company's sign-in (OpenID Connect), and what the dashboard reads
// of them.
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

/** Without the owner: nobody gets an account's last word by being the first to come. */
const FIRST_ROLES = ['admin', 'developer', 'billing', 'viewer'] as const;
const LOOPBACK = new Set(['localhost', '127.0.0.1', '[::1]']);

function issuer(value: string | undefined): URL | undefined {
  if (value === undefined) return undefined;
  const url = URL.canParse(value) ? new URL(value) : undefined;
  if (
    !url ||
    !(url.protocol === 'https:' || (url.protocol === 'http:' && LOOPBACK.has(url.hostname)))
  )
    throw new Error('must be an https URL (http on localhost alone)');
  if (url.username || url.password || url.search || url.hash)
    throw new Error('must be a URL without user, query and fragment');
  if (url.pathname.includes('/.well-known/'))
    throw new Error('must be the issuer itself, without `/.well-known/` and what follows it');
  return url;
}

function domains(entries: string[]): string[] {
  return entries.map(entry => {
    const domain = domainToASCII(entry);
    if (!/^([a-z0-9]([a-z0-9-]*[a-z0-9])?\.)+[a-z0-9-]*[a-z0-9]$/.test(domain))
      throw new Error(
        `\`${entry}\` must be what stands behind the @ of an address, such as example.com`,
      );
    return domain;
  });
}

export const ssoVariables = z.object({
  PRESSROOM_OIDC_ISSUER: parsed(textVariable(undefined, 'an https URL'), issuer).describe(
    'Turns on the sign-in of the company by OpenID Connect: the issuer, as the provider writes it in its discovery document. Register `PRESSROOM_PUBLIC_URL/app/sign-in/company/callback` there. A second factor is the provider’s business: who comes from it is not asked for the one of the dashboard.',
  ),
  PRESSROOM_OIDC_CLIENT_ID: textVariable(undefined, 'text').describe(
    'Who Pressroom is at the provider.',
  ),
  PRESSROOM_OIDC_CLIENT_SECRET: secret().describe('The secret that goes with it.'),
  PRESSROOM_OIDC_CLIENT_AUTH: choice(['auto', 'basic', 'post'], 'auto').describe(
    'How the secret is sent: `client_secret_basic`, `client_secret_post`, or what the provider says that it takes.',
  ),
  PRESSROOM_OIDC_NAME: textVariable('Company sign-in').describe(
    'What the button on the sign-in page says.',
  ),
  PRESSROOM_OIDC_DOMAINS: parsed(
    listVariable('', 'domains such as `example.com`'),
    domains,
  ).describe(
    'Whose addresses may sign in through the company: exactly these domains, subdomains apart.',
  ),
  PRESSROOM_OIDC_TRUST_EMAIL: onOff('off').describe(
    'For a provider which never says `email_verified` and whose people cannot choose their address themselves. Otherwise only verified addresses sign in for the first time.',
  ),
  PRESSROOM_OIDC_ACCOUNT: textVariable(undefined, 'the name or the id of an account').describe(
    'The account of which people become members when they come for the first time. Without it they wait for an invitation.',
  ),
  PRESSROOM_OIDC_ROLE: choice(FIRST_ROLES, 'developer').describe('Their role in it.'),
  PRESSROOM_PASSWORDS: onOff('on').describe(
    'Whether people may sign in with a password. When it is off, the company’s sign-in is the only way for all but the operators of this installation, who could not mend it otherwise.',
  ),
});

export interface SsoConfig {
  issuer: URL;
  clientId: string;
  clientSecret: string;
  clientAuth: 'auto' | 'basic' | 'post';
  /** The button's text. */
  name: string;
  /** Lower case, ASCII. */
  domains: string[];
  trustEmail: boolean;
  /** Where people who come for the first time become members. */
  account: string | undefined;
  role: (typeof FIRST_ROLES)[number];
}

/**
 * Whether the company's sign-in is for this address. Exact: no subdomains, and nothing that merely
 * ends like it.
 */
export const isSsoEmail = (email: string, { domains }: Pick<SsoConfig, 'domains'>): boolean =>
  domains.includes(email.slice(email.lastIndexOf('@') + 1).toLowerCase());

/** Undefined where the company's sign-in is off. Throws ConfigError that names what is missing. */
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
    throw new ConfigError(
      `The company's sign-in is configured in part: ${missing.join(', ')} must be set too`,
    );
  if (!e.PRESSROOM_PASSWORDS)
    throw new ConfigError(
      'PRESSROOM_PASSWORDS=off needs the company’s sign-in: set PRESSROOM_OIDC_ISSUER',
    );
  return undefined;
}
