// What a page writes to its console, within a limit. Writing in a loop fails no render and must not
// slow others: beyond the limit Chrome stops sending the messages.
import type { SlotPage } from '../browser/slot-page.ts';

/**
 * More messages than this, or more bytes, are cut. Chrome keeps 1,000 and sends them when an API
 * asks for them.
 */
const MAX_EVENTS = 5_000;
const MAX_BYTES = 4 * 2 ** 20;

export class ConsoleOutput {
  readonly #page: SlotPage;
  readonly #sendLine: (text: string) => void;
  #events = 0;
  #bytes = 0;
  #state: 'open' | 'disabling' | 'cut' = 'open';

  /** `sendLine` sends a console message of the worker's own to the API. */
  constructor(page: SlotPage, sendLine: (text: string) => void) {
    this.#page = page;
    this.#sendLine = sendLine;
  }

  /**
   * Counts a message or an error of the page. False when it is beyond the limit and must not be
   * passed on.
   */
  take(bytes: number): boolean {
    this.#events++;
    this.#bytes += bytes;
    if (this.#events <= MAX_EVENTS && this.#bytes <= MAX_BYTES) return true;
    if (this.#state !== 'disabling') this.#cut();
    return false;
  }

  #cut(): void {
    if (this.#state === 'open') this.#sendLine('console output was cut');
    this.#state = 'disabling';
    const disabled = () => {
      this.#state = 'cut';
    };
    this.#page.pipe.command('Runtime.disable', {}, this.#page.sessionId).then(disabled, disabled);
  }
}
