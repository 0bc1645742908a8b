/**
 * @file Whether a customer agreed to a write. The agent's question must name the write: what it does, its thing, and its
 * arguments. The customer's yes must answer this question. A yes allows each write that the question named once. A detail that
 * the question and the call do not share, or that the customer changes, voids the yes.
 */
import { meaningOf, splitAnswer, takesBack } from './answers.ts';
import type { Detail, Heard, WriteWords } from './audit-rules.ts';
import { asking, asks, asksFor } from './questions.ts';
import { readable, sentences } from './sentences.ts';

/** What the audit found out about one write. Places are those of the messages that `ConsentLog` was given. */
export interface Consent {
  asked: boolean;
  /** The agent's question: the one that the yes answers, or the last one. Null: the agent asked nothing. */
  question: number | null;
  /** The customer's answer to this question. */
  answer: number | null;
  /** Why the write was not asked for; null if it was. */
  why: string | null;
}

interface Exchange {
  question: string;
  asked: number;
  answers: { text: string; at: number }[];
  /** The writes that used the yes. */
  used: Set<string>;
}

export class ConsentLog {
  readonly #exchanges: Exchange[] = [];
  #pending: { text: string; at: number } | null = null;

  agentSaid(text: string, at: number): void {
    // Messages without an answer between them are one message.
    this.#pending = { text: this.#pending ? `${this.#pending.text}\n\n${readable(text)}` : readable(text), at };
  }

  customerSaid(text: string, at: number): void {
    const { text: question, at: asked } = this.#pending ?? { text: '', at };
    this.#pending = null;
    const last = this.#exchanges.at(-1);
    // After a message that asks nothing, the customer still answers the question before.
    if (last && !asks(question)) last.answers.push({ text, at });
    else this.#exchanges.push({ question, asked, answers: [{ text, at }], used: new Set() });
  }

  /**
   * Whether the customer agreed to this write. The yes is then used.
   * @param signature equal for equal writes
   */
  write({ about, act, verb, details }: WriteWords, signature: string): Consent {
    const consent = this.#consent({ about, act: remembering(act), verb, details: details.map(remembering) }, signature);
    // What the agent said before the write is no question after it.
    this.#pending = null;
    return consent;
  }

  #consent(words: WriteWords, signature: string): Consent {
    const all = this.#exchanges;
    const latest = all.findLast(({ question }) => asks(question));
    const place = (exchange = latest) => ({ question: exchange?.asked ?? null, answer: exchange?.answers.at(-1)?.at ?? null });
    if (this.#pending && asksFor(this.#pending.text, words) && !names(words, this.#pending.text, 'other'))
      return { asked: false, question: this.#pending.at, answer: null, why: 'The customer has not answered the question.' };
    let failed: Consent | null = null;
    /** A later exchange in which the customer changed or took back what was agreed. */
    let undone: Exchange | null = null;
    for (let i = all.length - 1; i >= 0 && !undone; i -= 1) {
      const exchange = all[i]!;
      if (!asksFor(exchange.question, words)) {
        if (undoes(exchange, words)) undone = exchange;
        continue;
      }
      const found = this.#judge(i, words, signature);
      if (found === 'yes') {
        exchange.used.add(signature);
        return { asked: true, question: exchange.asked, answer: answerOf(exchange, words), why: null };
      }
      if (found === null) continue;
      failed ??= { asked: false, ...place(exchange), why: found.why };
      if (found.final) break;
    }
    if (failed) return failed;
    if (undone) return { asked: false, ...place(undone), why: 'The customer asked for something else after the last question.' };
    return { asked: false, ...place(), why: latest ? 'No question asks for a yes to this write.' : 'The agent asked nothing.' };
  }

  /** What exchange `i`, which asks for a yes, says about a write; null if its question is about another write. */
  #judge(i: number, words: WriteWords, signature: string): 'yes' | { why: string; final: boolean } | null {
    const exchange = this.#exchanges[i]!;
    if (exchange.used.has(signature)) return { why: 'The yes was used for an equal write before.', final: true };
    const question = words.about(exchange.question);
    const parts = asking(exchange.question, words);
    const elsewhere = [words.act, ...words.details].find(
      ({ heard }) => heard(question) === 'other' || parts.every((part) => heard(part) === 'other'),
    );
    const meaning = meaningIn(exchange, words);
    if (meaning !== 'yes') return elsewhere ? null : { why: NOT_YES[meaning], final: true };
    if (elsewhere) return { why: `The question names another value for ${elsewhere.name}.`, final: false };
    const changed = exchange.answers.map(({ text }) => changedBy(text, words, exchange.question)).find((detail) => detail !== undefined);
    if (changed) return { why: `The customer changed ${changed.name}.`, final: true };
    const unnamed = [words.act, ...words.details].find((detail) => this.#heard(i, detail, words) !== 'named');
    return unnamed ? { why: `The question does not name ${unnamed.name}.`, final: false } : 'yes';
  }

  /** Whether the question, the answer with the yes, or the question that this question asks again names a detail. */
  #heard(i: number, detail: Detail, words: WriteWords): Heard {
    const { question, answers, used } = this.#exchanges[i]!;
    const choice = detail === words.act && isChoiceOfActs(question, detail);
    const said = detail.heard(words.about(question));
    if (said !== 'absent' && !choice) return said;
    // The heading of a list says what is done with all of its things.
    if (detail === words.act && !choice && detail.heard(question) === 'named') return 'named';
    if (answers.some(({ text }) => detail.heard(words.about(splitAnswer(text).answer)) === 'named')) return 'named';
    if (used.size > 0) return 'absent';
    if (detail === words.act && !choice && STATES.test(question) && this.#isRequested(i, words)) return 'named';
    let before = i - 1;
    const listed = REFERS_BACK.test(question);
    while (before >= 0 && !listed && !asksFor(this.#exchanges[before]!.question, words)) before -= 1;
    const earlier = this.#exchanges[before];
    if (!earlier) return 'absent';
    const same = detail !== words.act && detail !== words.details[0] && SAME.test(question);
    if (!same && (earlier.used.size > 0 || words.details[0]?.heard(earlier.question) === 'other')) return 'absent';
    // The customer named another value after the earlier question, so this question had to name the value.
    if (earlier.answers.some(({ text }) => detail.heard(text) === 'other')) return 'absent';
    return this.#heard(before, detail, words);
  }

  /** Whether the act is what the customer asked for last, since the agent last asked for a yes to it. */
  #isRequested(i: number, words: WriteWords): boolean {
    for (const { question, answers, used } of this.#exchanges.slice(0, i).reverse()) {
      const last = answers.map(({ text }) => words.act.heard(text)).findLast((heard) => heard !== 'absent');
      if (last !== undefined) return last === 'named';
      if (used.size > 0 || asksFor(question, words)) return false;
    }
    return false;
  }
}

/** A question with a value: an id, an amount, a name. `Shall I go ahead?` has none. */
const STATES = /\d|["“]\w|\b(?:to|becomes?|into|instead of|rather than|with|for|as) \p{Lu}\p{Ll}/u;

/** The detail, which reads no text twice. */
function remembering(detail: Detail): Detail {
  const known = new Map<string, Heard>();
  const heard = (text: string): Heard => {
    if (!known.has(text)) known.set(text, detail.heard(text));
    return known.get(text)!;
  };
  return { ...detail, heard };
}

export const NOT_YES = {
  no: 'The customer said no.',
  changed: 'The customer asked for something else, or said yes under a condition.',
  unclear: 'The customer did not say yes.',
} as const;

/** Refers to the agent's message before. */
const REFERS_BACK =
  /\b(as|i|i've|i have|we) (just )?(listed|described|outlined|shown|stated|mentioned|summari[sz]ed|detailed)\b|\babove\b/i;

/** Refers to a value of the write before. */
const SAME = /\bthe same (reason|method|card|account|address|way)\b/i;

const names = ({ details }: WriteWords, text: string, value: Heard): boolean => details[0]?.heard(text) === value;

/** An act that a question can offer instead. */
const INSTEAD = /\b(keep|leave|cancel|return|exchang|modif|chang|replac|swap)\w*/i;

/** Whether a question leaves it to the customer what to do: `Shall I cancel it, or would you like to keep it?` */
const isChoiceOfActs = (question: string, act: Detail): boolean =>
  sentences(question).some((sentence) => {
    const offers = sentence.includes('?') ? sentence.split(/\bor\b/i) : [];
    return (
      offers.some((offer) => act.heard(offer) === 'named') && offers.some((offer) => act.heard(offer) !== 'named' && INSTEAD.test(offer))
    );
  });

/** Where an answer turns to another of the writes that the question names: `Yes to the return, but not to the exchange.` */
const TURN = /,?\s+(?=but\b)|,\s+(?=(?:and )?(?:yes|no|not)\b)/i;
/** Where an answer goes on to another write. */
const NEXT =
  /,?\s+and\s+(?=(?:please |also |then )*(?:cancel|return|exchange|change|modify|update|switch|swap|replace|ship|send|put|use)\b)/i;
/** The parts of a question that can name different writes. */
const PARTS = /\n|(?<=[.?!;,])\s+|\s+(?=(?:and|then)\s)/i;

/** The part of an answer about this write. Left out: another wish that follows, and what is said about other writes of the question. */
function partOf(text: string, { about, act, details }: WriteWords, question: string): string {
  const another = (said: string) => act.heard(said) === 'other' || details[0]?.heard(said) === 'other';
  const named = (said: string) => act.heard(said) === 'named' || details[0]?.heard(said) === 'named';
  const several = question.split(PARTS).some((part) => /\w/.test(part) && another(part));
  const said = sentences(readable(text))
    .flatMap((sentence) => (several ? sentence.split(TURN) : sentence))
    .map((sentence) => {
      const [first, ...more] = sentence.split(NEXT);
      return [first, ...more.filter((part) => !another(part) || takesBack(part))].join(' and ');
    })
    .map((part, i) => {
      // A question that is left out is still a question.
      if (another(part) && (several || (i > 0 && !takesBack(part)))) return part.endsWith('?') ? '?' : '';
      return several && named(part) ? part.replace(/^\W*(?:only|just)\b/i, 'yes,') : part;
    });
  // `Keep #W1, but cancel #W2`: the “but” is about the other write.
  const own = said.join('\n').replace(/^\s*(?:but|and)\b/i, said[0] === '' ? '' : '$&');
  const { answer, more } = splitAnswer(own);
  return about(another(more) || ASKS_BACK.test(more) ? answer : `${answer}${more}`);
}

/** A question about facts. It changes nothing. */
const FACT_ASKED = /^\W*(and |but |so )?(how|when|what|where|why|who|which|will|is|are|does|do|did|am|was|would (it|the|that))\b.*\?\W*$/i;
const ASKS_BACK = /\b(how|when|what|where|why|which|tell me|let me know|check|do you)\b/i;

/** Whether an answer to another question changes or takes back what was agreed before. A no to another write is only that. */
function undoes({ answers, question }: Exchange, words: WriteWords): boolean {
  const about = words.act.heard(question) === 'other' || names(words, question, 'other');
  return answers.some(({ text }) => {
    if (names(words, text, 'other')) return false;
    const part = partOf(text, words, question);
    return about ? meaningOf(part) === 'changed' : takesBack(part) || changedBy(text, words, question) !== undefined;
  });
}

/** What all answers of an exchange mean together: a yes, unless the customer takes the yes back. */
function meaningIn({ question, answers }: Exchange, words: WriteWords): ReturnType<typeof meaningOf> {
  let meaning: ReturnType<typeof meaningOf> = 'unclear';
  for (const { text } of answers) {
    const next = meaningOf(partOf(text, words, question), question);
    if (meaning !== 'yes' || next === 'changed') meaning = next;
  }
  return meaning;
}

const answerOf = ({ answers, question }: Exchange, words: WriteWords): number | null =>
  answers.find(({ text }) => meaningOf(partOf(text, words, question), question) === 'yes')?.at ?? null;

/** An answer that names what the agent shall do. */
const ASKS_FOR_ACT = /(?:^|\b(?:yes|sure|okay|ok|please)\b)[,.!]? *(?:please )?(?:cancel|return|exchange|swap|replace)\b/i;

/** The detail that an answer changes. */
function changedBy(text: string, words: WriteWords, question: string): Detail | undefined {
  const answer = sentences(partOf(text, words, question))
    .filter((sentence) => !FACT_ASKED.test(sentence))
    .join('\n');
  if (ASKS_FOR_ACT.test(answer) && words.act.heard(answer) === 'other') return words.act;
  return words.details.find((detail) => (detail.changed ? detail.changed(answer) : detail.heard(answer) === 'other'));
}
