// Where a command writes a PDF: a file that is never incomplete, or standard output.
import { createWriteStream } from 'node:fs';
import { rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { ReadableStream as WebReadableStream } from 'node:stream/web';
import { CliError } from './failure.ts';
import { RETRY_AFTER_MS, RequestError } from './http-api.ts';

/** fetch reports a connection that breaks within a body as a TypeError. */
const brokenDownload = (cause: TypeError) =>
  new RequestError('The connection to Pressroom broke during a download. Try again.', {
    retryAfterMs: RETRY_AFTER_MS,
    cause,
  });

interface SaveOptions {
  /** The temporary file, in the directory of `output`. */
  draft?: string;
  signal?: AbortSignal;
}

/** Its name is short, so that it is valid whenever the name of the output is. */
const defaultDraft = (output: string) => join(dirname(output), `.pressroom.${process.pid}.part`);

/** Writes to a temporary file and renames it. `output`: a path, or - for standard output. */
export async function savePdf(
  body: WebReadableStream,
  output: string,
  { draft = defaultDraft(output), signal }: SaveOptions = {},
): Promise<void> {
  if (output === '-') return pipeline(Readable.fromWeb(body), process.stdout, { end: false });
  try {
    await rm(draft, { force: true });
    const file = createWriteStream(draft, { flags: 'wx' });
    await pipeline(Readable.fromWeb(body), file, { ...(signal && { signal }) });
    await rename(draft, output);
  } catch (error) {
    // The first error is reported.
    await rm(draft, { force: true }).catch(() => {});
    signal?.throwIfAborted();
    if (error instanceof TypeError) throw brokenDownload(error);
    throw new CliError(`Cannot write ${output}: ${(error as Error).message}`, 1, error);
  }
}

/** `Saved invoice.pdf (2 pages).` */
export const savedNotice = (output: string, pages: string | null): string =>
  `${output === '-' ? 'Rendered the PDF' : `Saved ${output}`}${pages ? ` (${pages} ${pages === '1' ? 'page' : 'pages'})` : ''}.`;
