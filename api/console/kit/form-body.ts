// Reads what a form of ours sends. Strict, since browsers write it in one way only; bounded in
// bytes and time; nothing is buffered past the limit.
import type { IncomingMessage } from 'node:http';
import { ApiError, invalid } from '../../../common/contract/errors.ts';
import { collectBytes } from '../../http/collect-bytes.ts';

/** A password and an address, and `next`. */
const MAX_BYTES = 16 * 1_024;
const WAIT_MS = 10_000;

/**
 * The bytes of a form. `begin` is called when the headers allow for it, before anything is read.
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
      late: () => invalid(`The form did not arrive within ${WAIT_MS / 1_000} s. Send it again.`),
    },
  });
}

/**
 * The fields of a urlencoded form in UTF-8; `get` gives the empty text for one that is missing.
 * Rejects with ApiError for another type, a field that comes twice, bytes that are no UTF-8, and
 * more than 16 KiB; with ClientClosed when the other end goes away.
 */
export async function formBody(request: IncomingMessage): Promise<{ get(name: string): string }> {
  const { headers } = request;
  const type = headers['content-type']?.toLowerCase().replaceAll(' ', '');
  if (
    type !== 'application/x-www-form-urlencoded' &&
    type !== 'application/x-www-form-urlencoded;charset=utf-8'
  )
    throw invalid(
      'The header `Content-Type` must be `application/x-www-form-urlencoded`, as a form sends it.',
    );
  if ((headers['content-encoding'] ?? 'identity').toLowerCase() !== 'identity')
    throw invalid('The form must not be compressed.');
  const text = (await formBytes(request, MAX_BYTES)).toString('latin1');
  // A browser escapes whatever is not plain ASCII.
  if (!/^[\x20-\x7e]*$/.test(text)) throw invalid('The form has characters that are not escaped.');
  const fields = new Map<string, string>();
  for (const entry of text === '' ? [] : text.split('&')) {
    const at = entry.indexOf('=');
    const decode = (part: string) => decodeURIComponent(part.replaceAll('+', ' '));
    try {
      const name = decode(at < 0 ? entry : entry.slice(0, at));
      if (fields.has(name)) throw invalid(`The field \`${name.slice(0, 60)}\` comes twice.`);
      fields.set(name, at < 0 ? '' : decode(entry.slice(at + 1)));
    } catch (error) {
      throw error instanceof URIError ? invalid('The form is not in UTF-8.', error) : error;
    }
  }
  return { get: name => fields.get(name) ?? '' };
}
