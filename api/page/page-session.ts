// The page session: one render on one slot. Runs the steps in order under one deadline, prints, and
// names the step that the deadline interrupted.

import { setTimeout as sleep } from 'node:timers/promises';
import { ApiError, renderFailed } from '../../common/contract/errors.ts';
import { quoted } from '../../common/contract/problems.ts';
import type { Budget, Printed } from '../pdf/printed.ts';
import { CommandFailed, type Session } from '../workers/session.ts';
import { BrowserFailed, SlotLost } from '../workers/slot-port.ts';
import { finishAnimations } from './animations.ts';
import { css } from './css.ts';
import { hasTemplates } from './header-footer.ts';
import { javascript, ScriptThrew } from './javascript.ts';
import { lazyImages } from './lazy-images.ts';
import { load } from './load.ts';
import { watchBlockedRequests, watchMainDocument, watchNavigation } from './main-document.ts';
import type { Page } from './page.ts';
import { readConsole } from './page-console.ts';
import { newPageReport, type PageReport } from './page-report.ts';
import { type Output, printDocument } from './print.ts';
import { type RenderSettings, watchesNetwork } from './render-settings.ts';
import { Resources } from './resources.ts';
import { measureTemplates } from './template-overflow.ts';
import { delay, expression, fonts, networkIdle, selector, watchNetwork } from './waits.ts';

async function allResourcesLoaded({ resources }: Page): Promise<void> {
  const failure = resources?.failure();
  if (failure) throw failure;
}

export interface Step {
  /**
   * What the caller reads when the deadline passes here: "The render took longer than … s while
   * waiting for …".
   */
  waitingFor(settings: RenderSettings): string;
  phase: 'load' | 'wait';
  applies(settings: RenderSettings): boolean;
  run(page: Page): Promise<void>;
}

const always = () => true;

/**
 * Header and footer are measured on the blank page. Then the order is the contract's: load event,
 * fonts, css, javascript, lazy images, selector, expression, network idle, delay, animations,
 * resource errors, then print.
 */
export const STEPS: Step[] = [
  {
    waitingFor: () => '`header` and `footer` to be laid out',
    phase: 'load',
    applies: hasTemplates,
    run: measureTemplates,
  },
  { waitingFor: () => "the page's load event", phase: 'load', applies: always, run: load },
  {
    waitingFor: () => "the page's fonts",
    phase: 'load',
    applies: settings => !settings.isStatic,
    run: fonts,
  },
  {
    waitingFor: () => '`css` to be loaded and applied',
    phase: 'wait',
    applies: settings => settings.css !== undefined,
    run: css,
  },
  {
    waitingFor: () => '`javascript` to finish and its promise to settle',
    phase: 'wait',
    applies: settings => settings.javascript !== undefined,
    run: javascript,
  },
  {
    waitingFor: () => '`lazy_load_images` to scroll through the page',
    phase: 'wait',
    applies: settings => settings.lazyImages,
    run: lazyImages,
  },
  {
    waitingFor: ({ waits }) =>
      `\`wait_for_selector\` ${quoted(waits.selector!)} to match an element`,
    phase: 'wait',
    applies: settings => settings.waits.selector !== undefined,
    run: selector,
  },
  {
    waitingFor: ({ waits }) => `\`wait_for_expression\` ${quoted(waits.expression!)} to be truthy`,
    phase: 'wait',
    applies: settings => settings.waits.expression !== undefined,
    run: expression,
  },
  {
    waitingFor: () => 'the network to be idle (`wait_for_network_idle`)',
    phase: 'wait',
    applies: settings => settings.waits.networkIdle,
    run: networkIdle,
  },
  {
    waitingFor: () => '`wait_delay`',
    phase: 'wait',
    applies: settings => settings.waits.delayMs > 0,
    run: delay,
  },
  {
    waitingFor: () => '`finish_animations`',
    phase: 'wait',
    applies: settings => settings.finishAnimations,
    run: finishAnimations,
  },
  {
    waitingFor: () => '`fail_on_resource_error`',
    phase: 'wait',
    applies: settings => settings.failOnResourceError,
    run: allResourcesLoaded,
  },
];

export interface PageSessionLimits {
  /** For everything up to the PDF, `wait_delay` not counted; a request may set a shorter one. */
  renderMs: number;
  output: Output;
  /** Of `renderMs`: what an attempt on a Chrome that died has used. */
  spentMs?: number;
}

/** The time limit of this render, `wait_delay` included. */
export const limitMsOf = (
  { timeoutMs, waits }: RenderSettings,
  { renderMs }: PageSessionLimits,
): number => (timeoutMs ?? renderMs) + waits.delayMs;

/** Such as "its `timeout` of 5 s": which limit a render exceeded. */
function limitText({ timeoutMs, waits }: RenderSettings, { renderMs }: PageSessionLimits): string {
  const limit =
    timeoutMs === undefined
      ? `this installation's limit of ${renderMs / 1000} s`
      : `its \`timeout\` of ${timeoutMs / 1000} s`;
  return waits.delayMs > 0 ? `${limit} plus \`wait_delay\`` : limit;
}

export type Phase = 'load' | 'wait' | 'print';

/** "Printing failed" arrives a few milliseconds before the event that the page's process ended. */
const END_EVENT_MS = 1_000;

/**
 * The cause of an unexpected command error: the end of the slot, when it is reported within
 * END_EVENT_MS.
 */
async function causeOf(session: Session, failure: CommandFailed): Promise<Error> {
  const end = await Promise.race([session.ended, sleep(END_EVENT_MS)]);
  return end
    ? new SlotLost(end.reason, end.message, { cause: failure })
    : new BrowserFailed(failure.message, { cause: failure });
}

/** The page with all that is watched from before its first command. */
function watchedPage(
  session: Session,
  settings: RenderSettings,
  report: PageReport,
  fail: Page['fail'],
): Page {
  const blockedRequests = watchBlockedRequests(session);
  // A dialog blocks the page and every command until it is handled.
  session.on('Page.javascriptDialogOpening', ({ defaultPrompt = '' }) => {
    session
      .command('Page.handleJavaScriptDialog', { accept: true, promptText: defaultPrompt })
      .catch(() => {});
  });
  return {
    session,
    settings,
    blockedRequests,
    warnings: report.warnings,
    document: watchMainDocument(session, settings.source, blockedRequests),
    navigation: watchNavigation(session),
    network: watchNetwork(session),
    resources: watchesNetwork(settings)
      ? new Resources(session, blockedRequests, report.resources)
      : undefined,
    lastSeen: '',
    fail,
  };
}

const isTimeout = (error: unknown): error is ApiError =>
  error instanceof ApiError && error.reason === 'page_timeout';

/** A wait may have timed out because a resource is missing. */
function timeoutOf({ resources, settings }: Page, timeout: ApiError): ApiError {
  const failure = settings.failOnResourceError ? resources?.failure() : undefined;
  resources?.timedOut();
  return failure ?? timeout;
}

/**
 * Throws ApiError (validation_error, ssrf_blocked, render_failed), SlotLost, BrowserFailed, or the
 * signal's reason. The PDF counts in `budget`; soon after an error nothing does. Writes the
 * milliseconds of each phase into `timings`, and what happened on the page into `report`.
 */
export async function runPageSession(
  session: Session,
  settings: RenderSettings,
  limits: PageSessionLimits,
  budget: Budget,
  signal: AbortSignal,
  timings: Partial<Record<Phase, number>>,
  report: PageReport = newPageReport(),
): Promise<Printed> {
  const interrupted = Promise.withResolvers<never>();
  interrupted.promise.catch(() => {});
  const page = watchedPage(session, settings, report, interrupted.reject);
  const isSilent = settings.isStatic || settings.isolation === 'warm';
  const lines = isSilent ? undefined : report.console;
  const pageConsole = lines && readConsole(session, lines);

  let waitingFor = '';
  const begin = (what: string) => {
    waitingFor = what;
    page.lastSeen = '';
  };
  const deadline = setTimeout(
    () => {
      interrupted.reject(
        renderFailed(
          'page_timeout',
          `The render took longer than ${limitText(settings, limits)} while waiting for ${waitingFor}. ${page.lastSeen || (page.resources?.stillLoading() ?? '')}`.trim(),
        ),
      );
    },
    limitMsOf(settings, limits) - (limits.spentMs ?? 0),
  );
  const onAbort = () => interrupted.reject(signal.reason);
  if (signal.aborted) onAbort();
  else signal.addEventListener('abort', onAbort, { once: true });
  let over = false;
  void session.ended.then(
    ({ reason, message }) => over || interrupted.reject(new SlotLost(reason, message)),
  );
  const orInterrupted = <T>(work: Promise<T>) => {
    work.catch(() => {});
    return Promise.race([work, page.document.failed, interrupted.promise]);
  };

  async function timed<T>(phase: Phase, work: Promise<T>): Promise<T> {
    const start = performance.now();
    try {
      return await orInterrupted(work);
    } finally {
      timings[phase]! += performance.now() - start;
    }
  }

  try {
    Object.assign(timings, { load: 0, wait: 0 });
    for (const step of STEPS) {
      if (!step.applies(settings)) continue;
      begin(step.waitingFor(settings));
      await timed(step.phase, step.run(page));
    }
    begin('the PDF to be printed');
    timings.print = 0;
    const printed = await timed(
      'print',
      printDocument(page, { ...limits.output, onPrinted: pageConsole?.request }, budget),
    );
    await pageConsole?.received();
    return printed;
  } catch (error) {
    if (!signal.aborted && !(error instanceof SlotLost)) {
      pageConsole?.request();
      await pageConsole?.received();
      const { cause } = error as Error;
      if (cause instanceof ScriptThrew) pageConsole?.threw(cause.message);
    }
    if (error instanceof CommandFailed) throw await causeOf(session, error);
    throw isTimeout(error) ? timeoutOf(page, error) : error;
  } finally {
    over = true;
    clearTimeout(deadline);
    signal.removeEventListener('abort', onAbort);
  }
}
