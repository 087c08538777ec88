// What a request says of its body before any of it is read. Pure.
import type { IncomingHttpHeaders } from 'node:http';
import { ApiError, invalid } from '../../common/contract/errors.ts';

/** How to mend a body that is missing or too large: what a good one holds. */
export interface BodyWords {
  missing: string;
  tooLarge: string;
}

const OF_A_RENDER: BodyWords = {
  missing: 'Send a JSON object with `html` or `url`.',
  tooLarge: 'Send less html, or let the page load its images from a URL.',
};

export const bodyTooLarge = (maxBytes: number, words = OF_A_RENDER) =>
  new ApiError(
    'payload_too_large',
    `The request body is larger than ${maxBytes} bytes. ${words.tooLarge}`,
  );

const missing = (words: BodyWords) => invalid(`The request body is missing. ${words.missing}`);

const expected = 'Send the body as `Content-Type: application/json`, in UTF-8.';

function checkType(header: string | undefined): void {
  if (header === undefined) throw invalid(`The header \`Content-Type\` is missing. ${expected}`);
  const [type = '', ...parameters] = header.split(';').map(part => part.trim().toLowerCase());
  if (type !== 'application/json')
    throw invalid(`The header \`Content-Type\` names another type. ${expected}`);
  for (const parameter of parameters) {
    const charset = /^charset=(.*)$/.exec(parameter)?.[1];
    if (charset !== undefined && !/^("?)utf-?8\1$/.test(charset))
      throw invalid(`The header \`Content-Type\` names another charset. ${expected}`);
  }
}

/**
 * The announced length, undefined when the body comes in chunks. Throws ApiError when it will not
 * be read.
 */
export function checkBodyHeaders(
  headers: IncomingHttpHeaders,
  maxBytes: number,
  words = OF_A_RENDER,
): number | undefined {
  const length =
    headers['content-length'] === undefined ? undefined : Number(headers['content-length']);
  if (headers['transfer-encoding'] === undefined && !length) throw missing(words);
  checkType(headers['content-type']);
  if ((headers['content-encoding'] ?? 'identity').toLowerCase() !== 'identity')
    throw invalid('The header `Content-Encoding` is not supported. Send the body uncompressed.');
  if (length !== undefined && length > maxBytes) throw bodyTooLarge(maxBytes, words);
  return length;
}

/** Throws ApiError for a body of no bytes, which a chunked request can have. */
export function checkNotEmpty(bytes: number, words = OF_A_RENDER): void {
  if (bytes === 0) throw missing(words);
}
