/**
 * @file Audits the wording of a customer: it speaks as someone else, it repeats its instruction, or its message is empty or
 * cut. All searches take linear time.
 */
import type { Report } from './audit-facts.ts';
import { STOP_WORDS } from './types.ts';

const AGENT_MARKUP = [
  '<tool_call',
  '</tool_call',
  '<tool_response',
  '</tool_response',
  '<|im_start|>',
  '<|im_end|>',
  '<function_call',
  '[/inst]',
  '[inst]',
  '"function_call"',
  '"tool_calls"',
];
const ROLE_TAG = /(?:^[ \t]{0,8}|[.!?] )[*[]{0,3}(agent|assistant|system|representative)[*\]]{0,3} ?:/im;
const JSON_CALL = /"name" ?: ?"[a-z_]{1,64}" ?, ?"arguments" ?:/i;
const AS_AGENT = [
  /\bhow (can|may|could) (i|we) (help|assist)( you)?\b/i,
  /\b(anything|something) else (that )?(i|we) can (help|assist|do)\b/i,
  /\b(happy|glad|here) to (help|assist) you\b/i,
  /\b(as|i am|i'm) (a|an|your|the) (ai|virtual|customer|service|support|helpful)( \w{1,20})? ?(agent|assistant|representative|model)\b/i,
  /\b(i have|i've|i will|i'll|let me|i can) (now |just )?(cancel(led)?|process(ed)?|refund(ed)?|return(ed)?|exchange(d)?|update(d)?|look up|pull up|check|transfer) (your|you)\b/i,
  /\b(could|can|may) (you|i) (please )?(provide|have|get|verify|confirm) (me with )?your (\w{1,12} )?(e-?mail|name|order|zip|account|user|phone|identity)\b/i,
  /\bplease (provide|share|confirm|verify|give me) your (\w{1,12} )?(e-?mail|name|order|zip|account|user|phone|identity)\b/i,
  /\bto verify your identity\b/i,
  /\byour (order|refund|return|request) (has been|is now) (cancelled|canceled|processed|updated|completed|refunded|issued)\b/i,
  /\bthank you for (contacting|calling|reaching out to) (us|our)\b/i,
];

/** Reports a message that sounds like an agent or contains markup of a model. */
export function reportRole(text: string, report: Report): void {
  const said = text.toLowerCase();
  const markup = AGENT_MARKUP.find((tag) => said.includes(tag)) ?? ROLE_TAG.exec(text)?.[0] ?? JSON_CALL.exec(text)?.[0];
  const phrase = markup ?? AS_AGENT.map((pattern) => pattern.exec(text)?.[0]).find((found) => found !== undefined);
  if (phrase !== undefined)
    report('spoke_as_agent', `The customer writes “${phrase.trim()}”, which is ${markup ? 'markup of a model' : 'what an agent says'}.`);
}

const LEAKS = [
  /\bmy (instructions?|system prompt|prompt|scenario|script)\b/i,
  /\b(the|these|according to) (instructions?|scenario|system prompt|prompt|script) (says?|states?|tells?|does not|do not|doesn't|don't|given|i was|i have)\b/i,
  /\baccording to (the|these) (instructions?|scenario|prompt|script)\b/i,
  /\b(simulated|simulating) (a |the )?(user|customer)\b/i,
  /\b(user|customer) simulat(or|ion)\b/i,
  /\bi (am|was|have been) (told|instructed|asked|prompted) to (act|play|pretend|behave|role)/i,
  /\b(i am|i'm) (role-?playing|playing (the|a) (role|part|user|customer)|an ai|a language model|a large language model)\b/i,
  /\bas an ai\b/i,
  /\bmy role (is|as) (to |a |the )?(act|play|user|customer)/i,
];
/** If this many words in a row are equal to the instruction and address the customer, this is no accident. */
const RUN = 7;
const SECOND_PERSON = new Set(['you', 'your', 'yours', 'you’re', "you're"]);
const wordsOf = (text: string) =>
  text
    .toLowerCase()
    .match(/[\p{L}\p{N}'’@.#$-]+/gu)
    ?.map((word) => word.replace(/^[.'-]+|[.'-]+$/g, '')) ?? [];

/**
 * The word sequences of an instruction that only its writer would say, because they address the customer as “you”. Other
 * sequences are not used, because a good customer also repeats facts, such as a long address, word for word. In a generated
 * instruction, sequences with the word “agent” are used too: a customer never says it. In an imported task this is not
 * possible, because the scripted customer reads such sentences aloud.
 */
export function instructionRuns(instruction: string, generated: boolean): ReadonlySet<string> {
  const runs = new Set<string>();
  // Generated instructions quote what the customer shall say, as in “you find me in Design”.
  for (const part of generated ? instruction.split(/“[^”]*”/) : [instruction]) {
    const words = wordsOf(part);
    for (let i = 0; i + RUN <= words.length; i++) {
      const run = words.slice(i, i + RUN);
      if (run.some((word) => SECOND_PERSON.has(word) || (generated && word === 'agent'))) runs.add(run.join(' '));
    }
  }
  return runs;
}

/** Reports a message that repeats the instruction or speaks about it. */
export function reportLeak(text: string, runs: ReadonlySet<string>, report: Report): void {
  const phrase = LEAKS.map((pattern) => pattern.exec(text)?.[0]).find((found) => found !== undefined);
  if (phrase !== undefined) return report('leaked_instruction', `The customer says “${phrase.trim()}”.`);
  const words = wordsOf(text);
  for (let i = 0; i + RUN <= words.length; i++) {
    const run = words.slice(i, i + RUN).join(' ');
    if (runs.has(run)) return report('leaked_instruction', `The customer repeats its instruction: “${run}”.`);
  }
}

/** A message without stop words. */
export const withoutStops = (text: string): string => STOP_WORDS.reduce((rest, stop) => rest.replaceAll(stop, ' '), text).trim();

export function reportEmpty(text: string, report: Report): void {
  const says = /[\p{L}\p{N}\p{Extended_Pictographic}]/u;
  if (!says.test(text)) report('empty_answer', `The message “${text.trim().slice(0, 40)}” has no words.`);
}

/** Words with which no message ends. */
const DANGLING = new Set('a an the my your our their to of with for and or but because if i is are was at by as from'.split(' '));
/** Words that customers use everywhere. They are needed to recognise the beginning of a word. */
const COMMON =
  'account actually address again already also another anything available before cancel cancelled change charge check confirm correct could customer delivered details different difference doing email exception exchange forward going great hello help identity information instead items longer looking method mistake name needed number order ordered orders otherwise payment pending please possible price problem process product provide really receive refund remember return returned right should something sorry sounds sure thank thanks that there thing think transfer understand update want wanted what when which whole would wrong yes yesterday'.split(
    ' ',
  );

/** The words that the customer of this conversation may use. They are needed to recognise the beginning of a word. */
export class Vocabulary {
  readonly #words = new Set<string>(COMMON);
  readonly #beginnings = new Set<string>();

  constructor() {
    for (const word of COMMON) this.#begin(word);
  }

  learn(text: string): void {
    for (const word of lastWords(text)) {
      if (this.#words.has(word)) continue;
      this.#words.add(word);
      this.#begin(word);
    }
  }

  /** Whether a text is the beginning of a known word, but not a word itself. */
  isPart = (word: string): boolean => this.#beginnings.has(word) && !this.#words.has(word);

  #begin(word: string): void {
    for (let end = 1; end < Math.min(word.length, 48); end++) this.#beginnings.add(word.slice(0, end));
  }
}

const lastWords = (text: string) =>
  text
    .toLowerCase()
    .match(/[\p{L}\p{N}_@.'’-]+/gu)
    ?.map((word) => word.replace(/[.'’-]+$/, '')) ?? [];

/** Reports a message that ends in the middle of a word or of a thought. */
export function reportCut(text: string, vocabulary: Vocabulary, report: Report): void {
  const opened = text.toLowerCase().lastIndexOf('<think');
  if (opened >= 0 && !text.toLowerCase().includes('</think', opened))
    return report('cut_answer', 'The message has a <think> without its end.');
  const said = withoutStops(text);
  const last = /[\p{L}\p{N}_@.'’-]{1,80}[,;:(-]?$/u.exec(said.slice(-100))?.[0] ?? '';
  if (/[,(-]$/.test(last)) return report('cut_answer', `The message ends after “${last}”.`);
  const word = last.toLowerCase();
  // A message of a single word, such as “sure”, was not cut.
  if (said === last || /[.!?:;'’]$/.test(word)) return;
  if (DANGLING.has(word)) report('cut_answer', `The message ends after the word “${last}”.`);
  else if (vocabulary.isPart(word)) report('cut_answer', `The message ends inside a word: “${last}”.`);
}
