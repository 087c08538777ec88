// POST /v1/trial/render: the same render without a key, for whoever wants to see one. Held back
// before its body is read, and in what it may hold of the memory.
import { type Network, subscriberOf } from '../../common/addresses.ts';
import { parseRenderRequest } from '../../common/contract/render-request.ts';
import { type BodyLimits, jsonBody } from '../http/body.ts';
import { type ByteBudget, createByteBudget } from '../http/byte-budget.ts';
import { callerIp } from '../http/caller.ts';
import { untilClientDisconnects } from '../http/errors.ts';
import type { Middleware } from '../http/state.ts';
import { createThrottle } from '../http/throttle.ts';
import { noTrialSlot } from '../leases/trial-admission.ts';
import type { TrialCaller, TrialLeases } from '../leases/trial-leases.ts';
import type { RenderUseCase } from '../render/render.ts';

export interface TrialRoute {
  leases: Pick<TrialLeases, 'enter'>;
  render: RenderUseCase<TrialCaller>;
  /** Of the process's memory for bodies and PDFs: what trial calls may hold together. */
  maxBytes: number;
}

/**
 * Nobody knows these callers, so their share of the memory is small enough for customers not to
 * notice.
 */
export const TRIAL_SHARE = 1 / 4;

/**
 * Delays excess rejections to at most one per 10 ms, capped at 2 s: 200 callers who retry as soon
 * as they are rejected, 740 times a second, took a fifth of two cores from customers otherwise.
 */
const REJECTIONS = { gapMs: 10, maxMs: 2_000 };

interface Surroundings {
  body: BodyLimits;
  budget: ByteBudget;
  /** Ports that a page may have. */
  ports: { ports: number[]; allowPorts: number[] };
  trustedProxies: readonly Network[];
}

const admitTrialCall = (
  leases: TrialRoute['leases'],
  trustedProxies: readonly Network[],
): Middleware => {
  const pace = createThrottle(REJECTIONS);
  async function enter(client: string): Promise<() => void> {
    try {
      return leases.enter(client);
    } catch (error) {
      await pace();
      throw error;
    }
  }
  return async (ctx, next) => {
    ctx.state.client = subscriberOf(callerIp(ctx, trustedProxies));
    const leave = await enter(ctx.state.client);
    // The sending of the answer is not waited for: what it holds is bounded by the share of the
    // memory.
    await next().finally(leave);
  };
};

const renderForVisitor = (
  render: TrialRoute['render'],
  ports: Surroundings['ports'],
): Middleware => {
  return async ctx => {
    const { client, bodyBytes, requestId, reservation } = ctx.state;
    const request = parseRenderRequest(ctx.state.body, { ...ports, intranet: false });
    ctx.state.body = undefined;
    const { pdf, sandbox } = await untilClientDisconnects(ctx, signal =>
      render(request, { client, requestId }, { bodyBytes, budget: reservation }, signal),
    );
    ctx.type = 'application/pdf';
    ctx.set('Content-Disposition', 'inline; filename="render.pdf"');
    ctx.set('Cache-Control', 'no-store');
    if (sandbox) ctx.set('X-Sandbox', 'true');
    ctx.body = pdf;
  };
};

/** What handles the path, in order. */
export function trialRoute(
  { leases, render, maxBytes }: TrialRoute,
  { body, budget, ports, trustedProxies }: Surroundings,
): Middleware[] {
  return [
    admitTrialCall(leases, trustedProxies),
    jsonBody(body, createByteBudget(maxBytes, { whole: budget }), ({ state }) => ({
      id: state.client,
      full: noTrialSlot,
      share: noTrialSlot,
    })),
    renderForVisitor(render, ports),
  ];
}
