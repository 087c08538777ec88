// What the middleware of one request tell each other.
import type Koa from 'koa';
import type { Accepted } from '../accounts/accepted-keys.ts';
import type { Call, SignedIn } from '../console/kit/route.ts';
import type { Access } from '../console/oauth/access.ts';
import type { ErrorCode, RenderFailedReason } from '../contract/errors.ts';
import type { RenderEntry } from '../history/render-record.ts';
import type { Reservation } from './byte-budget.ts';

export interface State {
  requestId: string;
  /** Set by bearer. */
  accepted: Accepted;
  /** Set by trialDoor: whose calls are counted together. */
  visitor: string;
  /** Set by the management API: who is signed in, and the account in the path. */
  signedIn?: SignedIn;
  account?: Call['account'];
  /** Set at the door of the MCP endpoint: which client acts in whose name. */
  access?: Access;
  /** Set by body: the parsed JSON and how many bytes it was. */
  body: unknown;
  bodyBytes: number;
  /** `100 Continue` was sent: the body is on its way. */
  continued?: boolean;
  /** Set where a log of renders is kept. */
  entry?: RenderEntry;
  /** The render has begun, and counts its own end. */
  rendering?: boolean;
  /** What this request holds of the process's memory. */
  reservation: Reservation;
  /** Set by errors, for the access log. */
  code?: ErrorCode | 'client_closed';
  reason?: RenderFailedReason;
}

export type Context = Koa.ParameterizedContext<State>;
export type Middleware = Koa.Middleware<State>;

/** What the application gives to its router. */
export interface Route {
  method: 'get' | 'post' | 'patch' | 'delete' | 'options';
  path: string;
  handle: Middleware[];
}

/** The reason of a signal that aborted because nobody waits for the answer any more. */
export class ClientClosed extends Error {
  override name = 'ClientClosed';
}
