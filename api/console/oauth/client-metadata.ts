// What an app says of itself, by registering or in a document of its own: bounded, and cut down to what this server knows. Pure.
import { z } from 'zod';
import { redirectProblem } from './redirects.ts';

const MAX_REDIRECTS = 20;
const MAX_URI = 1_000;
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
  redirect_uris: z.array(z.string().max(MAX_URI)).min(1).max(MAX_REDIRECTS),
  client_name: z.string().optional(),
  token_endpoint_auth_method: z.enum(CLIENT_AUTH_METHODS).default('client_secret_basic'),
});

/** No control characters, which could forge a line, and none that turn the direction of what follows. */
const plainName = (name: string) =>
  name
    .replace(/[\p{C}\p{Zl}\p{Zp}]/gu, ' ')
    .replace(/\s+/g, ' ')
    .trim()
    .slice(0, MAX_NAME);

/**
 * What is kept of it: everything else (logos, scopes, kinds of grants that are not known here) is left out, as RFC 7591 section 2 lets a server do. Throws
 * ClientRefused.
 */
export function clientMetadata(given: unknown, from: 'registration' | 'document'): Record<string, unknown> {
  const parsed = described.safeParse(given);
  if (!parsed.success) {
    const field = parsed.error.issues[0]!.path[0];
    if (field === undefined) throw new ClientRefused('invalid_client_metadata', 'The metadata must be a JSON object.');
    if (field === 'redirect_uris')
      throw new ClientRefused(
        'invalid_redirect_uri',
        `redirect_uris must be a list of 1 to ${MAX_REDIRECTS} URIs of at most ${MAX_URI} characters.`,
      );
    throw new ClientRefused(
      'invalid_client_metadata',
      field === 'token_endpoint_auth_method'
        ? `token_endpoint_auth_method must be one of ${CLIENT_AUTH_METHODS.join(', ')}.`
        : `${String(field)} must be a text.`,
    );
  }
  const { client_id, redirect_uris, client_name = '', token_endpoint_auth_method: auth } = parsed.data;
  const document = from === 'document';
  // A document is public: there is nothing secret that such a client could show.
  const said = (given as Record<string, unknown>)['token_endpoint_auth_method'];
  if (document && said !== undefined && said !== 'none')
    throw new ClientRefused('invalid_client_metadata', 'token_endpoint_auth_method must be none in a document.');
  redirect_uris.forEach((uri, index) => {
    const problem = redirectProblem(uri);
    if (problem) throw new ClientRefused('invalid_redirect_uri', `redirect_uris[${index}] ${problem}.`);
  });
  const name = plainName(client_name);
  return {
    ...(document && { client_id }),
    ...(name !== '' && { client_name: name }),
    redirect_uris,
    token_endpoint_auth_method: document ? 'none' : auth,
    // Programs listen on whichever port is free, and have schemes of their own.
    application_type: 'native',
    grant_types: ['authorization_code', 'refresh_token'],
    response_types: ['code'],
  };
}
