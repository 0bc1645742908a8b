/**
 * @file Near-misses: the demonstrator makes one decision wrong on purpose, and then goes on as if it had made the right one. For that it
 * reads a mended conversation, in which the wrong decision was the right one.
 */
import { type Act, callOf, type ExpertOptions, type NearMisses, type SpoiltExpert } from '../../agent/acts.ts';
import { meaningOf } from '../../agent/answers.ts';
import { hash32 } from '../../base/random.ts';
import type { Domain } from '../../environments/types.ts';
import type { ChatMessage } from '../../records/conversation.ts';
import { NEAR_MISSES, type NearMissKind, type PlannedCall, type ScenarioPeople } from '../../records/scenario.ts';
import type { ToolCall } from '../../records/task.ts';
import { copied, Demonstrator, type Decision } from './expert.ts';
import { keyOf, takeNotes, withShownIds } from './expert-notes.ts';
import { ExpertWords } from './expert-words.ts';
import { peopleOf, planBefore } from './told.ts';
import { lackingArgument, otherRecord, wrongArgument } from './wrong-calls.ts';

export const nearMisses: NearMisses = {
  kinds: (task, style) => {
    const people = peopleOf(task.scenario);
    if (!people) return [];
    const writes = people.refuse === undefined ? task.actions.length : 0;
    const allowed: Record<NearMissKind, boolean> = {
      unasked_write: writes > 0 && style === 'careful',
      wrong_record: writes > 0,
      stale_value: writes === 1 && people.change !== undefined,
      missing_last_write: writes > 1,
      extra_write: writes > 0,
      claimed_not_done: writes > 0,
      wrong_argument: writes > 0,
      forbidden_write: people.tempts.some(({ kind }) => kind === 'forbidden_write'),
      ignored_error: writes > 0,
    };
    return NEAR_MISSES.filter((kind) => allowed[kind]);
  },
  spoil: (domain, seed, kind, options) => new SpoiltDemonstrator(domain, seed, kind, options),
};

type Mend = (messages: readonly ChatMessage[]) => readonly ChatMessage[];
/** The wrong act, and how the demonstrator sees the conversation after it. `script` plays the next acts instead. */
interface Spoilt {
  act: Act;
  mend?: Mend;
  script?: (messages: readonly ChatMessage[]) => Act | null;
}

class SpoiltDemonstrator implements SpoiltExpert {
  firstWrong: number | null = null;
  readonly #right: Demonstrator;
  #spoilt: Spoilt | null = null;

  constructor(
    private readonly domain: Domain,
    private readonly seed: number,
    private readonly kind: NearMissKind,
    private readonly options: ExpertOptions,
  ) {
    this.#right = new Demonstrator(domain, seed, options);
  }

  act(messages: readonly ChatMessage[]): Act {
    if (this.#spoilt) {
      const { mend, script } = this.#spoilt;
      return script?.(messages) ?? this.#right.decide(mend?.(messages) ?? messages).act;
    }
    const decision = this.#right.decide(messages);
    this.#spoilt = this.#spoil(decision, messages);
    if (!this.#spoilt) return decision.act;
    this.firstWrong = messages.length;
    return this.#spoilt.act;
  }

  get #people(): ScenarioPeople {
    return this.#right.people;
  }

  get #actions(): readonly ToolCall[] {
    return this.options.task!.actions;
  }

  /** The wrong decision of this kind. Null: the right decision is no occasion for it. */
  #spoil(decision: Decision, messages: readonly ChatMessage[]): Spoilt | null {
    const at = messages.length;
    const { actions } = this.#right.plan(takeNotes(messages, this.#people));
    const isWrite = decision.step === 'write' && !this.domain.terminalTools.includes(actions[decision.write]!.name);
    switch (this.kind) {
      case 'unasked_write':
        return decision.step === 'propose' ? { act: { call: copied(actions[decision.write]!) } } : null;
      case 'wrong_record':
      case 'wrong_argument': {
        const call = isWrite && this.#wrongCall(this.kind, actions[decision.write]!, messages);
        return call ? { act: { call }, mend: replacing(at, actions[decision.write]!) } : null;
      }
      case 'stale_value':
        return this.#stale(messages);
      case 'missing_last_write':
        return (isWrite || decision.step === 'propose') && decision.write === actions.length - 1 ? this.#leaveOut(messages, false) : null;
      case 'claimed_not_done':
        return isWrite && decision.write === actions.length - 1 ? this.#leaveOut(messages, true) : null;
      case 'extra_write': {
        const call = decision.step === 'report' && this.#wrongCall('extra_write', actions.at(-1)!, messages);
        return call ? { act: { call }, mend: (now) => [...now.slice(0, at), ...now.slice(at + 2)] } : null;
      }
      case 'forbidden_write':
        return decision.step === 'refuse' || decision.step === 'propose' ? this.#forbidden() : null;
      case 'ignored_error':
        return isWrite && decision.write === actions.length - 1 ? this.#ignore(actions[decision.write]!, at) : null;
    }
  }

  /** A wrong call that the scenario names, or one made from the right call. */
  #wrongCall(kind: NearMissKind, right: PlannedCall, messages: readonly ChatMessage[]): ToolCall | null {
    const named = this.#people.tempts.filter((tempt) => tempt.kind === kind && keyOf(tempt) !== keyOf(right));
    const tempt = named[hash32(this.seed, 0xbad) % Math.max(1, named.length)];
    if (tempt) return { name: tempt.name, arguments: { ...tempt.arguments } };
    const { shown } = takeNotes(messages, this.#people);
    if (kind === 'wrong_record') return otherRecord(right, shown.join('\n'), this.seed);
    const schema = this.domain.tools.find((tool) => tool.function.name === right.name);
    return wrongArgument(right, { schema, facts: this.#people.facts, seed: this.seed });
  }

  /** Writes the value that the customer has just changed, as if the customer had said yes. */
  #stale(messages: readonly ChatMessage[]): Spoilt | null {
    const [right] = this.#actions;
    const notes = takeNotes(messages, this.#people);
    if (notes.unchanged || notes.missing.length > 0 || messages.at(-1)?.role !== 'user') return null;
    const before = planBefore(this.#people, this.#actions).actions[0]!;
    const call = withShownIds(before, notes);
    if (!call || keyOf(call) === keyOf(right!)) return null;
    const at = messages.length;
    const agreed: Mend = (now) => now.map((message, i) => (i === at - 1 ? { ...message, content: 'Yes.' } : message));
    const mend: Mend = (now) => replacing(at, before)(agreed(now));
    // The report names nothing, because the customer would hear the wrong value.
    return {
      act: { call },
      mend,
      script: (now) => (now.length === at + 2 ? { say: new ExpertWords(this.seed, now.length).brief() } : null),
    };
  }

  /** Reports before the last write. @param claims whether the report says that this write was made, too */
  #leaveOut(messages: readonly ChatMessage[], claims: boolean): Spoilt {
    const actions = this.#actions;
    const mend: Mend = (now) => [...now.slice(0, messages.length), called(actions.at(-1)!), RESULT, ...now.slice(messages.length)];
    const all = actions.map((_, i) => i);
    const words = new ExpertWords(this.seed, messages.length);
    const report = this.#right.report(takeNotes(mend(messages), this.#people), words, claims ? all : all.slice(0, -1));
    return { act: report.act, mend };
  }

  /** Does what the policy forbids: proposes it, does it after a yes, and reports it. */
  #forbidden(): Spoilt | null {
    const tempt = this.#people.tempts.find(({ kind }) => kind === 'forbidden_write');
    if (!tempt) return null;
    const { says } = tempt;
    const call: ToolCall = { name: tempt.name, arguments: { ...tempt.arguments } };
    const script = (messages: readonly ChatMessage[]): Act | null => {
      const words = new ExpertWords(this.seed, messages.length);
      const last = messages.at(-1)!;
      const wrote = messages.findIndex((message) => keyOf(callOf(message) ?? { name: '', arguments: {} }) === keyOf(call));
      if (wrote < 0) return meaningOf(last.content) === 'yes' ? { call } : null;
      if (wrote < messages.length - 2) return { say: words.close() };
      return last.content.startsWith('Error') ? null : { say: says === undefined ? words.brief() : words.report([says], [], true) };
    };
    const proposes = says !== undefined && this.options.style !== 'brisk';
    return { act: proposes ? { say: new ExpertWords(this.seed, 0).propose([says]) } : { call }, script };
  }

  /** Makes a call without an argument that the tool needs, and claims success after the error. */
  #ignore(right: PlannedCall, at: number): Spoilt {
    const schema = this.domain.tools.find((tool) => tool.function.name === right.name);
    const mend: Mend = (now) => replacing(at, right)(now).map((message, i) => (i === at + 1 ? RESULT : message));
    return { act: { call: lackingArgument(right, schema) }, mend };
  }
}

const called = ({ name, arguments: args }: PlannedCall): ChatMessage => ({
  role: 'assistant',
  content: '',
  tool_calls: [{ type: 'function', function: { name, arguments: { ...args } } }],
});
const RESULT: ChatMessage = { role: 'tool', content: '{}' };
const replacing =
  (at: number, call: PlannedCall): Mend =>
  (messages) =>
    messages.map((message, i) => (i === at ? called(call) : message));
