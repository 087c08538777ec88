// Counts what each account has open in this process.

export class OpenCounts {
  readonly #open = new Map<string, number>();

  of(accountId: string): number {
    return this.#open.get(accountId) ?? 0;
  }

  /** Returns the new count. */
  add(accountId: string, more: number): number {
    const count = this.of(accountId) + more;
    if (count > 0) this.#open.set(accountId, count);
    else this.#open.delete(accountId);
    return count;
  }

  /** Counts `more`. Returns a function that ends them; call it once. */
  enter(accountId: string, more = 1): () => void {
    this.add(accountId, more);
    return () => this.add(accountId, -more);
  }
}
