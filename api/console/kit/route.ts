// A route of the management API as a row of data: access, input, output, handler. The router, the
// OpenAPI document and the tests use the same rows.
import type { z } from 'zod';
import type { Context } from '../../http/state.ts';
import type { Role } from '../../store/store.ts';
import type { Permission } from '../contract/permissions.ts';

/** The user of the session. */
export interface SignedIn {
  /** The session's public id. */
  sessionId: string;
  user: { id: string; email: string; name: string; operator: boolean };
}

/** The validated input of a handler. */
export interface ConsoleCall<Q = unknown, B = unknown> {
  signedIn: SignedIn;
  /**
   * The account in the path; the caller is a member of it or an operator. Present on every route
   * with `:account`.
   */
  account: { id: string; role: Role | 'operator' };
  params: Record<string, string>;
  query: Q;
  body: B;
  clientIp: string;
  /** For answers that are not JSON, and for client disconnects. */
  ctx: Context;
}

declare module '../../http/state.ts' {
  interface State {
    /** Set by the management API: the user, and the account in the path. */
    signedIn?: SignedIn;
    account?: ConsoleCall['account'];
  }
}

/**
 * `permission`: members whose role has it, and operators for GET if it is one of OPERATOR_MAY.
 * `signed-in`: every user with a session. `operator`: operators only. `public`: every caller, also
 * without a session; only for answers that are the same for all.
 */
export type RouteAccess = { permission: Permission } | 'signed-in' | 'operator' | 'public';

export interface ConsoleRoute {
  method: 'get' | 'post' | 'patch' | 'delete';
  /** Below `/console/v1`, in the router's notation: `/accounts/:account/keys/:key`. */
  path: string;
  /** The OpenAPI `operationId`: unique, camelCase. */
  id: string;
  summary: string;
  access: RouteAccess;
  query?: z.ZodType | undefined;
  body?: z.ZodType | undefined;
  /** Of a JSON body; 64 KiB when absent. */
  bodyMaxBytes?: number;
  /** The schema of the JSON answer, `none` for 204, or a media type: the handler sets `ctx.body`. */
  answer: z.ZodType | 'none' | 'application/pdf' | 'text/csv';
  /** 201 for rows that create something. */
  status?: 201;
  handle(call: ConsoleCall): Promise<unknown>;
}

interface Typed<Q extends z.ZodType, B extends z.ZodType, A extends ConsoleRoute['answer']>
  extends Omit<ConsoleRoute, 'query' | 'body' | 'answer' | 'handle'> {
  query?: Q;
  body?: B;
  answer: A;
  handle(
    call: ConsoleCall<z.output<Q>, z.output<B>>,
  ): Promise<A extends z.ZodType ? z.input<A> : void>;
}

/** A row whose handler is typed by its schemas. */
export const route = <
  Q extends z.ZodType = z.ZodUndefined,
  B extends z.ZodType = z.ZodUndefined,
  A extends ConsoleRoute['answer'] = 'none',
>(
  row: Typed<Q, B, A>,
): ConsoleRoute => row;
