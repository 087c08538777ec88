// Tables as CSV (RFC 4180), safe to open in a spreadsheet. Pure.

type Cell = string | number | null;

/**
 * Spreadsheets take a text that begins so for a formula, which may send the other cells elsewhere
 * (https://owasp.org/www-community/attacks/CSV_Injection).
 */
const FORMULA = /^(?=[=+\-@\t\r\n＝＋－＠])/;
/**
 * Where the comma is the decimal sign they divide lines at semicolons, whatever quotes say: a cell
 * of theirs can begin within one of ours.
 */
const INNER_FORMULA = /(?<=[;\t])(?=\s*[=+\-@＝＋－＠])/g;

function cell(value: Cell): string {
  if (value === null) return '';
  if (typeof value === 'number') return String(value);
  const text = value.replace(FORMULA, "'").replace(INNER_FORMULA, "'");
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** Lines end in CRLF, the last one too. */
export const csv = (rows: readonly (readonly Cell[])[]): string =>
  rows.map(row => `${row.map(cell).join(',')}\r\n`).join('');
