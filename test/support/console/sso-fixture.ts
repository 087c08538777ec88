// An installation with a company's sign-in, and visitors: browsers without scripts, each with a jar
// of cookies.
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
  /** Who is signed in here; undefined for nobody. */
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
  /** One more API process of this installation, configured otherwise. */
  variant(env: Record<string, string>): Promise<ConsoleFixture>;
  client(fixture?: ConsoleFixture): SsoClient;
  /** Leaves for the provider; the URL there. */
  startSignIn(visitor: SsoClient, next?: string): Promise<string>;
  /** The whole way; the answer to the callback. */
  signIn(visitor: SsoClient, login: ProviderLogin, next?: string): Promise<Answer>;
}

/** Somebody of the company whom nobody has seen before. */
export function newLogin(claims: Record<string, unknown> = {}): ProviderLogin & { email: string } {
  const email = `${randomUUID()}@example.com`;
  return {
    subject: randomUUID(),
    email,
    claims: { email, email_verified: true, name: 'Ada Lovelace', ...claims },
  };
}

/** The path and query, as it is asked of the API. */
export const pathOf = (url: URL | string): string => {
  const { pathname, search } = new URL(url, PUBLIC_URL);
  return pathname + search;
};

/** The text of a page as a person reads it. */
export const visibleText = ({ body }: Answer): string =>
  body
    .toString()
    .replace(/<(style|script|title)[\s\S]*?<\/\1>/g, '')
    .replace(/<[^>]*>/g, ' ')
    .replace(/&#39;/g, "'")
    .replace(/\s+/g, ' ');

function visitorOf(fixture: ConsoleFixture): SsoClient {
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
    // As after a redirect from the provider.
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
  // Without anybody there would be the setup first.
  await fixture.person({ operator: true });
  const variants: ConsoleFixture[] = [];

  async function startSignIn(visitor: SsoClient, next?: string): Promise<string> {
    const { status, headers } = await visitor.get(
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
    client: (of = fixture) => visitorOf(of),
    startSignIn,
    signIn: async (visitor, login, next) =>
      visitor.get(pathOf(await provider.signIn(await startSignIn(visitor, next), login))),
    stop: async () => {
      const clean = await Promise.all([fixture, ...variants].map(each => each.stop()));
      await provider.stop();
      return clean.every(Boolean);
    },
  };
}
