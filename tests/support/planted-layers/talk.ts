/** @file Builds one labelled conversation in OpenAI's format from varied wordings. The same seed gives the same conversation. */
import { hash32 } from '../../../src/base/random.ts';
import type { LayerName } from '../../../src/records/layers.ts';

export const PARTS = ['open', 'held-back'] as const;
export type Part = (typeof PARTS)[number];
export const DOMAINS = ['retail', 'airline', 'telecom'] as const;
export type DomainName = (typeof DOMAINS)[number];
/** Wordings of one thing. The first half is used in the open part, the second half in the held-back part. */
export type Words = readonly string[];
export type Facts = Record<string, string>;
type Args = Record<string, unknown>;
export interface Call {
  name: string;
  args: Args;
  result: unknown;
}
interface Message {
  role: string;
  content: string | null;
  tool_calls?: { id: string; type: 'function'; function: { name: string; arguments: string } }[];
  tool_call_id?: string;
}

export interface Planted {
  id: string;
  layer: LayerName;
  domain: DomainName;
  part: Part;
  /** What is right or wrong in it, in plain words. */
  kind: string;
  /** The agent's messages with a violation of the layer. Empty in a clean conversation. */
  expected: { message: number; kind: string }[];
  messages: Message[];
}

/** Deals the wordings of each list in turn, so that none is used much more often than another. */
export class Dealer {
  private readonly dealt = new Map<string, number>();

  next(words: Words, part: Part): string {
    const half = Math.ceil(words.length / 2);
    const own = words.length === 1 ? words : part === 'open' ? words.slice(0, half) : words.slice(half);
    const key = part + own.join('\n');
    const count = this.dealt.get(key) ?? 0;
    this.dealt.set(key, count + 1);
    return own[count % own.length]!;
  }
}

export class Talk {
  readonly messages: Message[] = [];
  readonly expected: Planted['expected'] = [];
  /** Values for the places in wordings, such as `{order}`. */
  readonly facts: Facts = {};
  /** Whether the agent may write beside a call and make several calls in a turn. */
  loose = false;
  private draws = 0;
  private calls = 0;

  constructor(
    readonly part: Part,
    private readonly dealer: Dealer,
    private readonly seed: number,
    private readonly kind: string,
  ) {}

  /** A random number from 0 to n − 1. */
  below(n: number): number {
    return hash32(this.seed, this.draws++) % n;
  }

  one<T>(list: readonly T[]): T {
    return list[this.below(list.length)]!;
  }

  digits(n: number): string {
    return Array.from({ length: n }, (_, i) => this.below(i ? 10 : 9) + (i ? 0 : 1)).join('');
  }

  text(words: Words): string {
    const filled = this.dealer.next(words, this.part).replaceAll(/\{(\w+)\}/g, (_, name: string) => {
      const value = this.facts[name];
      if (value === undefined) throw new Error(`${this.kind}: no fact "${name}": expected ${Object.keys(this.facts).join(', ')}`);
      return value;
    });
    return filled.replaceAll(/(?<=^|[.!?] )you/g, 'You');
  }

  user(words: Words): void {
    this.messages.push({ role: 'user', content: this.text(words) });
  }

  /** @param planted whether the message has the violation */
  say(words: Words, planted = false): void {
    if (planted) this.plant();
    this.messages.push({ role: 'assistant', content: this.text(words) });
  }

  system(content: string): void {
    this.messages.push({ role: 'system', content });
  }

  call(calls: Call | Call[], planted = false, beside: string | null = null): void {
    if (planted) this.plant();
    const made = [calls].flat().map((call) => ({ ...call, id: `call_${++this.calls}` }));
    this.messages.push({
      role: 'assistant',
      content: beside,
      tool_calls: made.map(({ id, name, args }) => ({ id, type: 'function', function: { name, arguments: JSON.stringify(args) } })),
    });
    for (const { id, result } of made)
      this.messages.push({ role: 'tool', tool_call_id: id, content: typeof result === 'string' ? result : JSON.stringify(result) });
  }

  private plant(): void {
    this.expected.push({ message: this.messages.length, kind: this.kind });
  }
}

/** What a customer can want, and how a careful agent serves it. */
export interface Job {
  wish: Words;
  /** Finds the customer. */
  find(t: Talk): void;
  /** Reads what the write needs. */
  read(t: Talk): void;
  /** Names all details and asks for a yes. */
  ask: Words;
  write: Call;
  done: Words;
}

export interface Course {
  wish?: Words;
  find?: false;
  read?: false | ((t: Talk) => void);
  ask?: Words | false;
  answer?: Words | false;
  /** Something between the customer's yes and the write. */
  between?: (t: Talk) => void;
  write?: Call | false;
  done?: Words | false;
  /** The part of the course that has the violation. */
  plant?: 'read' | 'ask' | 'write' | 'done';
  end?: false;
}

export const money = (value: number): string => `$${Math.abs(value).toFixed(2)}`;

export type Kind = {
  layer: LayerName;
  domain: DomainName;
  name: string;
  /** True: it is only in the held-back part. */
  held?: boolean;
  /** A system message that forbids text beside calls and several calls: `strict`; that allows them: `loose`. */
  system?: (bad: boolean) => 'strict' | 'loose';
  write(t: Talk, bad: boolean): void;
};
