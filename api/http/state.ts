// What the middleware of one request share. A feature declares its own members beside the code that
// sets them.
import type Koa from 'koa';
import type { ErrorCode, RenderFailedReason } from '../../common/contract/errors.ts';
import type { Accepted } from '../accounts/accepted-keys.ts';
import type { Reservation } from './byte-budget.ts';

export interface State {
  requestId: string;
  /** Set by accessLog. Monotonic. */
  startMs: number;
  /** Set by bearer. */
  accepted: Accepted;
  /** Set by admitTrialCall: whose calls are counted together. */
  client: string;
  /** Set by body: the parsed JSON and how many bytes it was. */
  body: unknown;
  bodyBytes: number;
  /** `100 Continue` was sent: the body is on its way. */
  continued?: boolean;
  /** The render has begun, and meters its own outcome. */
  rendering?: boolean;
  /** This request's part of the memory budget. */
  reservation: Reservation;
  /** Set by errors, for the access log. */
  code?: ErrorCode | 'client_closed';
  reason?: RenderFailedReason;
}

export type Context = Koa.ParameterizedContext<State>;
export type Middleware = Koa.Middleware<State>;

/** A row of the application's route table. */
export interface Route {
  method: 'get' | 'post' | 'patch' | 'delete' | 'options';
  path: string;
  handle: Middleware[];
}
