// An installation with SSO and clients that act like browsers without scripts, each with a cookie
// jar.
import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import type { Answer } from '../http-call.ts';
import {
  type ProviderLogin,
  type TestProvider,
  testProvider,
} from '../servers/identity-provider.ts';
import { type ConsoleFixture, consoleFixture } from './console-fixture.ts';

const PUBLIC_URL = 'http://localhost:8080';
const CALLBACK = `${PUBLIC_URL}/app/sign-in/company/callback`;

export interface SsoClient {
  cookies: Map<string, string>;
  get(path: string, headers?: Record<string, string>): Promise<Answer>;
  post(
    path: string,
    fields: Record<string, string>,
    headers?: Record<string, string>,
  ): Promise<Answer>;
  /** The signed-in user, or undefined. */
  me(): Promise<
    | {
        id: string;
        email: string;
        name: string;
        company: boolean;
        accounts: { id: string; role: string }[];
      }
    | undefined
  >;
}

export interface SsoFixture extends ConsoleFixture {
  provider: TestProvider;
  /** Starts another API process of this installation with other settings. */
  variant(env: Record<string, string>): Promise<ConsoleFixture>;
  client(fixture?: ConsoleFixture): SsoClient;
  /** Starts the sign-in and returns the authorization URL of the provider. */
  startSignIn(client: SsoClient, next?: string): Promise<string>;
  /** Signs in completely and returns the response to the callback. */
  signIn(client: SsoClient, login: ProviderLogin, next?: string): Promise<Answer>;
}

/** A new login at the provider. */
export function newLogin(claims: Record<string, unknown> = {}): ProviderLogin & { email: string } {
  const email = `${randomUUID()}@example.com`;
  return {
    subject: randomUUID(),
    email,
    claims: { email, email_verified: true, name: 'Ada Lovelace', ...claims },
  };
}

/** The path and query of a URL. */
export const pathOf = (url: URL | string): string => {
  const { pathname, search } = new URL(url, PUBLIC_URL);
  return pathname + search;
};

/** The visible text of a page. */
export const visibleText = ({ body }: Answer): string =>
  body
    .toString()
    .replace(/<(style|script|title)[\s\S]*?<\/\1>/g, '')
    .replace(/<[^>]*>/g, ' ')
    .replace(/&#39;/g, "'")
    .replace(/\s+/g, ' ');

function ssoClient(fixture: ConsoleFixture): SsoClient {
  const cookies = new Map<string, string>();
  async function call(
    method: string,
    path: string,
    headers: Record<string, string>,
    body?: string,
  ): Promise<Answer> {
    const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ');
    const answer = await fixture.call(
      method,
      path,
      { ...(cookie && { cookie }), ...headers },
      body,
    );
    for (const set of (answer.headers['set-cookie'] ?? []) as unknown as string[]) {
      const [, name, value] = /^([^=]+)=([^;]*)/.exec(set)!;
      if (value === '') cookies.delete(name!);
      else cookies.set(name!, value!);
    }
    return answer;
  }
  return {
    cookies,
    // By default like a request after a redirect from the provider.
    get: (path, headers = { 'sec-fetch-site': 'cross-site' }) => call('GET', path, headers),
    post: (path, fields, headers = {}) =>
      call(
        'POST',
        path,
        {
          'content-type': 'application/x-www-form-urlencoded',
          'sec-fetch-site': 'same-origin',
          ...headers,
        },
        new URLSearchParams(fields).toString(),
      ),
    me: async () => {
      const answer = await call('GET', '/console/v1/me', { 'sec-fetch-site': 'same-origin' });
      if (answer.status !== 200) return undefined;
      const { user, accounts } = JSON.parse(answer.body.toString());
      return { ...user, accounts };
    },
  };
}

export async function ssoFixture({
  env = {},
  log,
  ...options
}: Partial<Parameters<typeof testProvider>[0]> & { env?: Record<string, string> } & Pick<
    NonNullable<Parameters<typeof consoleFixture>[0]>,
    'log'
  > = {}): Promise<SsoFixture> {
  const provider = await testProvider({ callback: CALLBACK, ...options });
  const fixture = await consoleFixture({
    workers: 0,
    env: { ...provider.env, ...env },
    ...(log && { log }),
  });
  // Without a user, the dashboard shows the setup page.
  await fixture.createUser({ operator: true });
  const variants: ConsoleFixture[] = [];

  async function startSignIn(client: SsoClient, next?: string): Promise<string> {
    const { status, headers } = await client.get(
      `/app/sign-in/company${next ? `?next=${encodeURIComponent(next)}` : ''}`,
    );
    expect(status).to.equal(303);
    return headers['location']!;
  }

  return {
    ...fixture,
    provider,
    variant: async env => {
      const made = await consoleFixture({
        workers: 0,
        uri: fixture.uri,
        env: { ...provider.env, ...env },
        ...(log && { log }),
      });
      variants.push(made);
      return made;
    },
    client: (of = fixture) => ssoClient(of),
    startSignIn,
    signIn: async (client, login, next) =>
      client.get(pathOf(await provider.signIn(await startSignIn(client, next), login))),
    stop: async () => {
      const clean = await Promise.all([fixture, ...variants].map(each => each.stop()));
      await provider.stop();
      return clean.every(Boolean);
    },
  };
}
