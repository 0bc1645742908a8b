/** @file Files that leave the page. */

/** A name of a run or a model as a file's: it may come from a file of somebody else's. */
export const fileName = (name: string) => name.replace(/[^\w.-]+/g, '_').replace(/^[._]+/, '').slice(0, 100) || 'unnamed';

export function download(name: string, content: Blob): void {
  const url = URL.createObjectURL(content);
  const link = document.createElement('a');
  link.href = url;
  link.download = name;
  link.click();
  // The browser reads the file after the click has returned.
  setTimeout(() => URL.revokeObjectURL(url), 60_000);
}
