/** @file Tables as CSV (RFC 4180). */

type Cell = string | number | null | undefined;

/**
 * Returns the table as CSV. Ids and tool names can come from imports, so a text that a spreadsheet would run as a formula gets an
 * apostrophe in front.
 */
export function csv(header: readonly string[], rows: readonly (readonly Cell[])[]): string {
  return [header, ...rows].map((row) => `${row.map(cell).join(',')}\r\n`).join('');
}

function cell(value: Cell): string {
  if (value === null || value === undefined) return '';
  if (typeof value === 'number') return String(value);
  // Spreadsheets skip white space before a formula, and know the wide forms of its first character.
  const text = /^\s*[=+\-@＝＋－＠]|^[\t\r\n]/.test(value) ? `'${value}` : value;
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
