// What a render waits for after the load event: fonts, a selector, an expression, a quiet network,
// a delay.

import { setTimeout as sleep } from 'node:timers/promises';
import type { Protocol } from 'devtools-protocol';
import { invalid } from '../../common/contract/errors.ts';
import { CommandFailed, type Session } from '../workers/session.ts';
import type { Page } from './page.ts';

export const IDLE_MS = 500;

export function watchNetwork(session: Session): Page['network'] {
  const open = new Set<string>();
  let quietSince = performance.now();
  let onChange = () => {};
  const done = (requestId: string) => {
    if (!open.delete(requestId) || open.size > 0) return;
    quietSince = performance.now();
    onChange();
  };
  session.on('Network.requestWillBeSent', ({ requestId, loaderId }) => {
    // A worker's script, whose end is reported only to the worker, or a preflight, whose request is
    // counted itself.
    if (loaderId === '') return;
    open.add(requestId);
    onChange();
  });
  session.on('Network.loadingFinished', ({ requestId }) => done(requestId));
  session.on('Network.loadingFailed', ({ requestId }) => done(requestId));

  return {
    idle: () =>
      new Promise(resolve => {
        let timer: NodeJS.Timeout | undefined;
        onChange = () => {
          clearTimeout(timer);
          if (open.size > 0) return;
          timer = setTimeout(resolve, Math.max(0, IDLE_MS - (performance.now() - quietSince)));
        };
        void session.ended.then(() => clearTimeout(timer));
        onChange();
      }),
  };
}

const POLL_MS = 50;

/**
 * True when a navigation destroyed the context of a command, which can be repeated in the new
 * document.
 */
export const isGone = (error: unknown) =>
  error instanceof CommandFailed &&
  /context (was destroyed|with given id|with specified id)|Cannot find context|navigated or closed/i.test(
    error.message,
  );

/**
 * Runs a function in an isolated JavaScript world, where the page's changes to globals have no
 * effect, and returns its value. Throws PageThrew, or CommandFailed (see isGone) when the page
 * moves on meanwhile.
 */
export async function onceInOwnWorld<T>(
  session: Session,
  source: string,
  ...args: unknown[]
): Promise<T> {
  const { executionContextId } = await session.command('Page.createIsolatedWorld', {
    frameId: session.frameId,
    worldName: 'pressroom',
  });
  const { result, exceptionDetails } = await session.command('Runtime.callFunctionOn', {
    functionDeclaration: source,
    executionContextId,
    arguments: args.map(value => ({ value })),
    awaitPromise: true,
    returnByValue: true,
  });
  if (exceptionDetails)
    throw new PageThrew(
      exceptionDetails.exception?.description?.split('\n')[0] ?? exceptionDetails.text,
    );
  return result.value as T;
}

/** Repeats the work in the new document when the page navigates meanwhile. */
async function untilNotGone<T>(work: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await work();
    } catch (error) {
      if (!isGone(error)) throw error;
      await sleep(POLL_MS);
    }
  }
}

/** Like onceInOwnWorld, repeated in the new document when the page navigates meanwhile. */
export const inOwnWorld = <T>(session: Session, source: string, ...args: unknown[]): Promise<T> =>
  untilNotGone(() => onceInOwnWorld<T>(session, source, ...args));

/** The function run in the page threw; `message` is the page's first line about it. */
export class PageThrew extends Error {
  override name = 'PageThrew';
}

/**
 * By the prototype's getter, since a form named `fonts` hides `document.fonts`. In the page's main
 * world: an isolated one costs more than the rest.
 */
const FONTS_READY =
  "Object.getOwnPropertyDescriptor(Document.prototype, 'fonts').get.call(document).ready.then(() => true)";

/** A page that broke these globals is printed as it is. */
export async function fonts({ session }: Page): Promise<void> {
  await untilNotGone(() =>
    session.command('Runtime.evaluate', {
      expression: FONTS_READY,
      awaitPromise: true,
      returnByValue: true,
    }),
  );
}

const UNTIL_MATCH = `selector => {
  if (document.querySelector(selector)) return;
  return new Promise(resolve => {
    const look = () => {
      if (!document.querySelector(selector)) return;
      observer.disconnect();
      resolve();
    };
    const observer = new MutationObserver(look);
    observer.observe(document, { subtree: true, childList: true, attributes: true, characterData: true });
  });
}`;

/** Present in the DOM, not necessarily visible. */
export async function selector(page: Page): Promise<void> {
  const { session, settings } = page;
  page.lastSeen = 'No element matched it.';
  try {
    await inOwnWorld<void>(session, UNTIL_MATCH, settings.waits.selector);
  } catch (error) {
    if (!(error instanceof PageThrew)) throw error;
    throw invalid(
      `\`wait_for_selector\` is not a valid CSS selector: ${JSON.stringify(settings.waits.selector)}.`,
      error,
    );
  }
}

/** Whether JavaScript would take this value for true. */
export function isTruthy({
  type,
  subtype,
  value,
  unserializableValue,
}: Protocol.Runtime.RemoteObject): boolean {
  if (type === 'undefined' || subtype === 'null') return false;
  if (unserializableValue !== undefined) return !['NaN', '-0', '0n'].includes(unserializableValue);
  return type === 'object' || type === 'function' || type === 'symbol' ? true : Boolean(value);
}

/**
 * Invalid JavaScript never runs, so its error has no stack; a SyntaxError thrown at run time, for
 * example by JSON.parse, has one.
 */
const isSyntaxError = ({ exception }: Protocol.Runtime.ExceptionDetails) =>
  exception?.className === 'SyntaxError' && !/\n\s+at /.test(exception.description ?? '');

const MAX_EXCEPTION_LENGTH = 200;

/** The first line of an exception, without control characters, cut. The page controls it. */
function exceptionText({ exception, text }: Protocol.Runtime.ExceptionDetails): string {
  const thrown =
    exception?.description ?? (exception && 'value' in exception ? String(exception.value) : text);
  const line = thrown
    .slice(0, 2 * MAX_EXCEPTION_LENGTH)
    .split(/[\r\n\u2028\u2029]/)[0]!
    .replace(/\p{C}/gu, ' ')
    .trim();
  return line.length > MAX_EXCEPTION_LENGTH ? `${line.slice(0, MAX_EXCEPTION_LENGTH - 1)}…` : line;
}

/** Such as `false`, `null`, `0` or `an empty string`: values that are not truthy. */
const valueText = ({ type, subtype, value, unserializableValue }: Protocol.Runtime.RemoteObject) =>
  value === ''
    ? 'an empty string'
    : (unserializableValue ??
      (subtype === 'null' ? 'null' : type === 'undefined' ? type : String(value)));

/**
 * Polls in the page's own world until truthy; promises are awaited, an exception or a rejection
 * counts as false.
 */
export async function expression(page: Page): Promise<void> {
  const { session, settings } = page;
  page.lastSeen = 'It never returned a value.';
  for (let ended = false; !ended; ) {
    void session.ended.then(() => {
      ended = true;
    });
    try {
      const { result, exceptionDetails } = await session.command('Runtime.evaluate', {
        expression: settings.waits.expression!,
        awaitPromise: true,
        allowUnsafeEvalBlockedByCSP: true,
      });
      if (!exceptionDetails && isTruthy(result)) return;
      page.lastSeen = exceptionDetails
        ? `It last threw: ${exceptionText(exceptionDetails)}`
        : `Its last value was ${valueText(result)}.`;
      if (exceptionDetails && isSyntaxError(exceptionDetails))
        throw invalid(
          `\`wait_for_expression\` is not valid JavaScript: ${exceptionDetails.exception?.description?.split('\n')[0]}.`,
        );
    } catch (error) {
      if (!isGone(error)) throw error;
    }
    await sleep(POLL_MS);
  }
}

export const networkIdle = ({ network }: Page) => network.idle();

export async function delay({ session, settings }: Page): Promise<void> {
  const over = new AbortController();
  void session.ended.then(() => over.abort());
  await sleep(settings.waits.delayMs, undefined, { signal: over.signal }).catch(() => {});
}
