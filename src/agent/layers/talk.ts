/** @file A conversation as the checks of communication and recovery read it: who said what before and after a place. */
import { canonicalJson } from '../../base/json.ts';
import type { Json } from '../../records/json.ts';
import type { LayeredConversation } from '../layers.ts';
import { readable } from '../sentences.ts';
import { didNothing, isWrite, resultOf, type ToolEvent } from './readings.ts';

export interface Said {
  place: number;
  text: string;
}

/** A call with its result. */
export interface Made {
  place: number;
  name: string;
  args: Record<string, Json>;
  value: Json;
  failed: boolean;
  /** It changed data. */
  write: boolean;
}

export class Talk {
  /** The agent's messages. */
  readonly said: readonly Said[];
  /** The customer's messages. */
  readonly heard: readonly Said[];
  readonly calls: readonly Made[];
  /** The number of events. */
  readonly end: number;

  constructor({ events }: Pick<LayeredConversation, 'events'>) {
    const texts = (kind: 'user' | 'agent') =>
      events.flatMap((event, place) => (event.kind === kind ? [{ place, text: readable(event.text) }] : []));
    this.said = texts('agent');
    this.heard = texts('user').map(({ place, text }) => ({ place, text: text.replace(/###[\w-]+###/g, '') }));
    this.calls = events.flatMap((event, place) => (event.kind === 'tool' ? [made(event, place)] : []));
    this.end = events.length;
  }

  /** The successful writes. */
  get writes(): readonly Made[] {
    return this.calls.filter(({ write }) => write);
  }

  /** The successful writes, and those that timed out and fail when they are repeated: the first call had done them. */
  get done(): readonly Made[] {
    return this.calls.filter((call) => call.write || (call.failed && TIMEOUT.test(String(call.value)) && this.#isRefusedAgain(call)));
  }

  #isRefusedAgain(call: Made): boolean {
    const key = canonicalJson([call.name, call.args]);
    const again = this.calls.find(
      (other) => other.place > call.place && canonicalJson([other.name, other.args]) === key && !isTransient(other),
    );
    return again !== undefined && again.failed;
  }

  /** The place of the customer's first message after a place. */
  nextHeard(place: number): number {
    return this.heard.find((message) => message.place > place)?.place ?? this.end;
  }

  /** The place of the customer's last message before a place. -1: there is none. */
  lastHeard(place: number): number {
    return this.heard.findLast((message) => message.place < place)?.place ?? -1;
  }

  /** The place of the agent's first message or call after a place. Without one, of its last one before. */
  nextOwn(place: number): number {
    const own = [...this.said, ...this.calls].map((event) => event.place).sort((a, b) => a - b);
    return own.find((other) => other > place) ?? own.findLast((other) => other < place) ?? place;
  }

  /**
   * The places between which the agent speaks about a write: after the writes of an earlier turn, and before those of a later one. A turn
   * can have several writes.
   */
  turnOf({ place }: Made): { from: number; to: number } {
    const [before, after] = [this.lastHeard(place), this.nextHeard(place)];
    return {
      from: this.writes.findLast((write) => write.place < before)?.place ?? -1,
      to: this.writes.find((write) => write.place > after)?.place ?? this.end,
    };
  }

  /** Whether the conversation ends before the agent can speak about a write. */
  isCut({ place }: Made): boolean {
    return this.nextHeard(place) === this.end && this.calls.at(-1)!.place === this.end - 1;
  }

  /** The successful writes of a turn of the agent. */
  writesBeside({ place }: Made): Made[] {
    const [before, after] = [this.lastHeard(place), this.nextHeard(place)];
    return this.writes.filter((write) => write.place > before && write.place < after);
  }

  /** What the agent said between two places. */
  saidIn(from: number, to = this.end): Said[] {
    return this.said.filter(({ place }) => place > from && place < to);
  }

  heardIn(from: number, to = this.end): Said[] {
    return this.heard.filter(({ place }) => place > from && place < to);
  }

  callsIn(from: number, to = this.end): Made[] {
    return this.calls.filter(({ place }) => place > from && place < to);
  }
}

const TIMEOUT = /\btime(?:d )?[ -]?out\b/i;

/** Whether an error asks for another try. */
export const isTransient = ({ failed, value }: Made): boolean =>
  failed &&
  /\b(?:busy|try again|retry|time(?:d )?[ -]?out|unavailable|temporar\w*|internal (?:server )?error|server error|overloaded|connection|network|rate limit\w*|too many requests|50[0234])\b/i.test(
    typeof value === 'string' ? value : JSON.stringify(value),
  );

const made = (event: ToolEvent, place: number): Made => ({
  place,
  name: event.call.name,
  args: event.call.arguments,
  value: resultOf(event),
  failed: didNothing(event),
  write: isWrite(event) && !event.result.error,
});

/** The numbers of a value, at any depth. */
export function* numbersIn(value: Json): Generator<number> {
  if (typeof value === 'number') yield value;
  else if (value !== null && typeof value === 'object') for (const entry of Object.values(value)) yield* numbersIn(entry);
}
