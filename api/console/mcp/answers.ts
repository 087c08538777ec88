// What the tool answers, in the words and parts that clients read: some show the text alone, some
// the link, some hand all of it to a model. Pure.
import type { CallToolResult } from '@modelcontextprotocol/server';
import type { ApiError } from '../../../common/contract/errors.ts';
import type { RenderResult } from './tool.ts';

export const MIME_TYPE = 'application/pdf';

/** Read back by `resources/read`, by the same person alone. */
export const resourceUri = (renderId: string): string => `render://${renderId}`;

const size = (bytes: number) =>
  bytes < 2 ** 20 ? `${Math.ceil(bytes / 1_024)} KiB` : `${(bytes / 2 ** 20).toFixed(1)} MiB`;
const untilMinute = (iso: string) => `${iso.slice(0, 16).replace('T', ' ')} UTC`;

export interface Success {
  result: RenderResult;
  sandbox: boolean;
  /** The PDF, when it goes into the answer. */
  embedded?: Buffer | undefined;
  /** Said after all else: why there is no PDF in the answer although one was asked for. */
  note?: string | undefined;
}

export const embeddedPdf = (renderId: string, pdf: Buffer) => ({
  uri: resourceUri(renderId),
  mimeType: MIME_TYPE,
  blob: pdf.toString('base64'),
});

export function success({ result, sandbox, embedded, note }: Success): CallToolResult {
  const { url, pages, bytes, filename, expires_at, render_id } = result;
  const text = [
    `The PDF is ready: ${filename}, ${pages} ${pages === 1 ? 'page' : 'pages'}, ${size(bytes)}${sandbox ? ', with the sandbox watermark' : ''}.`,
    `Download it until ${untilMinute(expires_at)}: ${url}`,
    ...(note === undefined ? [] : [note]),
  ].join('\n');
  return {
    content: [
      { type: 'text', text },
      {
        type: 'resource_link',
        uri: resourceUri(render_id),
        name: filename,
        mimeType: MIME_TYPE,
        size: bytes,
      },
      ...(embedded
        ? [{ type: 'resource' as const, resource: embeddedPdf(render_id, embedded) }]
        : []),
    ],
    structuredContent: { ...result },
  };
}

/** Nobody waits for it. */
export const CANCELLED: CallToolResult = {
  isError: true,
  content: [{ type: 'text', text: 'The call was cancelled.' }],
};

/**
 * For people and models alike. No `structuredContent`: clients would hold it against the schema of
 * a success.
 */
export function failure(
  { code, reason, message, headers }: ApiError,
  requestId: string,
): CallToolResult {
  const retryAfter = headers['Retry-After'];
  const text = [
    `${code}${reason ? ` (${reason})` : ''}: ${message}`,
    // Some sentences say it themselves.
    ...(retryAfter === undefined || message.includes(` in ${retryAfter} s`)
      ? []
      : [`Try again in ${retryAfter} s.`]),
    `Request id: ${requestId}`,
  ].join('\n');
  return { isError: true, content: [{ type: 'text', text }] };
}
