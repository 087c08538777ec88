// Reads the list of asynchronous renders page by page.
import { type AsyncRender, MAX_RENDERS_LISTED } from '../common/contract/async-renders.ts';
import { type HttpApi, retried } from './http-api.ts';

interface RenderPage {
  items: AsyncRender[];
  headers: Headers;
}

interface PageOptions {
  /** Parameters of GET /v1/renders. */
  query?: Record<string, string>;
  retryForMs?: number;
  signal?: AbortSignal;
}

/** Newest first. Rejects like HttpApi.json. */
export async function* renderPages(
  api: HttpApi,
  { query = {}, retryForMs = 0, signal }: PageOptions,
): AsyncGenerator<RenderPage, void> {
  let cursor: string | null = '';
  while (cursor !== null) {
    const limit = String(MAX_RENDERS_LISTED);
    const parameters = new URLSearchParams({ limit, ...query, ...(cursor !== '' && { cursor }) });
    const { body, headers } = await retried(
      () =>
        api.json<{ items: AsyncRender[]; next: string | null }>(`/v1/renders?${parameters}`, {
          signal,
        }),
      retryForMs,
      signal,
    );
    yield { items: body.items, headers };
    cursor = body.next;
  }
}
