// What this browser remembers between visits. A browser that keeps nothing (private windows may not) forgets, and that is all.

const PREFIX = 'pressroom-';

export function remembered(name: string): string | undefined {
  try {
    return localStorage.getItem(PREFIX + name) ?? undefined;
  } catch {
    return undefined;
  }
}

export function remember(name: string, value: string): void {
  try {
    localStorage.setItem(PREFIX + name, value);
  } catch {
    // It lasts for this visit then.
  }
}
