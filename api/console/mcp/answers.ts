// The results of the tool. They carry text, a link and structured data, since some clients show the
// text only, some the link, and some pass everything to a model. Pure.
import type { CallToolResult } from '@modelcontextprotocol/server';
import type { ApiError } from '../../../common/contract/errors.ts';
import type { RenderResult } from './tool.ts';

export const MIME_TYPE = 'application/pdf';

/** The URI for `resources/read`, which returns the PDF to the same user only. */
export const resourceUri = (renderId: string): string => `render://${renderId}`;

const size = (bytes: number) =>
  bytes < 2 ** 20 ? `${Math.ceil(bytes / 1_024)} KiB` : `${(bytes / 2 ** 20).toFixed(1)} MiB`;
const minuteOf = (iso: string) => `${iso.slice(0, 16).replace('T', ' ')} UTC`;

export interface Success {
  result: RenderResult;
  sandbox: boolean;
  /** The PDF, when it is part of the result. */
  embedded?: Buffer | undefined;
  /** The last line of the text: why the requested PDF is not embedded. */
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
    `Download link (expires ${minuteOf(expires_at)}): ${url}`,
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

/** No client waits for this result. */
export const CANCELLED: CallToolResult = {
  isError: true,
  content: [{ type: 'text', text: 'The call was canceled.' }],
};

/**
 * The text is for people and models. Without `structuredContent`, which clients would validate
 * against the schema of a success.
 */
export function failure(
  { code, reason, message, headers }: ApiError,
  requestId: string,
): CallToolResult {
  const retryAfter = headers['Retry-After'];
  const text = [
    `${code}${reason ? ` (${reason})` : ''}: ${message}`,
    // Some messages already contain it.
    ...(retryAfter === undefined || message.includes(` in ${retryAfter} s`)
      ? []
      : [`Try again in ${retryAfter} s.`]),
    `Request ID: ${requestId}`,
  ].join('\n');
  return { isError: true, content: [{ type: 'text', text }] };
}
