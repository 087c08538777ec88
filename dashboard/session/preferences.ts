// Preferences of this browser in localStorage. Some private windows have no storage; there a
// preference lasts until the page is closed.

const PREFIX = 'pressroom-';

export function readPreference(name: string): string | undefined {
  try {
    return localStorage.getItem(PREFIX + name) ?? undefined;
  } catch {
    return undefined;
  }
}

export function savePreference(name: string, value: string): void {
  try {
    localStorage.setItem(PREFIX + name, value);
  } catch {
    // No storage: the preference lasts until the page is closed.
  }
}
