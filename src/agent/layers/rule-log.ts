/** @file Collects what a check finds about the rules of one layer, each with its sentence of the policy. */
import type { Finding, Layer } from '../../records/layers.ts';
import type { RuleName } from './rule-names.ts';
import { policySentences, type RuleWords, sentenceOf } from './policy-sentence.ts';

export type RuleTexts = Readonly<Record<string, RuleWords>>;

/** The rules of a layer and the policy that holds where the conversation has no system prompt. */
export interface RuleBook {
  rules: RuleTexts;
  own: string;
}

export class RuleLog {
  readonly #findings: Finding[] = [];
  readonly #occasions: Record<string, number> = {};
  readonly #sentences: readonly string[];

  /** @param policy the system prompt. Null: the book's own policy holds */
  constructor(
    policy: string | null,
    private readonly book: RuleBook,
  ) {
    this.#sentences = policySentences(policy ?? book.own);
  }

  /** The sentence that states the rule. Null: the policy does not say it. @param about words of the act in question */
  sentence(rule: string, about?: RegExp): string | null {
    const words = this.book.rules[rule];
    return words ? sentenceOf(this.#sentences, words, about) : null;
  }

  /** Notes that the rule could be broken here. `detail` says how it was broken; null: it was kept. */
  check(rule: RuleName, message: number, detail: string | null, about?: RegExp): void {
    this.#occasions[rule] = (this.#occasions[rule] ?? 0) + 1;
    if (detail !== null) this.#findings.push({ rule, sentence: this.sentence(rule, about), message, detail });
  }

  /** As `check`, for a rule that does not hold under a policy that states other rules but not this one. */
  checkUnlessLeftOut(rule: RuleName, message: number, detail: string | null): void {
    const holds = this.sentence(rule) !== null || Object.keys(this.book.rules).every((other) => this.sentence(other) === null);
    if (holds) this.check(rule, message, detail);
  }

  /** As `check`, for a rule that holds only where the policy states it. */
  checkSaid(rule: RuleName, message: number, detail: () => string | null, about?: RegExp): void {
    if (this.sentence(rule) !== null) this.check(rule, message, detail(), about);
  }

  get findings(): readonly Finding[] {
    return this.#findings;
  }

  layer(): Layer {
    return { findings: this.#findings.toSorted((a, b) => a.message - b.message), occasions: this.#occasions };
  }
}
