// Removes the caller's values from an error message before it is logged, because they may be
// secrets. Pure.

const MAX_LENGTH = 500;

/**
 * Names are in backticks, values are JSON strings in quotes. The text after "is not valid
 * JavaScript" quotes the expression.
 */
const PARTS = /(`[^`]*`)|"(?:[^"\\]|\\.)*(?:"|$)|( is not valid JavaScript): .*/gs;

/**
 * The message without values, at most 500 characters. When a stray backtick or a quote in a name
 * makes the two ambiguous, the message is cut before the first quote.
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
