// Runs the caller's script in the page's own world, and waits for what it promises and for the
// document that it may move the page to.
import { randomUUID } from 'node:crypto';
import type { Protocol } from 'devtools-protocol';
import { invalid } from '../../common/contract/errors.ts';
import type { Session } from '../workers/session.ts';
import { AdditionLoad } from './addition-load.ts';
import { css } from './css.ts';
import { watchScriptNavigation } from './main-document.ts';
import type { Page } from './page.ts';
import { fonts, isGone, onceInOwnWorld } from './waits.ts';

const MAX_WORDS = 300;

/**
 * Pure. What the page says of an exception: its first line, bounded, in quotes. Chrome names the
 * exception of a script of another origin in `text` alone.
 */
export function pageWords({ exception, text }: Protocol.Runtime.ExceptionDetails): string {
  const { description, unserializableValue, type, value } = exception ?? {};
  const primitive =
    type === undefined
      ? text.replace(/^Uncaught (\(in promise\) )?/, '')
      : type === 'undefined'
        ? type
        : String(value);
  const [line] = (description ?? unserializableValue ?? primitive).split('\n');
  return JSON.stringify(line!.length > MAX_WORDS ? `${line!.slice(0, MAX_WORDS)}…` : line);
}

const threw = (details: Protocol.Runtime.ExceptionDetails) =>
  invalid(`\`javascript\` failed in the page with ${pageWords(details)}.`);

async function runText(session: Session, text: string): Promise<void> {
  const { exceptionDetails } = await session.command('Runtime.evaluate', {
    expression: text,
    awaitPromise: true,
  });
  if (exceptionDetails) throw threw(exceptionDetails);
}

/** What is written to the console when a script has run begins with this. */
export const SCRIPT_RAN = 'the script has run ';

/**
 * Writes `end` to the console when the script has run, which Chrome tells in order with what was
 * thrown.
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
 * Only what is thrown while the script runs counts, not what the page itself throws, nor what the
 * script leaves to run later.
 */
async function runFrom(page: Page, url: string): Promise<void> {
  const { session } = page;
  const load = new AdditionLoad(page, 'javascript', url);
  await session.command('Runtime.enable'); // tells what was thrown so far
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
 * Throws validation_error with the page's words when the script throws, rejects or is none;
 * render_failed or ssrf_blocked when it cannot be loaded.
 */
export async function javascript(page: Page): Promise<void> {
  const addition = page.settings.javascript!;
  const moves = watchScriptNavigation(page.session);
  const documents = page.navigation.documents();
  try {
    await (addition.kind === 'inline'
      ? runText(page.session, addition.text)
      : runFrom(page, addition.url));
  } catch (error) {
    if (!isGone(error)) throw error;
  }
  await moves.settled();
  await fonts(page);
  // A script that moves the page away has done its work; the render goes on with the new document,
  // styled like the one before.
  if (page.settings.css && page.navigation.documents() > documents) await css(page);
}
