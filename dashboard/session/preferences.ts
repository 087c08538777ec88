// Preferences of this browser in localStorage. Without storage, as in some private windows, they
// last for the visit.

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
    // It lasts for this visit.
  }
}
