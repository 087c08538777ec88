// The encrypted cookie that holds the state of a single sign-on between its pages.

import { createEncryption } from '../../../common/encryption.ts';
import type { Context } from '../../http/state.ts';
import type { Cookies } from '../kit/cookies.ts';
import type { Begun } from '../sso/identity-provider.ts';
import { beginAgain } from '../sso/sso-error.ts';
import type { Identity } from '../users/users.ts';

/** Long enough for two-factor authentication at the provider. */
const LASTS_MS = 10 * 60_000;

/**
 * `begun`: the browser was redirected to the provider. `unproven`: it came back, and the user must
 * enter the password of the existing login. `next`: the path after the sign-in.
 */
type StateOfKind = ({ kind: 'begun' } & Begun) | ({ kind: 'unproven' } & Unproven);
type SsoState = { untilMs: number; next: string } & StateOfKind;
interface Unproven {
  user: string;
  identity: Identity;
  id: string;
}
export type SsoStateOf<K extends SsoState['kind']> = Extract<SsoState, { kind: K }>;

export type SsoStateCookie = ReturnType<typeof createSsoStateCookie>;

export function createSsoStateCookie(cookies: Cookies, secret: string) {
  const encryption = createEncryption(secret, 'company sign-in');

  function save(ctx: Context, next: string, state: StateOfKind): void {
    const text = JSON.stringify({ ...state, next, untilMs: Date.now() + LASTS_MS });
    cookies.setPassing(ctx, 'company', encryption.encrypt(text), LASTS_MS);
  }

  /** Also returns an expired state. */
  function read(ctx: Context): SsoState | undefined {
    const text = encryption.decrypt(cookies.passing(ctx, 'company') ?? '');
    return text === undefined ? undefined : (JSON.parse(text) as SsoState);
  }

  return {
    /** Sets the cookie. It expires after ten minutes. */
    begin: (ctx: Context, begun: Begun, next: string) =>
      save(ctx, next, { kind: 'begun', ...begun }),
    askForProof: (ctx: Context, unproven: Unproven, next: string) =>
      save(ctx, next, { kind: 'unproven', ...unproven }),
    read,
    /** Throws SsoError when the state is of another kind or has expired. */
    require: <K extends SsoState['kind']>(ctx: Context, kind: K) => {
      const state = read(ctx);
      if (state?.kind !== kind || state.untilMs < Date.now()) throw beginAgain();
      return state as SsoStateOf<K>;
    },
    clear: (ctx: Context) => cookies.clear(ctx, 'company'),
  };
}
