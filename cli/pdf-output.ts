// Where a command writes a PDF: a file that is never incomplete, or standard output.
import { createWriteStream } from 'node:fs';
import { rename, rm } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { ReadableStream as WebReadableStream } from 'node:stream/web';
import { CliError } from './failure.ts';

/** Writes to a temporary file and renames it. `output`: a path, or - for standard output. */
export async function savePdf(
  body: WebReadableStream,
  output: string,
  signal?: AbortSignal,
): Promise<void> {
  if (output === '-') return pipeline(Readable.fromWeb(body), process.stdout, { end: false });
  const draft = `${output}.${process.pid}.part`;
  try {
    await pipeline(Readable.fromWeb(body), createWriteStream(draft), { ...(signal && { signal }) });
    await rename(draft, output);
  } catch (error) {
    await rm(draft, { force: true });
    signal?.throwIfAborted();
    throw new CliError(`Cannot write ${output}: ${(error as Error).message}`, 1, error);
  }
}

/** `Saved invoice.pdf (2 pages).` */
export const savedNotice = (output: string, pages: string | null): string =>
  `${output === '-' ? 'Rendered the PDF' : `Saved ${output}`}${pages ? ` (${pages} ${pages === '1' ? 'page' : 'pages'})` : ''}.`;
