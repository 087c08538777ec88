// The header fields that the proxy forwards (RFC 9110 section 7.6.1). Pure functions on the flat
// lists of node:http.

// node:http answers Expect itself, so the proxy does not forward it either.
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
 * The end-to-end fields in their order and spelling: without hop-by-hop fields, fields named by
 * Connection, and Proxy-*.
 */
export function endToEnd(raw: string[]): [string, string][] {
  const all = pairs(raw);
  const named = all
    .filter(([name]) => name.toLowerCase() === 'connection')
    .flatMap(([, value]) => value.toLowerCase().split(','));
  // Dropping a length that Connection names would leave a body without an end.
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

/** Approximate size of a message head on the wire, for the byte quota. */
export const headBytes = (raw: string[]) => raw.reduce((sum, text) => sum + text.length + 2, 0);
