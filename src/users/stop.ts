/** @file When a customer's message ends the conversation. */

/** Quotation marks that open, each with the mark that closes it. An apostrophe is no such mark: it also occurs in words. */
const QUOTES: Record<string, string> = { '"': '"', '`': '`', '“': '”', '„': '“', '«': '»' };

/**
 * Whether a text says one of the words outside of quotation marks. “You wrote "###STOP###"?” talks about the word. A quotation
 * ends in its line; a mark without its partner quotes nothing. Marks around the whole text are not counted, because language
 * models often put them around a message. Time is linear in the text.
 */
export function saysStop(text: string, words: readonly string[]): boolean {
  if (!words.some((word) => text.includes(word))) return false;
  const said = withoutQuotations(text);
  return words.some((word) => said.replaceAll(`'${word}'`, '').replaceAll(`‘${word}’`, '').includes(word) || said === `'${word}'`);
}

/** The text without what its quotation marks enclose. Marks around the whole text count as no marks. */
function withoutQuotations(text: string): string {
  const trimmed = text.trim();
  const close = QUOTES[trimmed[0] ?? ''];
  const wrapped = close !== undefined && trimmed.length > 1 && trimmed.indexOf(close, 1) === trimmed.length - 1;
  return (wrapped ? trimmed.slice(1, -1) : trimmed).split('\n').map(withoutQuotationsInLine).join('\n');
}

function withoutQuotationsInLine(line: string): string {
  let said = '';
  for (let at = 0; at < line.length;) {
    const close = QUOTES[line[at]!];
    const end = close === undefined ? -1 : line.indexOf(close, at + 1);
    if (end >= 0) {
      at = end + 1;
      continue;
    }
    // This mark has no partner from here on, so it is an ordinary character for the rest of the line.
    if (close !== undefined) line = line.slice(0, at) + line.slice(at).replaceAll(line[at]!, ' ');
    said += line[at]!;
    at += 1;
  }
  return said;
}
