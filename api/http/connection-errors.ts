// Responses to requests that never reach Koa: broken or oversized headers, unknown methods,
// requests that do not end. Node's own responses to them lack the error envelope.
import { STATUS_CODES } from 'node:http';
import { ApiError, invalid } from '../../common/contract/errors.ts';
import { envelope } from './errors.ts';

const SENTENCES: Record<string, string> = {
  HPE_HEADER_OVERFLOW:
    'The headers of the request are larger than 16 KiB. Send fewer or shorter headers.',
  HPE_CHUNK_EXTENSIONS_OVERFLOW:
    'The chunk extensions of the request are too large. Do not send any.',
  ERR_HTTP_REQUEST_TIMEOUT: 'The request did not arrive in time. Send it without pauses.',
};

/**
 * The error of Node's `clientError` event; a parse error has the bytes that were read last, and its
 * position in them.
 */
export interface BrokenRequest extends NodeJS.ErrnoException {
  rawPacket?: Buffer;
  bytesParsed?: number;
}

/**
 * A request line (RFC 9112 section 3): a method, which is a token of any letters, a target and a
 * version.
 */
const REQUEST_LINE = /^[\w!#$%&'*+.^`|~-]{1,64} (\S+) HTTP\/1\.[01]\r?\n/;
const MAX_REQUEST_LINE_BYTES = 16 * 1_024;

export const badTarget = (): ApiError => invalid('The request target is not a valid path or URL.');

/** `Allow` is empty: the target of CONNECT is another host, for which no method is allowed. */
export const noProxy = (): ApiError =>
  new ApiError('method_not_allowed', 'CONNECT is not supported: this server is not a proxy.', {
    headers: { Allow: '' },
  });

/**
 * Path and query without fragment: Koa's parser throws on anything else. Undefined when the target
 * has no path.
 */
export function readTarget(target: string): string | undefined {
  if (target.startsWith('/') && !/[#\s]/.test(target)) return target;
  const url = URL.parse(target.startsWith('/') ? `http://localhost${target}` : target);
  return url?.pathname.startsWith('/') ? url.pathname + url.search : undefined;
}

/**
 * The target of the request at which Node's parser stopped; undefined when there is no whole
 * request line.
 */
function targetOf({ rawPacket, bytesParsed = 0 }: BrokenRequest): string | undefined {
  if (!rawPacket) return undefined;
  const start = rawPacket.subarray(0, bytesParsed).lastIndexOf('\n') + 1;
  return REQUEST_LINE.exec(
    rawPacket.toString('latin1', start, start + MAX_REQUEST_LINE_BYTES),
  )?.[1];
}

/** Node's codes for a method of no protocol, and for one of RTSP. */
const UNKNOWN_METHOD: ReadonlySet<string | undefined> = new Set([
  'HPE_INVALID_METHOD',
  'HPE_INVALID_CONSTANT',
]);

/**
 * Node's parser accepts a fixed list of methods and reports any other as broken HTTP. Those get the
 * error for their path.
 */
export function brokenRequest(
  error: BrokenRequest,
  methodError: (path: string) => ApiError,
): ApiError {
  const target = UNKNOWN_METHOD.has(error.code) ? targetOf(error) : undefined;
  if (target === undefined)
    return invalid(SENTENCES[error.code ?? ''] ?? 'The request is not valid HTTP/1.1.');
  const path = readTarget(target)?.split('?')[0];
  return path === undefined ? badTarget() : methodError(path);
}

/**
 * The whole response as bytes. The connection ends with it, since the start of a next request is
 * unknown.
 */
export function rawAnswer(error: ApiError, requestId: string, publicUrl: string): Buffer {
  const body = envelope(error, requestId, publicUrl);
  const head = [
    `HTTP/1.1 ${error.status} ${STATUS_CODES[error.status]}`,
    ...Object.entries(error.headers).map(([name, value]) => `${name}: ${value}`),
    'Content-Type: application/json; charset=utf-8',
    `Content-Length: ${body.length}`,
    `X-Request-Id: ${requestId}`,
    'X-Content-Type-Options: nosniff',
    'Cache-Control: no-store',
    'Connection: close',
  ];
  return Buffer.concat([Buffer.from(`${head.join('\r\n')}\r\n\r\n`), body]);
}
