/** @file Finds the sentence of a policy that states a rule, in whatever words the policy has. */

/** The content words of a rule, in lower case. A sentence states the rule if it has all of `must`; the one with most of `may` is taken. */
export interface RuleWords {
  must: readonly RegExp[];
  may?: readonly RegExp[];
  /** Words of a sentence that is about something else. */
  never?: RegExp;
}

/** The schemas of tools, which a chat template writes into the system prompt. */
const TOOLS = /<tools>[\s\S]*?<\/tools>|^\s*[{[].*$/gm;
const BULLET = /^[\s>]*(?:[-*•+]|#{1,6}|\d{1,2}[.)]|\(?[a-z]\))\s+/;

/** What the agent has to say word for word. It is a part of its sentence. */
const QUOTED = /(?<=^|\s)(["'“])[^"'“”\n]{1,200}["'”](?!\w)/gm;
const END = '\u0000';

/** The sentences of a policy as its text has them, without the marks of lists and headings. */
export const policySentences = (policy: string): string[] =>
  policy
    .replace(TOOLS, '')
    .replace(QUOTED, (quote) => quote.replaceAll('. ', `.${END}`))
    .split(/\n+/)
    .flatMap((line) => line.replace(BULLET, '').split(/(?<=[.!?])["')*]*\s+(?=[A-Z("'*])/))
    .map((sentence) => sentence.replaceAll(END, ' ').trim())
    .filter((sentence) => /\w \w/.test(sentence));

/** The sentence that states the rule. Null: the policy has no such sentence. @param about words of the act in question */
export function sentenceOf(sentences: readonly string[], { must, may = [], never }: RuleWords, about?: RegExp): string | null {
  let best: string | null = null;
  let most = -1;
  for (const sentence of sentences) {
    const said = sentence
      .toLowerCase()
      .replace(/[’‘]/g, "'")
      .replace(/\*\*|__|`/g, '');
    if (!must.every((word) => word.test(said)) || never?.test(said)) continue;
    const score = may.filter((word) => word.test(said)).length + (about?.test(said) ? may.length + 1 : 0);
    if (score > most) [best, most] = [sentence, score];
  }
  return best;
}
