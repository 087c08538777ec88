// The benchmark documents by name: content, number of pages, and when they are complete.
import { chart } from './chart-document.ts';
import { invoice } from './invoice.ts';
import { REPORT_PAGES, report, reportFiles } from './report-document.ts';
import { TABLE_PAGES, table } from './table-document.ts';

export const DOCUMENTS = ['line', 'invoice', 'report', 'chart', 'table'] as const;
export type DocumentName = (typeof DOCUMENTS)[number];

export interface BenchDocument {
  pages: number;
  /** Fraction of the renders of a round, to limit the time of heavy documents. */
  share: number;
  /** Returns a complete HTML document for a seed. `file` returns the URL of one of its files. */
  html(seed: number, file: (name: string) => string): string;
  /** A promise expression; the page is printed when it resolves. */
  until?: string;
  /** Whether it has web fonts, for which the load event does not wait. */
  fonts?: true;
}

export const documents: Record<DocumentName, BenchDocument> = {
  line: { pages: 1, share: 1, html: seed => `<p>Hello, reader ${seed}.</p>` },
  invoice: { pages: 2, share: 1, html: invoice },
  report: { pages: REPORT_PAGES, share: 1 / 4, html: report, fonts: true },
  chart: { pages: 1, share: 1 / 4, html: chart, until: 'drawn' },
  table: { pages: TABLE_PAGES, share: 1 / 16, html: table },
};

/** How a document is delivered: as self-contained HTML or as the URL of a page. */
export type By = 'html' | 'url';

/** One render. */
export interface Job {
  source: { html: string } | { url: string };
  until?: string;
  fonts?: true;
  pages: number;
}

/** The files of the report as data URLs. */
let inlined: Map<string, string> | undefined;
const asData = (name: string): string => {
  inlined ??= new Map(
    [...reportFiles()].map(([file, { type, bytes }]) => [
      file,
      `data:${type};base64,${bytes.toString('base64')}`,
    ]),
  );
  return inlined.get(name)!;
};

/**
 * Returns the first `count` variants of a document. `base` is the page server as
 * `http://host:port`.
 */
export function jobs(name: DocumentName, by: By, count: number, base: string): Job[] {
  const { pages, until, fonts, html } = documents[name];
  const source = (seed: number) =>
    by === 'url' ? { url: `${base}/${name}?seed=${seed}` } : { html: html(seed, asData) };
  return Array.from({ length: count }, (_, nth) => ({
    source: source(nth + 1),
    pages,
    ...(until !== undefined && { until }),
    ...(fonts && { fonts }),
  }));
}
