// Validates the metadata of an app from its registration or its document, and keeps the fields that
// this server supports. Pure.
import { z } from 'zod';
import { redirectProblem } from './redirects.ts';

const MAX_REDIRECTS = 20;
const MAX_URI = 1_000;
/** Of all URIs together, since registrations of anonymous clients are stored for a month. */
const MAX_URIS = 4_000;
const MAX_NAME = 100;

/** `error` is a code of RFC 7591 section 3.2.2. */
export class InvalidClient extends Error {
  override name = 'InvalidClient';
  readonly error: 'invalid_redirect_uri' | 'invalid_client_metadata';

  constructor(error: InvalidClient['error'], message: string) {
    super(message);
    this.error = error;
  }
}

export const CLIENT_AUTH_METHODS = ['none', 'client_secret_basic', 'client_secret_post'] as const;

const metadataSchema = z.object({
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
 * Removes control characters, bidirectional overrides and invisible letters. Replaces double
 * quotes: the consent page quotes the name, which could end the quotation to imitate the page.
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
 * How the app authenticates. The default of a registered app is a secret (RFC 7591 section 2). A
 * document is public, so its app has no secret: it must accept `none`, at least in its list of
 * supported methods.
 */
function authMethod(requested: string | undefined, given: unknown, document: boolean): string {
  if (!document) {
    const method = requested ?? 'client_secret_basic';
    if ((CLIENT_AUTH_METHODS as readonly string[]).includes(method)) return method;
    throw new InvalidClient(
      'invalid_client_metadata',
      `token_endpoint_auth_method must be one of ${CLIENT_AUTH_METHODS.join(', ')}.`,
    );
  }
  const supported = (given as Record<string, unknown>)['token_endpoint_auth_methods_supported'];
  if (
    requested === undefined ||
    requested === NONE ||
    (Array.isArray(supported) && supported.includes(NONE))
  )
    return NONE;
  const message =
    'In a metadata document, token_endpoint_auth_method must be none, or token_endpoint_auth_methods_supported must include none.';
  throw new InvalidClient('invalid_client_metadata', message);
}

/**
 * Returns the supported fields; drops logos, scopes and unknown grant types, as RFC 7591 section 2
 * allows. Throws InvalidClient.
 */
export function clientMetadata(
  given: unknown,
  from: 'registration' | 'document',
): Record<string, unknown> {
  const parsed = metadataSchema.safeParse(given);
  if (!parsed.success) {
    const field = parsed.error.issues[0]!.path[0];
    if (field === undefined)
      throw new InvalidClient('invalid_client_metadata', 'The metadata must be a JSON object.');
    if (field === 'redirect_uris')
      throw new InvalidClient(
        'invalid_redirect_uri',
        `redirect_uris must be an array of 1 to ${MAX_REDIRECTS} URIs, each at most ${MAX_URI} characters, together at most ${MAX_URIS}.`,
      );
    throw new InvalidClient('invalid_client_metadata', `${String(field)} must be a string.`);
  }
  const {
    client_id,
    redirect_uris,
    client_name = '',
    token_endpoint_auth_method: requested,
  } = parsed.data;
  const document = from === 'document';
  const auth = authMethod(requested, given, document);
  redirect_uris.forEach((uri, index) => {
    const problem = redirectProblem(uri);
    if (problem)
      throw new InvalidClient('invalid_redirect_uri', `redirect_uris[${index}] ${problem}.`);
  });
  const name = plainName(client_name);
  return {
    ...(document && { client_id }),
    ...(name !== '' && { client_name: name }),
    redirect_uris,
    token_endpoint_auth_method: auth,
    // Allows any loopback port and custom URI schemes.
    application_type: 'native',
    grant_types: ['authorization_code', 'refresh_token'],
    response_types: ['code'],
  };
}
