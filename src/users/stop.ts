/** @file Decides whether a customer's message ends the conversation. */

/** The opening quotation marks, each with its closing mark. The apostrophe is not one of them, because it also occurs inside words. */
const QUOTES: Record<string, string> = { '"': '"', '`': '`', '“': '”', '„': '“', '«': '»' };

/**
 * Whether a text contains one of the words outside of quotation marks. “You wrote "###STOP###"?” only talks about the word. A
 * quotation ends in the same line; a mark without a partner opens no quotation. Marks around the whole text are ignored,
 * because language models often put them around a message. The time is linear in the length of the text.
 */
export function saysStop(text: string, words: readonly string[]): boolean {
  if (!words.some((word) => text.includes(word))) return false;
  const said = withoutQuotations(text);
  return words.some((word) => said.replaceAll(`'${word}'`, '').replaceAll(`‘${word}’`, '').includes(word) || said === `'${word}'`);
}

/** The text without its quotations. Marks around the whole text are ignored. */
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
    // From here on this mark has no partner, so it is an ordinary character in the rest of the line.
    if (close !== undefined) line = line.slice(0, at) + line.slice(at).replaceAll(line[at]!, ' ');
    said += line[at]!;
    at += 1;
  }
  return said;
}
