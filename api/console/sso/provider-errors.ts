// Converts errors of the OpenID Connect library into an SsoError.
import {
  AuthorizationResponseError,
  ClientError,
  ResponseBodyError,
  WWWAuthenticateChallengeError,
} from 'openid-client';
import { beginAgain, SsoError } from './sso-error.ts';

const unavailable = (details: Record<string, string>) =>
  new SsoError(503, 'Your identity provider is not responding. Try again in a minute.', details);

const misconfigured = (details: Record<string, string>) =>
  new SsoError(
    502,
    'SSO is misconfigured. Contact your administrator: the log names the problem.',
    details,
  );

const MAX_TEXT = 300;
/** Codes, tokens and other random text. URLs stay readable, since `/` ends a match. */
const LIKE_A_TOKEN = /[\w.~+=%-]{24,}/g;
/** The provider's own text without control characters and secrets, which some providers repeat. */
function quoted(text: unknown, secrets: readonly string[]): string {
  const plain = String(text ?? '').replace(/\p{C}/gu, ' ');
  const without = secrets.reduce(
    (text, secret) => (secret === '' ? text : text.replaceAll(secret, '…')),
    plain,
  );
  return without.replace(LIKE_A_TOKEN, '…').slice(0, MAX_TEXT);
}

const CHECK_CLIENT = 'check the settings of this client at the provider';

const FIX_TOKEN: Record<string, string> = {
  invalid_client:
    'PRESSROOM_OIDC_CLIENT_ID, _CLIENT_SECRET or _CLIENT_AUTH does not match the client registered at the provider',
  unauthorized_client: 'allow the authorization code flow for this client at the provider',
  invalid_grant:
    'the code was used or has expired; if every sign-in fails, register the callback PRESSROOM_PUBLIC_URL/app/sign-in/company/callback at the provider',
};

const FIX_CLAIM: Record<string, string> = {
  iss: 'set PRESSROOM_OIDC_ISSUER to the issuer exactly as the provider publishes it',
  aud: 'set PRESSROOM_OIDC_CLIENT_ID to the client that the provider issues the ID token for',
  nonce:
    'the response belongs to another request; if every sign-in fails, the provider does not return the nonce',
};

function codedProblem(code: string, cause: unknown): SsoError {
  const details = ((cause as Error | undefined)?.cause ?? cause) as
    | { claim?: string; status?: number }
    | undefined;
  const claim = details?.claim;
  switch (code) {
    case 'OAUTH_JWT_TIMESTAMP_CHECK_FAILED':
      return misconfigured({
        problem: 'the ID token is expired or not yet valid',
        fix: 'synchronize the clocks of the provider and of this machine',
      });
    case 'OAUTH_JWT_CLAIM_COMPARISON_FAILED':
      return misconfigured({
        problem: 'a claim of the ID token has an unexpected value',
        ...(claim && {
          claim,
          fix: FIX_CLAIM[claim] ?? CHECK_CLIENT,
        }),
      });
    case 'OAUTH_JSON_ATTRIBUTE_COMPARISON_FAILED':
      return misconfigured({
        problem: 'the issuer of the provider differs from PRESSROOM_OIDC_ISSUER',
        fix: FIX_CLAIM['iss']!,
      });
    case 'OAUTH_KEY_SELECTION_FAILED':
      return misconfigured({
        problem: 'no published key of the provider verifies the signature of the ID token',
        fix: 'publish the signing keys at the provider',
      });
    case 'OAUTH_RESPONSE_IS_NOT_CONFORM':
      return (details?.status ?? 0) >= 500
        ? unavailable({
            problem: 'the provider returned an error',
            status: String(details?.status),
          })
        : misconfigured({
            problem: 'the provider returned an unexpected status',
            ...(details?.status && { status: String(details.status) }),
            fix: FIX_CLAIM['iss']!,
          });
    default:
      return misconfigured({ problem: 'the response is not valid OpenID Connect', code });
  }
}

/** The library wraps what `fetch` throws while a response is read. */
function causes(error: unknown): unknown[] {
  const all: unknown[] = [];
  for (let each = error; each instanceof Error && all.length < 10; each = each.cause)
    all.push(each);
  return all;
}

/**
 * Converts an error of the library or of `fetch`. `secrets` are removed from the details, where the
 * provider may repeat them.
 */
export function toSsoError(error: unknown, secrets: readonly string[]): SsoError {
  const chain = causes(error);
  const known = chain.find(each => each instanceof SsoError);
  if (known) return known;
  if (chain.some(each => (each as Error).name === 'TimeoutError'))
    return unavailable({ problem: 'the provider did not respond in time' });
  if (error instanceof AuthorizationResponseError) {
    const details = {
      error: quoted(error.error, secrets),
      description: quoted(error.error_description, secrets),
    };
    if (error.error === 'access_denied')
      return new SsoError(
        403,
        'Your identity provider denied access, or the sign-in was canceled there.',
        {
          problem: 'the provider denied access to a user',
          ...details,
        },
      );
    if (error.error === 'temporarily_unavailable' || error.error === 'server_error')
      return unavailable({ problem: 'the provider returned an error', ...details });
    return misconfigured({
      problem: 'the provider rejected the authorization request',
      ...details,
    });
  }
  if (error instanceof ResponseBodyError) {
    const details = {
      error: quoted(error.error, secrets),
      description: quoted(error.error_description, secrets),
    };
    const fix = FIX_TOKEN[error.error] ?? CHECK_CLIENT;
    // Usually a code that expired: signing in again is enough.
    if (error.error === 'invalid_grant')
      return new SsoError(400, beginAgain().message, {
        problem: 'the provider rejected the authorization code',
        ...details,
        fix,
      });
    return error.status >= 500
      ? unavailable({ problem: 'the provider returned an error', ...details })
      : misconfigured({ problem: 'the provider rejected the token request', ...details, fix });
  }
  if (error instanceof WWWAuthenticateChallengeError)
    return misconfigured({
      problem: 'the provider rejected the client authentication',
      status: String(error.status),
      fix: FIX_TOKEN['invalid_client']!,
    });
  if (error instanceof ClientError && error.code) return codedProblem(error.code, error.cause);
  if (error instanceof TypeError && error.message === 'fetch failed') {
    const code = (error.cause as { code?: string } | undefined)?.code;
    return unavailable({
      problem: 'the provider is unreachable',
      ...(code && { code }),
      fix: 'check that this machine can reach PRESSROOM_OIDC_ISSUER; set NODE_EXTRA_CA_CERTS for a private certificate authority',
    });
  }
  return misconfigured({ problem: quoted((error as Error | undefined)?.message, secrets) });
}
