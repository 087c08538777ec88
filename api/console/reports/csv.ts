// Tables as CSV (RFC 4180), safe to open in a spreadsheet. Pure.

type Cell = string | number | null;

/**
 * Spreadsheets evaluate a text with such a prefix as a formula, which can leak other cells
 * (https://owasp.org/www-community/attacks/CSV_Injection).
 */
const FORMULA = /^(?=[=+\-@\t\r\n＝＋－＠])/;
/**
 * In locales with a decimal comma, spreadsheets split lines at semicolons despite quotes, so one of
 * our cells can contain several of theirs.
 */
const INNER_FORMULA = /(?<=[;\t])(?=\s*[=+\-@＝＋－＠])/g;

function cell(value: Cell): string {
  if (value === null) return '';
  if (typeof value === 'number') return String(value);
  const text = value.replace(FORMULA, "'").replace(INNER_FORMULA, "'");
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** Every line ends in CRLF, including the last one. */
export const csv = (rows: readonly (readonly Cell[])[]): string =>
  rows.map(row => `${row.map(cell).join(',')}\r\n`).join('');
