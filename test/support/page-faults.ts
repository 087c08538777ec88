// The errors of pages in browser tests. When a test fails, they are printed with the last responses.
import type { Page } from 'playwright-core';

const MAX_RESPONSES = 30;

const receivedBy = new Map<Page, () => string>();

/**
 * Logged errors, exceptions and requests to URLs that are not `ours`. The array grows until the
 * page is closed.
 */
export function faultsOf(page: Page, ours: (url: string) => boolean): string[] {
  const faults: string[] = [];
  const responses: string[] = [];
  page.on('console', message => message.type() === 'error' && faults.push(message.text()));
  page.on('pageerror', error => faults.push(String(error)));
  page.on('request', request => {
    if (!ours(request.url())) faults.push(`request to ${request.url()}`);
  });
  page.on('response', response =>
    responses.push(`${response.status()} ${response.request().method()} ${response.url()}`),
  );
  page.on('requestfailed', request =>
    responses.push(`${request.failure()?.errorText} ${request.method()} ${request.url()}`),
  );
  receivedBy.set(page, () =>
    [page.url(), ...faults, ...responses.slice(-MAX_RESPONSES)].join('\n'),
  );
  return faults;
}

/** For each page: hooks of the test may have closed it already. */
export const receivedByPages = (): string[] => [...receivedBy.values()].map(describe => describe());

export function forgetClosedPages(): void {
  for (const page of receivedBy.keys()) if (page.isClosed()) receivedBy.delete(page);
}
