// A long document: one table of 300 pages with a repeated header.

export const TABLE_PAGES = 300;
/**
 * An A4 page with 0.4 in margins is 1,045.7 px high; the header takes 24 px and a row 84 px. With
 * more rows per page, Chrome exceeds the default memory limit of a render: 0.9 GiB with 16 rows,
 * 1.4 GiB with 28.
 */
const ROWS_A_PAGE = 12;

const places = ['Aarhus', 'Bergen', 'Cork', 'Delft', 'Erfurt', 'Faro', 'Ghent', 'Huelva'];

/** Returns a complete HTML document. */
export function table(seed: number): string {
  const row = (n: number) =>
    `<tr><td>${n + 1}</td><td>2026-${String((n % 12) + 1).padStart(2, '0')}-${String((n % 28) + 1).padStart(2, '0')}</td><td>${places[(n + seed) % places.length]}</td><td>Delivery ${seed}-${n + 1}</td><td>${((n * 97 + seed) % 9_000) / 100}</td></tr>`;
  const rows = Array.from({ length: TABLE_PAGES * ROWS_A_PAGE }, (_, n) => row(n)).join('\n');
  return `<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Deliveries ${seed}</title>
<style>body { margin: 0; font: 11px/14px Arial, sans-serif } table { width: 100%; border-collapse: collapse; table-layout: fixed }
th { height: 24px; text-align: left; background: #eef } td { border-bottom: 1px solid #ddd; white-space: nowrap }
td, th { padding: 0 4px } tbody tr { height: 84px; break-inside: avoid }</style></head>
<body><table><thead><tr><th>#</th><th>Day</th><th>Place</th><th>What</th><th>Weight</th></tr></thead><tbody>
${rows}</tbody></table></body></html>`;
}
