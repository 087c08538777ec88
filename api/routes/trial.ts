// POST /v1/trial/render: the same render without an API key. Limited before its body is read, and
// to a part of the memory budget.
import { type Network, subscriberOf } from '../../common/addresses.ts';
import {
  type InstallationRules,
  parseRenderRequest,
} from '../../common/contract/render-request.ts';
import { beginEntry, runEntry, validated } from '../history/render-entry.ts';
import { type BodyLimits, jsonBody } from '../http/body.ts';
import { type ByteBudget, createByteBudget } from '../http/byte-budget.ts';
import { callerIp } from '../http/caller.ts';
import { untilClientDisconnects } from '../http/errors.ts';
import type { Middleware } from '../http/state.ts';
import { createThrottle } from '../http/throttle.ts';
import { noTrialSlot } from '../leases/trial-admission.ts';
import type { TrialCaller, TrialLeases } from '../leases/trial-leases.ts';
import type { RenderUseCase } from '../render/render.ts';
import { setPdfHeaders } from './render.ts';

export interface TrialRoute {
  leases: Pick<TrialLeases, 'enter'>;
  render: RenderUseCase<TrialCaller>;
  /** The part of the memory budget that all trial calls share. */
  maxBytes: number;
}

/**
 * Trial callers are anonymous, so their part of the memory is small enough not to affect customers.
 */
export const TRIAL_SHARE = 1 / 4;

/**
 * Delays excess rejections to at most one per 10 ms, capped at 2 s. Without it, 200 clients that
 * retry at once (740 times per second) used a fifth of two cores.
 */
const REJECTIONS = { gapMs: 10, maxMs: 2_000 };

interface TrialParts {
  body: BodyLimits;
  budget: ByteBudget;
  rules: InstallationRules;
  trustedProxies: readonly Network[];
}

const admitTrialCall = (
  leases: TrialRoute['leases'],
  trustedProxies: readonly Network[],
): Middleware => {
  const throttle = createThrottle(REJECTIONS);
  async function enter(client: string): Promise<() => void> {
    try {
      return leases.enter(client);
    } catch (error) {
      await throttle();
      throw error;
    }
  }
  return async (ctx, next) => {
    ctx.state.client = subscriberOf(callerIp(ctx, trustedProxies));
    const endCall = await enter(ctx.state.client);
    // Sending the response is not awaited: its memory is bounded by the budget.
    await next().finally(endCall);
  };
};

const renderForClient = (render: TrialRoute['render'], rules: InstallationRules): Middleware => {
  return async ctx => {
    const { client, bodyBytes, requestId, reservation } = ctx.state;
    const entry = ctx.state.entry!;
    const request = await validated(entry, ctx.state.body, () =>
      parseRenderRequest(ctx.state.body, { ...rules, intranet: false }),
    );
    ctx.state.body = undefined;
    const memory = { bodyBytes, budget: reservation };
    const { pdf, sandbox } = await untilClientDisconnects(ctx, signal =>
      render(request, { client, requestId }, memory, signal, entry.trace),
    );
    setPdfHeaders(ctx, request.filename);
    if (sandbox) ctx.set('X-Sandbox', 'true');
    ctx.body = pdf;
  };
};

const recordTrialRender: Middleware = (ctx, next) => runEntry(beginEntry(ctx), next);

/** What handles the path, in order. */
export function trialRoute(
  { leases, render, maxBytes }: TrialRoute,
  { body, budget, rules, trustedProxies }: TrialParts,
): Middleware[] {
  return [
    recordTrialRender,
    admitTrialCall(leases, trustedProxies),
    jsonBody(body, createByteBudget(maxBytes, { whole: budget }), ({ state }) => ({
      id: state.client,
      full: noTrialSlot,
      share: noTrialSlot,
    })),
    renderForClient(render, rules),
  ];
}
