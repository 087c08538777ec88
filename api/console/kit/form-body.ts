// Reads the body of our own forms. Strict, since browsers encode them in only one way; bounded in
// bytes and time.
import type { IncomingMessage } from 'node:http';
import { ApiError, invalid } from '../../../common/contract/errors.ts';
import { collectBytes } from '../../http/collect-bytes.ts';

/** Enough for an email address, a password and `next`. */
const MAX_BYTES = 16 * 1_024;
const WAIT_MS = 10_000;

/**
 * The bytes of a form. Calls `begin` once the headers are accepted, before it reads the body.
 * Rejects with ApiError `payload_too_large` or `validation_error`, or ClientClosed.
 */
export async function formBytes(
  request: IncomingMessage,
  maxBytes: number,
  begin = () => {},
): Promise<Buffer> {
  const tooLarge = () =>
    new ApiError('payload_too_large', `The form is larger than ${maxBytes} bytes.`);
  if (Number(request.headers['content-length'] ?? 0) > maxBytes) throw tooLarge();
  begin();
  return collectBytes(request, {
    maxBytes,
    tooLarge,
    total: {
      ms: WAIT_MS,
      late: () =>
        invalid(`The form was not received within ${WAIT_MS / 1_000} s. Submit it again.`),
    },
  });
}

/**
 * The fields of a urlencoded form in UTF-8; `get` returns an empty string for a missing one.
 * Rejects with ApiError for another type, a repeated field, invalid UTF-8, and more than 16 KiB;
 * with ClientClosed when the client disconnects.
 */
export async function formBody(request: IncomingMessage): Promise<{ get(name: string): string }> {
  const { headers } = request;
  const type = headers['content-type']?.toLowerCase().replaceAll(' ', '');
  if (
    type !== 'application/x-www-form-urlencoded' &&
    type !== 'application/x-www-form-urlencoded;charset=utf-8'
  )
    throw invalid('Send the form with `Content-Type: application/x-www-form-urlencoded`.');
  if ((headers['content-encoding'] ?? 'identity').toLowerCase() !== 'identity')
    throw invalid('Compressed forms are not supported.');
  const text = (await formBytes(request, MAX_BYTES)).toString('latin1');
  // Browsers percent-encode everything except printable ASCII.
  if (!/^[\x20-\x7e]*$/.test(text))
    throw invalid('The form contains characters that are not percent-encoded.');
  const fields = new Map<string, string>();
  for (const entry of text === '' ? [] : text.split('&')) {
    const at = entry.indexOf('=');
    const decode = (part: string) => decodeURIComponent(part.replaceAll('+', ' '));
    try {
      const name = decode(at < 0 ? entry : entry.slice(0, at));
      if (fields.has(name)) throw invalid(`The field \`${name.slice(0, 60)}\` is repeated.`);
      fields.set(name, at < 0 ? '' : decode(entry.slice(at + 1)));
    } catch (error) {
      throw error instanceof URIError ? invalid('The form is not valid UTF-8.', error) : error;
    }
  }
  return { get: name => fields.get(name) ?? '' };
}
