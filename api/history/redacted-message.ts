// The sentence of a refusal as the log may keep it. What the caller reads quotes the caller's own
// values, and those may be secrets. Pure.

const MAX_LENGTH = 500;

/**
 * Names stand in backticks, values in quotes in JSON's notation. What comes after the words on an
 * expression is the expression's.
 */
const PARTS = /(`[^`]*`)|"(?:[^"\\]|\\.)*(?:"|$)|( is not valid JavaScript): .*/gs;

/**
 * The sentence without the values in it, at most 500 characters. A backtick may stand alone, and a
 * quote in a name: where the two cannot be told apart, it ends before the first quote.
 */
export function redactedMessage(message: string): string {
  let clear = true;
  const without = message.replace(PARTS, (_, name?: string, expression?: string) => {
    if (name?.includes('"')) clear = false;
    return name ?? (expression === undefined ? '"…"' : `${expression}.`);
  });
  return (clear ? without : `${message.slice(0, message.indexOf('"'))}…`)
    .slice(0, MAX_LENGTH)
    .toWellFormed();
}
