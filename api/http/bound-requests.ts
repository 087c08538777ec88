// Middleware that bounds the requests of one account in this process, before their bodies are read.
import type { AccountRequests } from '../accounts/account-requests.ts';
import type { Context, Middleware } from './state.ts';

interface Caller {
  accountId: string;
  /** Of the plan, where it is known. */
  parallel?: number;
}

/**
 * `onRefused` is called for a request over the bound. The sending of the answer is not counted: it
 * has a share of the memory.
 */
export const boundRequests = (
  requests: AccountRequests,
  callerOf: (ctx: Context) => Caller,
  onRefused: (ctx: Context) => void = () => {},
): Middleware => {
  return async (ctx, next) => {
    const { accountId, parallel } = callerOf(ctx);
    const leave = await requests.enter(accountId, parallel).catch(error => {
      onRefused(ctx);
      throw error;
    });
    await next().finally(leave);
  };
};
