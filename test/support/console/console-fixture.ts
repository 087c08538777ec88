// An installation with a dashboard, and people who are signed in: each with a session of its own,
// straight from the database.
import { randomUUID } from 'node:crypto';
import type { Role } from '../../../api/store/store.ts';
import { type Answer, httpCall } from '../http-call.ts';
import { type Installation, installation } from '../installation.ts';
import { type SignedIn, signedIn } from './signed-in.ts';

export const CONSOLE_SECRET = 'a secret of the tests, long enough';

export interface Person extends SignedIn {
  /** A call as the page makes it; `body` is sent as JSON. `headers` win. */
  call(
    method: string,
    path: string,
    body?: unknown,
    headers?: Record<string, string>,
  ): Promise<Answer & { json: () => never }>;
  /** The JSON of a good answer; rejects with the answer otherwise. */
  good<T = Record<string, never>>(method: string, path: string, body?: unknown): Promise<T>;
}

export interface ConsoleFixture extends Installation {
  accountId: string;
  /**
   * A person with a session: a member of `account` (default: that of the fixture) in `role`, or of none.
   */
  person(options?: { role?: Role; account?: string; operator?: boolean }): Promise<Person>;
  /** One more account, its id. */
  account2(plan?: string): Promise<string>;
}

/** Node sends the body of a DELETE without saying that there is one. */
const lengthOf = (text: string) => ({ 'content-length': String(Buffer.byteLength(text)) });

export async function consoleFixture(
  options: Parameters<typeof installation>[0] = {},
): Promise<ConsoleFixture> {
  const pressroom = await installation({
    ...options,
    env: { PRESSROOM_SECRET: CONSOLE_SECRET, ...options.env },
  });
  const { store, accounts } = pressroom;
  const accountId = (await store.accounts.findOne({ name: pressroom.account }))!._id;

  async function person({
    role,
    account = accountId,
    operator = false,
  }: Parameters<ConsoleFixture['person']>[0] = {}): Promise<Person> {
    const { id, email, cookie } = await signedIn(store, { account, role, operator });
    const call: Person['call'] = async (method, path, body, headers = {}) => {
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
    person,
    account2: async (plan = 'scale') =>
      (await accounts.createAccount(`test ${randomUUID()}`, { plan })).id,
  };
}
