/** @file Files that leave the page. */

/** A name of a run or a model as a file's: it may come from a file of somebody else's. */
export const fileName = (name: string) => name.replace(/[^\w.-]+/g, '_').replace(/^[._]+/, '').slice(0, 100) || 'unnamed';

/** Saves text or bytes as a file, as if the visitor had followed a link to it. @param type of a text */
export function download(name: string, content: string | Blob, type = 'text/csv'): void {
  const url = URL.createObjectURL(typeof content === 'string' ? new Blob([content], { type }) : content);
  const link = document.createElement('a');
  link.href = url;
  link.download = name;
  link.click();
  // The browser reads the file after the click has returned.
  setTimeout(() => URL.revokeObjectURL(url), 60_000);
}
