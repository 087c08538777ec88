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
export type SsoState = { untilMs: number; next: string } & (
  | ({ kind: 'begun' } & Begun)
  | { kind: 'unproven'; user: string; identity: Identity; id: string }
);
export type SsoStateOf<K extends SsoState['kind']> = Extract<SsoState, { kind: K }>;

export interface SsoStateCookie {
  /** Sets the cookie. It expires after ten minutes. */
  begin(ctx: Context, begun: Begun, next: string): void;
  askForProof(
    ctx: Context,
    unproven: { user: string; identity: Identity; id: string },
    next: string,
  ): void;
  /** Also returns an expired state. */
  read(ctx: Context): SsoState | undefined;
  /** Throws SsoError when the state is of another kind or has expired. */
  require<K extends SsoState['kind']>(ctx: Context, kind: K): SsoStateOf<K>;
  clear(ctx: Context): void;
}

export function createSsoStateCookie(cookies: Cookies, secret: string): SsoStateCookie {
  const encryption = createEncryption(secret, 'company sign-in');

  const save = (ctx: Context, state: SsoState) =>
    cookies.setPassing(ctx, 'company', encryption.encrypt(JSON.stringify(state)), LASTS_MS);

  function read(ctx: Context): SsoState | undefined {
    const text = encryption.decrypt(cookies.passing(ctx, 'company') ?? '');
    return text === undefined ? undefined : (JSON.parse(text) as SsoState);
  }

  return {
    begin: (ctx, begun, next) =>
      save(ctx, { kind: 'begun', ...begun, next, untilMs: Date.now() + LASTS_MS }),
    askForProof: (ctx, unproven, next) =>
      save(ctx, { kind: 'unproven', ...unproven, next, untilMs: Date.now() + LASTS_MS }),
    read,
    require: <K extends SsoState['kind']>(ctx: Context, kind: K) => {
      const state = read(ctx);
      if (state?.kind !== kind || state.untilMs < Date.now()) throw beginAgain();
      return state as SsoStateOf<K>;
    },
    clear: ctx => cookies.clear(ctx, 'company'),
  };
}
