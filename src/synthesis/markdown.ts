/** @file Tables and texts of a data card in Markdown. */

export const number = (value: number) => value.toLocaleString('en-US');
export const percent = (share: number) => `${(100 * share).toFixed(1)} %`;

/** A text of a stranger inside Markdown: one line without marks. */
export const plain = (text: string): string =>
  text
    .replace(/[\p{C}\s]+/gu, ' ')
    .trim()
    .slice(0, 200)
    .replace(/[\\`*_{}[\]<>#|!~$&]/g, '\\$&');

export const table = (head: readonly string[], rows: readonly (readonly string[])[]): string =>
  [head, head.map((_, i) => (i === 0 ? '---' : '--:')), ...rows.map(([first, ...rest]) => [plain(first!), ...rest])].map((row) => `| ${row.join(' | ')} |`).join('\n'); // prettier-ignore
