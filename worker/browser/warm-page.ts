// The warm page of a slot: a sealed page, kept beside the fresh page for the next static document of
// one account. Owns how a page is sealed and reset, and when it is closed.
import type { Log } from '../../common/log.ts';
import { CRASHED, eventOf, isProcessGone } from './cdp-pipe.ts';
import { type OpenPage, setWindowState } from './slot-page.ts';

/** A page whose reset takes longer is closed, because the slot accepts no render meanwhile. */
const RESET_MS = 1_000;

/** When a page is closed. */
export interface WarmPageLimits {
  renders: number;
  /** Without a document for it. */
  idleMs: number;
  /** Memory of the renderers of its Chrome after a render. */
  bytes: number;
}

interface WarmPageDeps {
  limits: WarmPageLimits;
  close(page: OpenPage): void;
  /** Memory of the renderers of its Chrome. */
  rendererBytes(): number;
  /** A sealed page tried to load something: its document, if it has one, was not static. */
  onViolation(hasDocument: boolean): void;
  onChange(): void;
  log: Log;
}

/**
 * Removes the document by navigation to a blank page, and resolves when that has loaded. A document
 * that replaces another one without a navigation would inherit its quirks mode, its default style
 * and its Content-Security-Policy. Rejects when Chrome fails, or takes longer than RESET_MS.
 */
async function resetPage(page: OpenPage, onCrash: () => void): Promise<void> {
  const { pipe, sessionId } = page;
  const loaded = Promise.withResolvers<void>();
  let navigated = false;
  pipe.route(sessionId, frame => {
    const event = eventOf(frame);
    if (event === 'Page.frameNavigated') navigated = true;
    else if (event === 'Page.frameStoppedLoading' && navigated) loaded.resolve();
    else if (event === CRASHED || isProcessGone(event, frame)) {
      loaded.reject(new Error("the page's process crashed"));
      onCrash();
    }
  });
  const commands: Promise<unknown>[] = [
    pipe.command('Page.navigate', { url: 'about:blank' }, sessionId),
  ];
  if (page.shown) commands.push(setWindowState(page, 'minimized'));
  page.shown = false;
  const late = new Error(`the page was not reset within ${RESET_MS} ms`);
  const timer = setTimeout(() => loaded.reject(late), RESET_MS);
  const reset = Promise.all([loaded.promise, ...commands]);
  // A page that is closed meanwhile may not answer.
  await Promise.race([reset, page.gone.promise]).finally(() => clearTimeout(timer));
}

export class WarmPage {
  readonly #deps: WarmPageDeps;
  /** The page that waits for the next document, or is reset for it. */
  #page: OpenPage | undefined;
  #account: string | undefined;
  #bytes = 0;
  #isReady = false;
  #idle: NodeJS.Timeout | undefined;

  constructor(deps: WarmPageDeps) {
    this.#deps = deps;
  }

  /** The account whose static document it can render now. */
  get account(): string | undefined {
    return this.#isReady ? this.#account : undefined;
  }

  /** Memory of the renderers at the end of its last render. */
  get bytes(): number {
    return this.#bytes;
  }

  get page(): OpenPage | undefined {
    return this.#page;
  }

  /** The page for a render of its account; the caller closes it or keeps it afterwards. */
  take(): OpenPage {
    clearTimeout(this.#idle);
    this.#isReady = false;
    const page = this.#page!;
    this.#page = undefined;
    return page;
  }

  /**
   * Seals a fresh page for the rest of its life: no script of a document runs in it, and its guard
   * is never opened. Does not wait: Chrome handles later commands after this one.
   */
  seal(page: OpenPage): void {
    page.sealed = true;
    let hasTried = false;
    page.guard.onDenied(() => {
      if (hasTried) return; // a document may try many loads
      hasTried = true;
      this.#deps.onViolation(page.claimed);
      page.keepFor = undefined;
      if (page.claimed) page.onEnd?.('not_static', 'the document tried to load something');
      else if (page === this.#page) this.close();
    });
    page.pipe
      .command('Emulation.setScriptExecutionDisabled', { value: true }, page.sessionId)
      .catch((error: Error) => page.replaceChrome(`a page could not be sealed: ${error.message}`));
  }

  /**
   * Keeps the page for `account` after its render, or closes it. Resolves when it is reset or
   * closed; never rejects.
   */
  async keep(page: OpenPage, account: string): Promise<void> {
    this.close();
    this.#bytes = this.#deps.rendererBytes();
    const { limits } = this.#deps;
    if (page.renders >= limits.renders || this.#bytes > limits.bytes) return this.#deps.close(page);
    this.#page = page;
    this.#account = account;
    try {
      await resetPage(page, () => page === this.#page && this.close());
    } catch (error) {
      if (page === this.#page) {
        this.#deps.log.warn({ reason: (error as Error).message }, 'closed a sealed page');
        this.close();
      }
    }
    if (page !== this.#page) return;
    this.#isReady = true;
    this.#idle = setTimeout(() => this.close(), limits.idleMs).unref();
    page.gone.resolve();
  }

  /** Closes the page, if there is one. */
  close(): void {
    clearTimeout(this.#idle);
    const page = this.#page;
    this.#page = undefined;
    this.#isReady = false;
    if (!page) return;
    this.#deps.close(page);
    this.#deps.onChange();
  }
}
