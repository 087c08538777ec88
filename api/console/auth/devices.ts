// A cookie that marks a device on which a user signed in before, so that the password guesses of
// others do not lock the user out. It grants no access.

import { createEncryption } from '../../../common/encryption.ts';
import { randomBase62 } from '../../accounts/keys.ts';
import type { Context } from '../../http/state.ts';
import type { Cookies } from '../kit/cookies.ts';

const KEPT_MS = 180 * 24 * 3600e3;

export interface Devices {
  /** The id of the device when this user signed in on it before. */
  known(ctx: Context, userId: string | undefined): string | undefined;
  /** Sets the cookie. A known device keeps its id. */
  remember(ctx: Context, userId: string): void;
}

export function createDevices(secret: string, cookies: Cookies, now = () => Date.now()): Devices {
  const encryption = createEncryption(secret, 'device');

  function known(ctx: Context, userId: string | undefined): string | undefined {
    const cookie = cookies.passing(ctx, 'device');
    const text = cookie && userId ? encryption.decrypt(cookie, userId) : undefined;
    const [id, until] = text?.split(' ') ?? [];
    return Number(until) > now() ? id : undefined;
  }

  return {
    known,
    remember: (ctx, userId) => {
      const id = known(ctx, userId) ?? randomBase62(20);
      cookies.setPassing(
        ctx,
        'device',
        encryption.encrypt(`${id} ${now() + KEPT_MS}`, userId),
        KEPT_MS,
      );
    },
  };
}
