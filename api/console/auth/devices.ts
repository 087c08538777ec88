// A cookie that marks a device on which a user signed in before, so that the password guesses of
// others do not lock the user out. It grants no access.

import { createEncryption } from '../../../common/encryption.ts';
import { randomBase62 } from '../../accounts/keys.ts';
import type { Context } from '../../http/state.ts';
import type { Cookies } from '../kit/cookies.ts';

const KEPT_MS = 180 * 24 * 3600e3;

export type Devices = ReturnType<typeof createDevices>;

export function createDevices(secret: string, cookies: Cookies) {
  const encryption = createEncryption(secret, 'device');

  /** The id of the device when this user signed in on it before. */
  function known(ctx: Context, userId: string | undefined): string | undefined {
    const cookie = cookies.passing(ctx, 'device');
    const text = cookie && userId ? encryption.decrypt(cookie, userId) : undefined;
    const [id, until] = text?.split(' ') ?? [];
    return Number(until) > Date.now() ? id : undefined;
  }

  return {
    known,
    /** Sets the cookie. A known device keeps its id. */
    remember: (ctx: Context, userId: string) => {
      const id = known(ctx, userId) ?? randomBase62(20);
      cookies.setPassing(
        ctx,
        'device',
        encryption.encrypt(`${id} ${Date.now() + KEPT_MS}`, userId),
        KEPT_MS,
      );
    },
  };
}
