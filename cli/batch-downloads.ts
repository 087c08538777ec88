// Waits for one batch of `pressroom batch` and saves its PDFs while they become ready.
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { AsyncRender } from '../common/contract/async-renders.ts';
import type { Batch } from '../common/contract/batches.ts';
import type { BatchDirectory } from './batch-directory.ts';
import type { RequestLine } from './batch-input.ts';
import type { BatchProgress } from './batch-progress.ts';
import { CliError } from './failure.ts';
import { type HttpApi, RETRY_AFTER_MS, RequestError, retried } from './http-api.ts';
import { savePdf } from './pdf-output.ts';
import { renderPages } from './render-pages.ts';
import { errorText } from './renders.ts';

export interface OpenBatch {
  id: string;
  requests: RequestLine[];
}

export interface FailedLine {
  line: number;
  message: string;
}

interface DownloadsDeps {
  api: HttpApi;
  directory: BatchDirectory;
  progress: BatchProgress;
  retryForMs: number;
  signal: AbortSignal;
}

const PARALLEL_DOWNLOADS = 4;

export const batchPath = (id: string) => `/v1/batches/${encodeURIComponent(id)}`;

export const cancelBatch = (api: HttpApi, id: string): Promise<Batch> =>
  api.json<Batch>(batchPath(id), { method: 'DELETE' }).then(({ body }) => body);

const WHY_NO_PDF: Record<string, (render: AsyncRender) => string> = {
  failed: errorText,
  canceled: () => 'The render was canceled.',
  expired: () => 'The render expired before it ended.',
};

export class BatchDownloads {
  readonly failed: FailedLine[] = [];
  readonly #deps: DownloadsDeps;

  constructor(deps: DownloadsDeps) {
    this.#deps = deps;
  }

  /** Resolves when all renders of the batch have ended and their PDFs are saved. */
  async collect(batch: OpenBatch): Promise<void> {
    const { api, directory, progress, retryForMs, signal } = this.#deps;
    const { id, requests } = batch;
    const isMissing = ({ name }: RequestLine) => !directory.pdfs.has(name);
    const saved = () => requests.length - requests.filter(isMissing).length;
    progress.saved(saved());
    const ended = new Set<RequestLine>();
    while (saved() + ended.size < requests.length) {
      const { counts, retryAfterMs } = await this.#counts(batch);
      const isFinished = counts.queued + counts.running === 0;
      if (isFinished || counts.succeeded > saved()) {
        const query = { batch: id, ...(!isFinished && { status: 'succeeded' }) };
        for await (const { items } of renderPages(api, { query, retryForMs, signal }))
          await this.#take(items, batch, ended);
      }
      if (isFinished) {
        for (const request of requests)
          if (isMissing(request) && !ended.has(request))
            this.#fail(request, ended, 'The server has deleted this render.');
      } else await sleep(retryAfterMs, undefined, { signal });
    }
  }

  async #counts({
    id,
    requests,
  }: OpenBatch): Promise<Pick<Batch, 'counts'> & { retryAfterMs: number }> {
    const { api, retryForMs, signal } = this.#deps;
    try {
      const { body, headers } = await retried(
        () => api.json<Batch>(batchPath(id), { signal }),
        retryForMs,
        signal,
      );
      const seconds = Number(headers.get('retry-after'));
      return { counts: body.counts, retryAfterMs: seconds * 1_000 || RETRY_AFTER_MS };
    } catch (error) {
      if (!(error instanceof RequestError) || error.status !== 404) throw error;
      throw new CliError(
        `The server does not have the batch ${id} of the lines from ${requests[0]!.line}. Check --server and --key. If the batch was deleted, which happens seven days after it expires, use another directory.\n${error.message}`,
      );
    }
  }

  /** Saves the PDFs of renders that succeeded, and records others that have ended. */
  async #take(
    page: readonly AsyncRender[],
    { requests }: OpenBatch,
    ended: Set<RequestLine>,
  ): Promise<void> {
    const { directory } = this.#deps;
    const renders = page.values();
    const saveInTurn = async () => {
      for (const render of renders) {
        const request = requests[render.batch?.index ?? -1];
        if (!request || ended.has(request) || directory.pdfs.has(request.name)) continue;
        const why = WHY_NO_PDF[render.status];
        if (why) this.#fail(request, ended, why(render));
        else if (render.status === 'succeeded') await this.#save(render, request, ended);
      }
    };
    await Promise.all(Array.from({ length: PARALLEL_DOWNLOADS }, saveInTurn));
  }

  async #save({ id }: AsyncRender, request: RequestLine, ended: Set<RequestLine>): Promise<void> {
    const { api, directory, progress, retryForMs, signal } = this.#deps;
    const download = async () => {
      const response = await api.request(`/v1/renders/${id}/pdf`, { signal });
      const draft = directory.draft(request.line);
      await savePdf(response.body!, join(directory.path, request.name), { draft, signal });
    };
    try {
      await retried(download, retryForMs, signal);
      directory.pdfs.add(request.name);
      progress.saved(1);
    } catch (error) {
      const isDeleted = error instanceof RequestError && [404, 410].includes(error.status ?? 0);
      if (!isDeleted) throw error;
      this.#fail(request, ended, error.message);
    }
  }

  #fail(request: RequestLine, ended: Set<RequestLine>, message: string): void {
    ended.add(request);
    this.failed.push({ line: request.line, message });
    this.#deps.progress.failed();
  }
}
