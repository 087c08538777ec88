// The example requests of the playground.
import type { Draft } from './request.ts';

export interface Example {
  label: string;
  draft: Draft;
}

const INVOICE = `<!doctype html>
<html lang="en">
<title>Invoice 42</title>
<style>
  body { font: 14px/1.5 sans-serif; color: #1d2433; }
  h1 { margin: 0; }
  .meta { color: #667085; }
  table { width: 100%; border-collapse: collapse; margin-top: 32px; }
  th, td { padding: 8px 0; border-bottom: 1px solid #d0d5dd; text-align: left; }
  .figure { text-align: right; }
</style>
<h1>Invoice 42</h1>
<p class="meta">Acme Ltd · November 22, 2026</p>
<table>
  <tr><th>Description</th><th class="figure">Price</th></tr>
  <tr><td>Letterhead design</td><td class="figure">240.00</td></tr>
  <tr><td>Printing, 500 sheets</td><td class="figure">85.50</td></tr>
  <tr><th>Total</th><th class="figure">325.50</th></tr>
</table>
</html>
`;

const REPORT = `<!doctype html>
<html lang="en">
<title>Quarterly report</title>
<style>
  body { font: 12pt/1.6 Georgia, serif; }
  section { break-after: page; }
  section:last-child { break-after: auto; }
</style>
<section><h1>Quarterly report</h1><p>Each section starts on a new page.</p></section>
<section><h2>Sales</h2><p>Sales grew by 12%.</p></section>
<section><h2>Outlook</h2><p>We expect further growth.</p></section>
</html>
`;

export const EXAMPLES: Example[] = [
  {
    label: 'Invoice',
    draft: {
      source: 'html',
      html: INVOICE,
      url: '',
      options: {
        format: 'A4',
        margin: { top: '20mm', right: '20mm', bottom: '20mm', left: '20mm' },
      },
    },
  },
  {
    label: 'Report with header and footer',
    draft: {
      source: 'html',
      html: REPORT,
      url: '',
      options: {
        margin: { top: '25mm', bottom: '25mm' },
        header: { html: '<b>Quarterly report</b>', height: '20mm' },
        footer: { html: 'Page {{page}} of {{total}}', height: '20mm' },
        metadata: { title: 'Quarterly report', author: 'Acme Ltd' },
      },
    },
  },
  {
    label: 'Web page with wait conditions',
    draft: {
      source: 'url',
      html: '',
      url: 'https://example.com/',
      options: { emulate_media: 'screen', wait_for_selector: 'h1', wait_for_network_idle: true },
    },
  },
];
