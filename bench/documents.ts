// The documents that are measured, by name: how each is written, how many pages it has, and when it
// is finished.
import { chart } from './chart-document.ts';
import { invoice } from './invoice.ts';
import { REPORT_PAGES, report, reportFiles } from './report-document.ts';
import { TABLE_PAGES, table } from './table-document.ts';

export const DOCUMENTS = ['line', 'invoice', 'report', 'chart', 'table'] as const;
export type DocumentName = (typeof DOCUMENTS)[number];

export interface BenchDocument {
  pages: number;
  /** Of the renders of a round, so that the heavy ones do not take all of the time. */
  share: number;
  /**
   * A whole HTML document; another seed gives other text. `file`: where it loads its own files
   * from.
   */
  html(seed: number, file: (name: string) => string): string;
  /** An expression that is a promise: it is printed when that resolves. */
  until?: string;
  /** It has web fonts, for which the load event does not wait. */
  fonts?: true;
}

export const documents: Record<DocumentName, BenchDocument> = {
  line: { pages: 1, share: 1, html: seed => `<p>Hello, reader ${seed}.</p>` },
  invoice: { pages: 2, share: 1, html: invoice },
  report: { pages: REPORT_PAGES, share: 1 / 4, html: report, fonts: true },
  chart: { pages: 1, share: 1 / 4, html: chart, until: 'drawn' },
  table: { pages: TABLE_PAGES, share: 1 / 16, html: table },
};

/**
 * How a document comes to who prints it: as a text that has all in it, or as the address of a page.
 */
export type By = 'html' | 'url';

/** One render that is asked for. */
export interface Job {
  source: { html: string } | { url: string };
  until?: string;
  fonts?: true;
  pages: number;
}

/** Each of the report's files within the document itself. */
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
 * The first `count` of a document, always the same ones. `base`: of the server of the pages, as
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
