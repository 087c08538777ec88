// Limits the console output of a page. Too much output does not fail the render and must not slow
// others: beyond the limit Chrome stops sending messages.
import type { SlotPage } from '../browser/slot-page.ts';

/**
 * Further messages are dropped. Chrome stores up to 1,000 messages and sends them when the API
 * enables the console.
 */
const MAX_EVENTS = 5_000;
const MAX_BYTES = 4 * 2 ** 20;

export class ConsoleOutput {
  readonly #page: SlotPage;
  readonly #sendLine: (text: string) => void;
  #events = 0;
  #bytes = 0;
  #state: 'open' | 'disabling' | 'cut' = 'open';

  /** `sendLine` sends the worker's own console message to the API. */
  constructor(page: SlotPage, sendLine: (text: string) => void) {
    this.#page = page;
    this.#sendLine = sendLine;
  }

  /**
   * Counts a message or an error of the page. Returns false when it exceeds the limit and must not
   * be forwarded.
   */
  take(bytes: number): boolean {
    this.#events++;
    this.#bytes += bytes;
    if (this.#events <= MAX_EVENTS && this.#bytes <= MAX_BYTES) return true;
    if (this.#state !== 'disabling') this.#cut();
    return false;
  }

  #cut(): void {
    if (this.#state === 'open') this.#sendLine('console output was truncated');
    this.#state = 'disabling';
    const disabled = () => {
      this.#state = 'cut';
    };
    this.#page.pipe.command('Runtime.disable', {}, this.#page.sessionId).then(disabled, disabled);
  }
}
