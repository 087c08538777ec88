// Which header fields of a message go on to the other side of the proxy (RFC 9110 section 7.6.1).
// Pure, on the flat lists of node:http.

// Expect is answered by our own server, so it ends here like the others.
const HOP_BY_HOP = new Set([
  'connection',
  'keep-alive',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'expect',
]);

const pairs = (raw: string[]) =>
  Array.from({ length: raw.length / 2 }, (_, at) => [raw[2 * at]!, raw[2 * at + 1]!] as const);

/**
 * The fields that are meant for the far end, in their order and writing: without hop-by-hop fields,
 * those that Connection names, and Proxy-*.
 */
export function endToEnd(raw: string[]): [string, string][] {
  const all = pairs(raw);
  const named = all
    .filter(([name]) => name.toLowerCase() === 'connection')
    .flatMap(([, value]) => value.toLowerCase().split(','));
  // A Connection field that names the length would leave a body without an end.
  const dropped = new Set([
    ...HOP_BY_HOP,
    ...named.map(name => name.trim()).filter(name => name !== 'content-length'),
  ]);
  return all
    .filter(
      ([name]) => !dropped.has(name.toLowerCase()) && !name.toLowerCase().startsWith('proxy-'),
    )
    .map(([name, value]) => [name, value]);
}

/** The bytes that a message's head takes on the wire, near enough to count by. */
export const headBytes = (raw: string[]) => raw.reduce((sum, text) => sum + text.length + 2, 0);
