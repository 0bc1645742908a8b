/** @file Saves files from the page. */

/** Makes a safe file name from the name of a run or a model, which can come from an imported file. */
export const fileName = (name: string) =>
  name
    .replace(/[^\w.-]+/g, '_')
    .replace(/^[._]+/, '')
    .slice(0, 100) || 'unnamed';

/** Saves text or bytes as a file. @param type the media type if the content is text */
export function download(name: string, content: string | Blob, type = 'text/csv'): void {
  const url = URL.createObjectURL(typeof content === 'string' ? new Blob([content], { type }) : content);
  const link = document.createElement('a');
  link.href = url;
  link.download = name;
  link.click();
  // The URL must stay valid for a while, because the browser reads the file after the click.
  setTimeout(() => URL.revokeObjectURL(url), 60_000);
}
