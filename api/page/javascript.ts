// Runs the caller's script in the page's main world, and waits for its promise and for a navigation
// that it starts.
import { randomUUID } from 'node:crypto';
import type { Protocol } from 'devtools-protocol';
import { invalid } from '../../common/contract/errors.ts';
import type { Session } from '../workers/session.ts';
import { AdditionLoad } from './addition-load.ts';
import { css } from './css.ts';
import { watchScriptNavigation } from './main-document.ts';
import type { Page } from './page.ts';
import { fonts, isGone, onceInOwnWorld } from './waits.ts';

const MAX_CHARS = 300;

/**
 * Pure. The first line of an exception, bounded, in quotes. For a script of another origin only
 * `text` has it.
 */
export function exceptionText({ exception, text }: Protocol.Runtime.ExceptionDetails): string {
  const { description, unserializableValue, type, value } = exception ?? {};
  const primitive =
    type === undefined
      ? text.replace(/^Uncaught (\(in promise\) )?/, '')
      : type === 'undefined'
        ? type
        : String(value);
  const [line] = (description ?? unserializableValue ?? primitive).split('\n');
  return JSON.stringify(line!.length > MAX_CHARS ? `${line!.slice(0, MAX_CHARS)}…` : line);
}

/** The cause of an error: what the inline script threw, for the render log. */
export class ScriptThrew extends Error {}

const threw = (details: Protocol.Runtime.ExceptionDetails, cause?: ScriptThrew) =>
  invalid(`\`javascript\` failed in the page with ${exceptionText(details)}.`, cause);
const inlineThrew = (details: Protocol.Runtime.ExceptionDetails) =>
  threw(details, new ScriptThrew(`javascript: ${JSON.parse(exceptionText(details))}`));

/**
 * A script with `await` runs as in a browser's console, which allows it at the top level but does
 * not await a promise that is the value of the script.
 */
async function runText(session: Session, text: string): Promise<void> {
  const replMode = /\bawait\b/.test(text);
  const { result, exceptionDetails } = await session.command('Runtime.evaluate', {
    expression: text,
    awaitPromise: true,
    ...(replMode && { replMode }),
  });
  if (exceptionDetails) throw inlineThrew(exceptionDetails);
  if (!replMode || result.subtype !== 'promise') return;
  const settled = await session.command('Runtime.callFunctionOn', {
    functionDeclaration: 'function () { return this }',
    objectId: result.objectId!,
    awaitPromise: true,
  });
  if (settled.exceptionDetails) throw inlineThrew(settled.exceptionDetails);
}

/** The prefix of the console message that marks the end of a script. */
export const SCRIPT_RAN = 'the script has run ';

/**
 * Writes `end` to the console after the script: Chrome reports it in order with exceptions.
 */
const ADD_SCRIPT = `(url, end) => new Promise(resolve => {
  const element = document.createElementNS('http://www.w3.org/1999/xhtml', 'script');
  element.onload = () => {
    console.debug(end);
    resolve(true);
  };
  element.onerror = () => resolve(false);
  element.src = url;
  (document.documentElement ?? document).append(element);
})`;

const bare = (url = '') => url.split('#')[0];
const isOf = (
  script: string,
  { exceptionDetails: { url, stackTrace } }: Protocol.Runtime.ExceptionThrownEvent,
) =>
  [url, ...(stackTrace?.callFrames.map(frame => frame.url) ?? [])].some(
    each => bare(each) === bare(script),
  );

/**
 * Only exceptions while the script runs count, not those of the page, nor of the script's later
 * callbacks.
 */
async function runFrom(page: Page, url: string): Promise<void> {
  const { session } = page;
  const load = new AdditionLoad(page, 'javascript', url);
  await session.command('Runtime.enable'); // also reports earlier exceptions
  const end = SCRIPT_RAN + randomUUID();
  let over = false;
  let thrown: Protocol.Runtime.ExceptionThrownEvent | undefined;
  session.on('Runtime.consoleAPICalled', ({ args }) => {
    over ||= args[0]?.value === end;
  });
  session.on('Runtime.exceptionThrown', event => {
    if (!over && isOf(url, event)) thrown ??= event;
  });
  const problem = await load.problem(await onceInOwnWorld<boolean>(session, ADD_SCRIPT, url, end));
  if (problem) throw problem;
  if (thrown) throw threw(thrown.exceptionDetails);
  await session.command('Runtime.disable');
}

/**
 * Throws validation_error with the exception when the script throws, rejects or has a syntax error;
 * render_failed or ssrf_blocked when it cannot be loaded.
 */
export async function javascript(page: Page): Promise<void> {
  const addition = page.settings.javascript!;
  const navigation = watchScriptNavigation(page.session);
  const documents = page.navigation.documents();
  try {
    await (addition.kind === 'inline'
      ? runText(page.session, addition.text)
      : runFrom(page, addition.url));
  } catch (error) {
    if (!isGone(error)) throw error;
  }
  await navigation.settled();
  await fonts(page);
  // After a navigation by the script, the render continues with the new document, styled like the
  // previous one.
  if (page.settings.css && page.navigation.documents() > documents) await css(page);
}
