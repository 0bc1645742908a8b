/** @file Texts as the audit reads them. Messages are not trusted: the patterns of the audit are bounded and read a bounded text. */

/** The audit reads this many characters of a message. The longest message of an agent in tau-bench's results has 1,300. */
const MOST = 8192;

/** The text without thoughts and Markdown emphasis, with plain quotation marks. */
export const readable = (text: string): string =>
  text
    .slice(0, MOST)
    .replace(/^[\s\S]*<\/think>/, '')
    .replace(/[’‘]/g, "'")
    .replace(/[“”]/g, '"')
    .replace(/\*\*|__|`/g, '');

/** The sentences and lines of a text. */
export const sentences = (text: string): string[] => text.split(/(?<=[.?!])["')]*\s+|\n+/).flatMap((sentence) => sentence.trim() || []);
