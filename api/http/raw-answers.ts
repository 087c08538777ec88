// Answers to what never became a request: broken or oversized headers, requests that do not end. Node would answer them bare; these carry the envelope.
import { type ApiError, invalid } from '../contract/errors.ts';
import { envelope } from './errors.ts';

const SENTENCES: Record<string, string> = {
  HPE_HEADER_OVERFLOW: 'The headers of the request are larger than 16 KiB. Send fewer or shorter headers.',
  HPE_CHUNK_EXTENSIONS_OVERFLOW: 'The chunk extensions of the request are too large. Send none.',
  ERR_HTTP_REQUEST_TIMEOUT: 'The request did not arrive in time. Send it without pauses.',
};

/** `errorCode` is the one of Node's `clientError`. */
export const brokenRequest = (errorCode: string | undefined): ApiError =>
  invalid(SENTENCES[errorCode ?? ''] ?? 'The request is not valid HTTP/1.1.');

/** The whole answer as it goes over the wire. The connection ends with it, since nobody knows where a next request would begin. */
export function rawAnswer(error: ApiError, requestId: string): Buffer {
  const body = envelope(error, requestId);
  const head = [
    `HTTP/1.1 ${error.status} Bad Request`,
    'Content-Type: application/json; charset=utf-8',
    `Content-Length: ${body.length}`,
    `X-Request-Id: ${requestId}`,
    'X-Content-Type-Options: nosniff',
    'Cache-Control: no-store',
    'Connection: close',
  ];
  return Buffer.concat([Buffer.from(`${head.join('\r\n')}\r\n\r\n`), body]);
}
