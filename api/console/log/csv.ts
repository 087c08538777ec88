// Tables as CSV (RFC 4180), safe to open in a spreadsheet. Pure.

type Cell = string | number | null;

/** Spreadsheets take a text that begins so for a formula, which may send the other cells elsewhere (https://owasp.org/www-community/attacks/CSV_Injection). */
const FORMULA = /^[=+\-@\t\r\n＝＋－＠]/;

function cell(value: Cell): string {
  if (value === null) return '';
  if (typeof value === 'number') return String(value);
  const text = FORMULA.test(value) ? `'${value}` : value;
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** Lines end in CRLF, the last one too. */
export const csv = (rows: readonly (readonly Cell[])[]): string => rows.map(row => `${row.map(cell).join(',')}\r\n`).join('');
