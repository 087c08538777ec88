// One render on one slot: runs the steps in order under one deadline, prints, and knows what was being waited for when time ran out.
import { setTimeout as sleep } from 'node:timers/promises';
import { renderFailed } from '../contract/errors.ts';
import { BrowserFailed, SlotLost } from '../dispatch/slot-port.ts';
import { watchDenials } from './denials.ts';
import { watchMainDocument } from './main-document.ts';
import { watchMovement } from './movement.ts';
import { watchNetwork } from './network-idle.ts';
import type { Plan } from './plan.ts';
import type { Output, Printed, Room } from './print.ts';
import { printDocument } from './print-document.ts';
import { CommandFailed, type Session } from './session.ts';
import { STEPS } from './steps.ts';

export interface ConversationLimits {
  /** For everything up to the PDF, `wait_delay` not counted. */
  renderMs: number;
  output: Output;
}

export type Phase = 'load' | 'wait' | 'print';

/** "Printing failed" comes a few milliseconds before the word that the page's process has gone. */
const LAST_WORD_MS = 1_000;

/** What stands behind a refusal that no step has foreseen: the end of the slot, when it is told within LAST_WORD_MS. */
async function whyRefused(session: Session, refusal: CommandFailed): Promise<Error> {
  const end = await Promise.race([session.ended, sleep(LAST_WORD_MS)]);
  return end ? new SlotLost(end.reason, end.message, { cause: refusal }) : new BrowserFailed(refusal.message, { cause: refusal });
}

/**
 * Throws ApiError (validation_error, ssrf_blocked, render_failed), SlotLost, BrowserFailed, or the signal's reason. The PDF counts in `room`; nothing does any more
 * soon after this has thrown. The milliseconds of each phase are written into `timings`.
 */
export async function converse(
  session: Session,
  plan: Plan,
  limits: ConversationLimits,
  room: Room,
  signal: AbortSignal,
  timings: Partial<Record<Phase, number>>,
): Promise<Printed> {
  const interrupted = Promise.withResolvers<never>();
  interrupted.promise.catch(() => {});
  const denials = watchDenials(session);
  const document = watchMainDocument(session, plan.source, denials);
  const watched = { document, denials, movement: watchMovement(session), network: watchNetwork(session) };
  const page = { session, plan, ...watched, fail: interrupted.reject };
  // A dialog blocks the page, and with it every command, until somebody answers.
  session.on('Page.javascriptDialogOpening', ({ defaultPrompt = '' }) => {
    session.command('Page.handleJavaScriptDialog', { accept: true, promptText: defaultPrompt }).catch(() => {});
  });

  let waitingFor = '';
  const limitMs = limits.renderMs + plan.waits.delayMs;
  const deadline = setTimeout(() => {
    interrupted.reject(
      renderFailed('page_timeout', `The render took longer than ${limitMs / 1000} s: it was still waiting for ${waitingFor}.`),
    );
  }, limitMs);
  const onAbort = () => interrupted.reject(signal.reason);
  if (signal.aborted) onAbort();
  else signal.addEventListener('abort', onAbort, { once: true });
  let over = false;
  void session.ended.then(({ reason, message }) => over || interrupted.reject(new SlotLost(reason, message)));
  const orInterrupted = <T>(work: Promise<T>) => {
    work.catch(() => {});
    return Promise.race([work, document.failed, interrupted.promise]);
  };

  try {
    const spent = { load: 0, wait: 0 };
    for (const step of STEPS) {
      if (!step.wanted(plan)) continue;
      waitingFor = step.waitingFor;
      const start = performance.now();
      await orInterrupted(step.run(page));
      spent[step.phase] += performance.now() - start;
    }
    Object.assign(timings, spent);
    waitingFor = 'the PDF to be printed';
    const start = performance.now();
    const printed = await orInterrupted(printDocument(page, limits.output, room));
    timings.print = performance.now() - start;
    return printed;
  } catch (error) {
    throw error instanceof CommandFailed ? await whyRefused(session, error) : error;
  } finally {
    over = true;
    clearTimeout(deadline);
    signal.removeEventListener('abort', onAbort);
  }
}
