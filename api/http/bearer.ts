// Who calls: reads the Authorization header and asks the accounts. Nothing of the body has been
// read when this refuses.
import type { Network } from '../../common/addresses.ts';
import type { AcceptedKeys } from '../accounts/accepted-keys.ts';
import { callerIp } from './client-ip.ts';
import type { Middleware } from './state.ts';

/**
 * RFC 6750 §2.1; the scheme is read without regard to case (RFC 9110 §11.1). Undefined when there
 * is no bearer token.
 */
export const bearerToken = (header: string | undefined): string | undefined =>
  /^bearer +([^ ]+) *$/i.exec(header ?? '')?.[1];

export const bearer = (keys: AcceptedKeys, trustedProxies: readonly Network[]): Middleware => {
  return async (ctx, next) => {
    const address = callerIp(ctx, trustedProxies);
    // Set also for who is known and refused: the logs say whose call it was.
    await keys.check(bearerToken(ctx.headers.authorization), address, accepted => {
      ctx.state.accepted = accepted;
    });
    await next();
  };
};
