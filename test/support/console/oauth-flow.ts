// The OAuth authorization code flow of an app over HTTP: registration, consent of a signed-in user
// and token request. Each step can also be called separately.
import { createHash, randomBytes } from 'node:crypto';
import { type Answer, httpCall } from '../http-call.ts';
import type { ConsoleFixture, TestUser } from './console-fixture.ts';

/** The part of an installation that the flow needs. */
export interface ApiFixture {
  api: { port(): number };
}

export const PUBLIC_URL = 'http://localhost:8080';
export const RESOURCE = `${PUBLIC_URL}/mcp`;
export const CALLBACK = 'http://127.0.0.1:33418/callback';

export interface Tokens {
  access_token: string;
  refresh_token: string;
  expires_in: number;
  scope: string;
  token_type: string;
}

export interface Client {
  id: string;
  redirectUri: string;
}

export interface AuthorizedApp extends Tokens {
  client: Client;
}

const FORM = { 'content-type': 'application/x-www-form-urlencoded' };

export const jsonOf = <T = Record<string, string>>({ body }: Pick<Answer, 'body'>): T =>
  JSON.parse(body.toString()) as T;
export const tokensOf = (answer: Answer) => jsonOf<Tokens>(answer);
/** The error code of RFC 6749. */
export const oauthErrorOf = (answer: Answer) => jsonOf<{ error: string }>(answer).error;

/** The access that the token grants now, as the tool sees it; undefined when it is invalid. */
export const accessOf = (
  { api }: Pick<ConsoleFixture, 'api'>,
  token: string,
  resource = RESOURCE,
) => api.accessTokens!.verify(token, resource);

export const registerClient = (
  fixture: ApiFixture,
  metadata: unknown,
  headers: Record<string, string> = {},
): Promise<Answer> =>
  httpCall(
    fixture.api.port(),
    'POST',
    '/oauth/register',
    { 'content-type': 'application/json', ...headers },
    JSON.stringify(metadata),
  );

/** Registers an app like most native apps. `metadata` overrides the defaults. */
export async function newClient(
  fixture: ApiFixture,
  metadata: Record<string, unknown> = {},
): Promise<Client> {
  const answer = await registerClient(fixture, {
    client_name: 'An App',
    redirect_uris: [CALLBACK],
    grant_types: ['authorization_code', 'refresh_token'],
    response_types: ['code'],
    token_endpoint_auth_method: 'none',
    ...metadata,
  });
  if (answer.status !== 201) throw new Error(`registration: ${answer.status} ${answer.body}`);
  const { client_id, redirect_uris } = jsonOf<{ client_id: string; redirect_uris: string[] }>(
    answer,
  );
  return { id: client_id, redirectUri: redirect_uris[0]! };
}

export interface Pkce {
  verifier: string;
  challenge: string;
}

export function pkce(): Pkce {
  const verifier = randomBytes(32).toString('base64url');
  return { verifier, challenge: createHash('sha256').update(verifier).digest('base64url') };
}

/** A minimal browser: a cookie jar with paths, no automatic redirects. `cookie` is the session. */
export interface Browser {
  cookie: string;
  get(path: string): Promise<Answer>;
  post(path: string, fields: Record<string, string>): Promise<Answer>;
}

export function browser(fixture: ApiFixture, cookie = ''): Browser {
  const jar = new Map<string, { value: string; path: string }>();
  const self: Browser = {
    cookie,
    get: path => visit('GET', path),
    post: (path, fields) => visit('POST', path, new URLSearchParams(fields).toString()),
  };
  async function visit(method: string, given: string, body?: string): Promise<Answer> {
    // Links use the public URL, but the server listens on another port.
    const url = new URL(given, PUBLIC_URL);
    const cookies = [...jar]
      .filter(([, { path }]) => url.pathname.startsWith(path))
      .map(([key, { value }]) => `${key.split(' ')[0]}=${value}`);
    const headers = {
      'sec-fetch-site': method === 'GET' ? 'cross-site' : 'same-origin',
      accept: 'text/html,application/xhtml+xml',
      cookie: [self.cookie, ...cookies].filter(Boolean).join('; '),
      ...(body !== undefined && FORM),
    };
    const answer = await httpCall(
      fixture.api.port(),
      method,
      url.pathname + url.search,
      headers,
      body,
    );
    for (const line of (answer.headers['set-cookie'] as unknown as string[] | undefined) ?? []) {
      const [, name, value] = /^([^=]+)=([^;]*)/.exec(line)!;
      const path = /;\s*path=([^;]*)/i.exec(line)?.[1] ?? '/';
      if (value === '' || /Max-Age=0(;|$)/.test(line)) jar.delete(`${name} ${path}`);
      else jar.set(`${name} ${path}`, { value: value!, path });
    }
    return answer;
  }
  return self;
}

export const authorizePath = (
  client: Client,
  challenge: string,
  more: Record<string, string | undefined> = {},
): string => {
  const query = {
    response_type: 'code',
    client_id: client.id,
    redirect_uri: client.redirectUri,
    scope: 'render',
    state: 'a state',
    code_challenge: challenge,
    code_challenge_method: 'S256',
    resource: RESOURCE,
    ...more,
  };
  const given = Object.entries(query).filter(
    (entry): entry is [string, string] => entry[1] !== undefined,
  );
  return `/oauth/authorize?${new URLSearchParams(given)}`;
};

export const locationOf = ({ status, headers, body }: Answer): URL => {
  if (!headers['location'])
    throw new Error(
      `no redirect: ${status} ${body.toString().replace(/<style>[\s\S]*<\/style>/, '')}`,
    );
  return new URL(headers['location'], PUBLIC_URL);
};

/** The value of a hidden field, or of the default option of a select. */
export const fieldOf = (page: string, name: string): string | undefined =>
  new RegExp(`name="${name}" value="([^"]*)"`).exec(page)?.[1] ??
  /<option value="([^"]*)"/.exec(page)?.[1];

/** Starts the authorization and returns the path of the consent page. */
export async function openConsent(
  tab: Browser,
  client: Client,
  challenge: string,
  more?: Record<string, string | undefined>,
): Promise<string> {
  const { pathname } = locationOf(await tab.get(authorizePath(client, challenge, more)));
  if (!pathname.startsWith('/app/allow/')) throw new Error(`no consent page, but ${pathname}`);
  return pathname;
}

/** Submits the consent page and returns the redirect URL of the app without requesting it. */
export async function answerConsent(
  tab: Browser,
  page: string,
  fields: { account?: string | undefined; answer?: string } = {},
): Promise<URL> {
  const shown = (await tab.get(page)).body.toString();
  const sent = {
    user: fieldOf(shown, 'user') ?? '',
    account: fields.account ?? fieldOf(shown, 'account') ?? '',
    answer: fields.answer ?? 'allow',
  };
  return locationOf(await tab.get(locationOf(await tab.post(page, sent)).href));
}

export const tokenCall = (
  fixture: ApiFixture,
  fields: Record<string, string>,
  headers: Record<string, string> = {},
): Promise<Answer> =>
  httpCall(
    fixture.api.port(),
    'POST',
    '/oauth/token',
    { ...FORM, ...headers },
    new URLSearchParams(fields).toString(),
  );

export const redeem = (
  fixture: ApiFixture,
  client: Client,
  code: string,
  verifier: string,
  more: Record<string, string> = {},
) =>
  tokenCall(fixture, {
    grant_type: 'authorization_code',
    client_id: client.id,
    code,
    redirect_uri: client.redirectUri,
    code_verifier: verifier,
    resource: RESOURCE,
    ...more,
  });

export const refresh = (
  fixture: ApiFixture,
  client: Client,
  token: string,
  more: Record<string, string> = {},
) =>
  tokenCall(fixture, {
    grant_type: 'refresh_token',
    client_id: client.id,
    refresh_token: token,
    ...more,
  });

export const revoke = (fixture: ApiFixture, client: Client, token: string) =>
  httpCall(
    fixture.api.port(),
    'POST',
    '/oauth/revoke',
    FORM,
    new URLSearchParams({ client_id: client.id, token }).toString(),
  );

/**
 * Obtains an authorization code and everything needed to redeem it. `asking` overrides parameters
 * of the authorization request.
 */
export async function codeOf(
  fixture: ApiFixture,
  person: Pick<TestUser, 'cookie'>,
  {
    account,
    client,
    asking,
  }: { account?: string; client?: Client; asking?: Record<string, string | undefined> } = {},
) {
  const app = client ?? (await newClient(fixture));
  const { verifier, challenge } = pkce();
  const tab = browser(fixture, person.cookie);
  const back = await answerConsent(tab, await openConsent(tab, app, challenge, asking), {
    account,
  });
  const code = back.searchParams.get('code');
  if (!code) throw new Error(`no code: ${back.href}`);
  return { client: app, code, verifier, back };
}

/** Obtains tokens for an app, by default a new one and the first account of the user. */
export async function authorizeApp(
  fixture: ApiFixture,
  person: Pick<TestUser, 'cookie'>,
  options: { account?: string; client?: Client } = {},
): Promise<AuthorizedApp> {
  const { client, code, verifier } = await codeOf(fixture, person, options);
  const answer = await redeem(fixture, client, code, verifier);
  if (answer.status !== 200) throw new Error(`token: ${answer.status} ${answer.body}`);
  return { ...tokensOf(answer), client };
}
