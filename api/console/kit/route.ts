// The shape of a route of the management API: one row says who may call it, what goes in and what
// comes out. Router, description and tests read the same rows.
import type { z } from 'zod';
import type { Context } from '../../http/state.ts';
import type { Role } from '../../store/store.ts';
import type { Permission } from '../contract/permissions.ts';

/** Who is signed in, as the session says. */
export interface SignedIn {
  /** The session's public id. */
  sessionId: string;
  user: { id: string; email: string; name: string; operator: boolean };
}

/** What a handler gets. All of it has been checked. */
export interface ConsoleCall<Q = unknown, B = unknown> {
  signedIn: SignedIn;
  /**
   * The account in the path, of which the caller is a member (an operator need not be). Present on
   * every route with `:account`.
   */
  account: { id: string; role: Role | 'operator' };
  params: Record<string, string>;
  query: Q;
  body: B;
  clientIp: string;
  /** For what is not JSON, and for the caller's going away. */
  ctx: Context;
}

declare module '../../http/state.ts' {
  interface State {
    /** Set by the management API: who is signed in, and the account in the path. */
    signedIn?: SignedIn;
    account?: ConsoleCall['account'];
  }
}

/**
 * `permission`: a member of the account whose role has it (and any operator, for reading).
 * `signed-in`: anybody with a session; `operator`: who runs the installation.
 */
export type RouteAccess = { permission: Permission } | 'signed-in' | 'operator';

export interface ConsoleRoute {
  method: 'get' | 'post' | 'patch' | 'delete';
  /** Below `/console/v1`, in the router's notation: `/accounts/:account/keys/:key`. */
  path: string;
  /** For the description: unique, camelCase. */
  id: string;
  summary: string;
  access: RouteAccess;
  query?: z.ZodType | undefined;
  body?: z.ZodType | undefined;
  /** Of a JSON body; 64 KiB when absent. */
  bodyMaxBytes?: number;
  /**
   * A schema of the JSON answer, `none` for 204, or a media type that the handler itself puts into
   * `ctx.body`.
   */
  answer: z.ZodType | 'none' | 'application/pdf' | 'text/csv';
  /** 201 for what creates. */
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

/** A row whose handler's types follow from its schemas. */
export const route = <
  Q extends z.ZodType = z.ZodUndefined,
  B extends z.ZodType = z.ZodUndefined,
  A extends ConsoleRoute['answer'] = 'none',
>(
  row: Typed<Q, B, A>,
): ConsoleRoute => row;
