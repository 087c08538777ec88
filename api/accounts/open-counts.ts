// Counts what each account has open in this process.

export class OpenCounts {
  readonly #open = new Map<string, number>();

  of(accountId: string): number {
    return this.#open.get(accountId) ?? 0;
  }

  /** Counts one more. Returns a function that ends it; call it once. */
  enter(accountId: string): () => void {
    this.#open.set(accountId, this.of(accountId) + 1);
    return () => {
      const left = this.of(accountId) - 1;
      if (left > 0) this.#open.set(accountId, left);
      else this.#open.delete(accountId);
    };
  }
}
