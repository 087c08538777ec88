// What can go wrong between us and the company's provider, from the library's errors to a SsoError.
import {
  AuthorizationResponseError,
  ClientError,
  ResponseBodyError,
  WWWAuthenticateChallengeError,
} from 'openid-client';
import { beginAgain, SsoError } from './sso-error.ts';

const away = (details: Record<string, string>) =>
  new SsoError(
    503,
    'The company’s sign-in does not answer at the moment. Try again in a minute.',
    details,
  );

const disagree = (details: Record<string, string>) =>
  new SsoError(
    502,
    'The company’s sign-in and this installation do not understand each other. Tell who runs this installation: the log says how to fix it.',
    details,
  );

const MAX_TEXT = 300;
/** Codes, tokens and what else is random; an address still stands between its slashes. */
const LIKE_A_TOKEN = /[\w.~+=%-]{24,}/g;
/**
 * What a provider says in its own words, without what would break a line, and without secrets,
 * which some providers repeat.
 */
function quoted(text: unknown, secrets: readonly string[]): string {
  const plain = String(text ?? '').replace(/\p{C}/gu, ' ');
  const without = secrets.reduce(
    (text, secret) => (secret === '' ? text : text.replaceAll(secret, '…')),
    plain,
  );
  return without.replace(LIKE_A_TOKEN, '…').slice(0, MAX_TEXT);
}

const FIX_TOKEN: Record<string, string> = {
  invalid_client:
    'PRESSROOM_OIDC_CLIENT_ID, _CLIENT_SECRET or _CLIENT_AUTH is not what the provider has registered',
  unauthorized_client: 'allow the authorization code flow for this client at the provider',
  invalid_grant:
    'the code was used before or is too old; when it happens every time, the registered callback differs from PRESSROOM_PUBLIC_URL/app/sign-in/company/callback',
};

const FIX_CLAIM: Record<string, string> = {
  iss: 'PRESSROOM_OIDC_ISSUER must be the issuer exactly as the provider writes it',
  aud: 'PRESSROOM_OIDC_CLIENT_ID must be the client that the provider signs for',
  nonce:
    'the provider answered another request than ours; when it happens every time, it does not return the nonce',
};

function codedProblem(code: string, cause: unknown): SsoError {
  const details = ((cause as Error | undefined)?.cause ?? cause) as
    | { claim?: string; status?: number }
    | undefined;
  const claim = details?.claim;
  switch (code) {
    case 'OAUTH_JWT_TIMESTAMP_CHECK_FAILED':
      return disagree({
        problem: 'the id token is not valid at this time',
        fix: 'the clocks of the provider and of this machine differ',
      });
    case 'OAUTH_JWT_CLAIM_COMPARISON_FAILED':
      return disagree({
        problem: 'a claim of the id token is not as expected',
        ...(claim && {
          claim,
          fix: FIX_CLAIM[claim] ?? 'look at the provider’s settings of this client',
        }),
      });
    case 'OAUTH_JSON_ATTRIBUTE_COMPARISON_FAILED':
      return disagree({
        problem: 'the provider is another issuer than the configured one',
        fix: FIX_CLAIM['iss']!,
      });
    case 'OAUTH_KEY_SELECTION_FAILED':
      return disagree({
        problem: 'no key of the provider fits the id token’s signature',
        fix: 'the provider must publish its signing keys',
      });
    case 'OAUTH_RESPONSE_IS_NOT_CONFORM':
      return (details?.status ?? 0) >= 500
        ? away({ problem: 'the provider failed', status: String(details?.status) })
        : disagree({
            problem: 'the provider answered with an unexpected status',
            ...(details?.status && { status: String(details.status) }),
            fix: 'PRESSROOM_OIDC_ISSUER must be the issuer exactly as the provider writes it',
          });
    default:
      return disagree({ problem: 'the provider’s answer is not good OpenID Connect', code });
  }
}

/** The library wraps what `fetch` throws while an answer is read. */
function causes(error: unknown): unknown[] {
  const all: unknown[] = [];
  for (let each = error; each instanceof Error && all.length < 10; each = each.cause)
    all.push(each);
  return all;
}

/**
 * Any error of the library or of `fetch`. `secrets`: what must not be shown even when the provider
 * repeats it.
 */
export function toSsoError(error: unknown, secrets: readonly string[]): SsoError {
  const chain = causes(error);
  const ours = chain.find(each => each instanceof SsoError);
  if (ours) return ours;
  if (chain.some(each => (each as Error).name === 'TimeoutError'))
    return away({ problem: 'the provider did not answer in time' });
  if (error instanceof AuthorizationResponseError) {
    const details = {
      error: quoted(error.error, secrets),
      description: quoted(error.error_description, secrets),
    };
    if (error.error === 'access_denied')
      return new SsoError(
        403,
        'The company’s sign-in did not let you in, or you stopped it there.',
        {
          problem: 'the provider did not let somebody in',
          ...details,
        },
      );
    if (error.error === 'temporarily_unavailable' || error.error === 'server_error')
      return away({ problem: 'the provider failed', ...details });
    return disagree({ problem: 'the provider refused our request', ...details });
  }
  if (error instanceof ResponseBodyError) {
    const details = {
      error: quoted(error.error, secrets),
      description: quoted(error.error_description, secrets),
    };
    const fix = FIX_TOKEN[error.error] ?? 'look at the provider’s settings of this client';
    // The person can only begin again, and mostly that is all there is to it.
    if (error.error === 'invalid_grant')
      return new SsoError(400, beginAgain().message, {
        problem: 'the provider did not take the code',
        ...details,
        fix,
      });
    return error.status >= 500
      ? away({ problem: 'the provider failed', ...details })
      : disagree({ problem: 'the provider refused our call', ...details, fix });
  }
  if (error instanceof WWWAuthenticateChallengeError)
    return disagree({
      problem: 'the provider refused our call',
      status: String(error.status),
      fix: FIX_TOKEN['invalid_client']!,
    });
  if (error instanceof ClientError && error.code) return codedProblem(error.code, error.cause);
  if (error instanceof TypeError && error.message === 'fetch failed') {
    const code = (error.cause as { code?: string } | undefined)?.code;
    return away({
      problem: 'the provider cannot be reached',
      ...(code && { code }),
      fix: 'look whether this machine reaches PRESSROOM_OIDC_ISSUER; a private certificate authority goes into NODE_EXTRA_CA_CERTS',
    });
  }
  return disagree({ problem: quoted((error as Error | undefined)?.message, secrets) });
}
