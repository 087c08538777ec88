// The progress of `pressroom batch` on standard error: a bar on a terminal, lines elsewhere.

const BAR_WIDTH = 30;
const DRAW_EVERY_MS = 200;
const LINE_EVERY_MS = 5_000;

const count = (value: number) => value.toLocaleString('en-US');

interface Output {
  isTTY?: boolean;
  write(text: string): unknown;
}

export class BatchProgress {
  readonly #output: Output;
  readonly #timer: NodeJS.Timeout;
  #submitted = 0;
  #isSubmitting = true;
  #saved = 0;
  #failed = 0;
  #shown = '';

  constructor(output: Output) {
    this.#output = output;
    this.#timer = setInterval(() => this.#show(), output.isTTY ? DRAW_EVERY_MS : LINE_EVERY_MS);
  }

  submitted(requests: number): void {
    this.#submitted += requests;
  }

  allSubmitted(): void {
    this.#isSubmitting = false;
  }

  saved(pdfs: number): void {
    this.#saved += pdfs;
  }

  failed(): void {
    this.#failed++;
  }

  /** `120 of 1,000 PDFs are in invoices, 2 failed`. More is submitted after a `+`. */
  summary(directory?: string): string {
    const total = `${count(this.#submitted)}${this.#isSubmitting ? '+' : ''}`;
    const where = directory === undefined ? '' : ` are in ${directory}`;
    const failed = this.#failed > 0 ? `, ${count(this.#failed)} failed` : '';
    return `${count(this.#saved)} of ${total} PDFs${where}${failed}`;
  }

  /** Removes the bar, so that a message can be printed. */
  clear(): void {
    if (this.#output.isTTY && this.#shown !== '') this.#output.write('\r\x1b[K');
    this.#shown = '';
  }

  end(): void {
    clearInterval(this.#timer);
    this.clear();
  }

  #show(): void {
    if (this.#submitted === 0) return;
    const text = this.summary();
    if (this.#output.isTTY) {
      const part = (this.#saved + this.#failed) / this.#submitted;
      const full = Math.min(BAR_WIDTH, Math.floor(part * BAR_WIDTH));
      this.#output.write(`\r[${'#'.repeat(full).padEnd(BAR_WIDTH, '.')}] ${text}\x1b[K`);
    } else if (text !== this.#shown) this.#output.write(`${text}\n`);
    this.#shown = text;
  }
}
