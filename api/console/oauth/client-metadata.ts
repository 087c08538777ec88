// What an app says of itself, by registering or in a document of its own: bounded, and cut down to
// what this server knows. Pure.
import { z } from 'zod';
import { redirectProblem } from './redirects.ts';

const MAX_REDIRECTS = 20;
const MAX_URI = 1_000;
/** Of all of them: whatever a stranger registers is kept for a month. */
const MAX_URIS = 4_000;
const MAX_NAME = 100;

/** `error` is a code of RFC 7591 section 3.2.2. */
export class ClientRefused extends Error {
  override name = 'ClientRefused';
  readonly error: 'invalid_redirect_uri' | 'invalid_client_metadata';

  constructor(error: ClientRefused['error'], message: string) {
    super(message);
    this.error = error;
  }
}

export const CLIENT_AUTH_METHODS = ['none', 'client_secret_basic', 'client_secret_post'] as const;

const described = z.object({
  client_id: z.string().optional(),
  redirect_uris: z
    .array(z.string().max(MAX_URI))
    .min(1)
    .max(MAX_REDIRECTS)
    .refine(uris => uris.join('').length <= MAX_URIS),
  client_name: z.string().optional(),
  token_endpoint_auth_method: z.string().optional(),
});

/**
 * No control characters, which could forge a line, none that turn the direction of what follows,
 * and no letters that nobody sees. No double quotes: the page of consent puts the name between
 * such, and one that ended them would go on in the page's own words.
 */
const plainName = (name: string) =>
  name
    .replace(/[\p{C}\p{Zl}\p{Zp}]/gu, ' ')
    .replace(/\p{DI}/gu, '')
    .replace(/["“”„‟«»〝〞〟＂]/g, "'")
    .replace(/\s+/g, ' ')
    .trim()
    .slice(0, MAX_NAME);

const NONE = CLIENT_AUTH_METHODS[0];

/**
 * How the app shows who it is. Without a word of it a registered app has a secret (RFC 7591 section
 * 2); a document is public, and there is nothing secret that its app could show. Those of some apps
 * prefer a key of their own and name all that they can do in a list: they go without where the
 * server does not ask for it.
 */
function authMethod(said: string | undefined, given: unknown, document: boolean): string {
  if (!document) {
    const method = said ?? 'client_secret_basic';
    if ((CLIENT_AUTH_METHODS as readonly string[]).includes(method)) return method;
    throw new ClientRefused(
      'invalid_client_metadata',
      `token_endpoint_auth_method must be one of ${CLIENT_AUTH_METHODS.join(', ')}.`,
    );
  }
  const able = (given as Record<string, unknown>)['token_endpoint_auth_methods_supported'];
  if (said === undefined || said === NONE || (Array.isArray(able) && able.includes(NONE)))
    return NONE;
  const message =
    'token_endpoint_auth_method must be none in a document, or none be among its token_endpoint_auth_methods_supported.';
  throw new ClientRefused('invalid_client_metadata', message);
}

/**
 * What is kept of it: everything else (logos, scopes, kinds of grants that are not known here) is
 * left out, as RFC 7591 section 2 lets a server do. Throws ClientRefused.
 */
export function clientMetadata(
  given: unknown,
  from: 'registration' | 'document',
): Record<string, unknown> {
  const parsed = described.safeParse(given);
  if (!parsed.success) {
    const field = parsed.error.issues[0]!.path[0];
    if (field === undefined)
      throw new ClientRefused('invalid_client_metadata', 'The metadata must be a JSON object.');
    if (field === 'redirect_uris')
      throw new ClientRefused(
        'invalid_redirect_uri',
        `redirect_uris must be a list of 1 to ${MAX_REDIRECTS} URIs of at most ${MAX_URI} characters, together at most ${MAX_URIS}.`,
      );
    throw new ClientRefused('invalid_client_metadata', `${String(field)} must be a text.`);
  }
  const {
    client_id,
    redirect_uris,
    client_name = '',
    token_endpoint_auth_method: said,
  } = parsed.data;
  const document = from === 'document';
  const auth = authMethod(said, given, document);
  redirect_uris.forEach((uri, index) => {
    const problem = redirectProblem(uri);
    if (problem)
      throw new ClientRefused('invalid_redirect_uri', `redirect_uris[${index}] ${problem}.`);
  });
  const name = plainName(client_name);
  return {
    ...(document && { client_id }),
    ...(name !== '' && { client_name: name }),
    redirect_uris,
    token_endpoint_auth_method: auth,
    // Programs listen on whichever port is free, and have schemes of their own.
    application_type: 'native',
    grant_types: ['authorization_code', 'refresh_token'],
    response_types: ['code'],
  };
}
