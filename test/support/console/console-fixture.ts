// An installation with a dashboard and asynchronous renders, and users whose sessions are created
// directly in the database.
import { randomUUID } from 'node:crypto';
import type { Role } from '../../../api/store/store.ts';
import { type Answer, httpCall } from '../http-call.ts';
import { type Installation, installation } from '../installation.ts';
import { type SignedIn, signedIn } from './signed-in.ts';

export const CONSOLE_SECRET = 'a secret of the tests, long enough';

export interface TestUser extends SignedIn {
  /** Sends a request like the dashboard, with `body` as JSON. `headers` override the defaults. */
  call(
    method: string,
    path: string,
    body?: unknown,
    headers?: Record<string, string>,
  ): Promise<Answer & { json: () => never }>;
  /** Returns the JSON of a successful response. Rejects otherwise. */
  good<T = Record<string, never>>(method: string, path: string, body?: unknown): Promise<T>;
}

export interface ConsoleFixture extends Installation {
  accountId: string;
  /**
   * Creates a user with a session. With `role`, the user is a member of `account` (default: the
   * account of the fixture).
   */
  createUser(options?: { role?: Role; account?: string; operator?: boolean }): Promise<TestUser>;
  /** Creates another account and returns its id. */
  account2(plan?: string): Promise<string>;
}

/** Node sends no Content-Length with a DELETE by default. */
const lengthOf = (text: string) => ({ 'content-length': String(Buffer.byteLength(text)) });

export async function consoleFixture(
  options: Parameters<typeof installation>[0] = {},
): Promise<ConsoleFixture> {
  const pressroom = await installation({
    ...options,
    env: { PRESSROOM_SECRET: CONSOLE_SECRET, PRESSROOM_ASYNC: 'on', ...options.env },
  });
  const { store, accounts } = pressroom;
  const accountId = (await store.accounts.findOne({ name: pressroom.account }))!._id;

  async function createUser({
    role,
    account = accountId,
    operator = false,
  }: Parameters<ConsoleFixture['createUser']>[0] = {}): Promise<TestUser> {
    const { id, email, cookie } = await signedIn(store, { account, role, operator });
    const call: TestUser['call'] = async (method, path, body, headers = {}) => {
      const text = body === undefined ? undefined : JSON.stringify(body);
      const answer = await httpCall(
        pressroom.api.port(),
        method,
        path.startsWith('/console/') || path.startsWith('/app') ? path : `/console/v1${path}`,
        {
          cookie,
          'sec-fetch-site': 'same-origin',
          ...(text !== undefined && { 'content-type': 'application/json', ...lengthOf(text) }),
          ...headers,
        },
        text,
      );
      return { ...answer, json: () => JSON.parse(answer.body.toString()) as never };
    };
    return {
      id,
      email,
      cookie,
      call,
      good: async (method, path, body) => {
        const answer = await call(method, path, body);
        if (answer.status >= 300)
          throw new Error(`${method} ${path}: ${answer.status} ${answer.body}`);
        return (answer.status === 204 ? undefined : answer.json()) as never;
      },
    };
  }

  return {
    ...pressroom,
    accountId,
    createUser,
    account2: async (plan = 'scale') =>
      (await accounts.createAccount(`test ${randomUUID()}`, { plan })).id,
  };
}
