/** @file A conversation as far as it is played: its messages, whose turn it is, and the way back. */
import { nextParty, type NextParty, type Prefix, prefixAt, prefixWith, withoutLast } from '../../agent/prefix.ts';
import { path } from '../../base/message-path.ts';
import type { Trajectory } from '../../records/trajectory.ts';
import { hasEnded, sharedMessages } from '../branches/play-origin.ts';
import { BRANCHES, type Origin } from '../library/origin.ts';
import { forksOf } from './forks.ts';
import type { Role, Setting } from './setting.ts';

export class Position {
  readonly setting: Setting;
  /** The visitor's role. */
  as = $state<Role>('user');
  /** The messages so far; null before the first message. */
  prefix = $state.raw<Prefix | null>(null);
  /** The result of the last move, or the whole stored conversation if it is shown; null after a fork or an undo. */
  result = $state.raw<Trajectory | null>(null);
  /** True until the first move. Until then the visitor's role can move the fork. */
  untouched = $state(true);
  /** The id of the branch that stores this conversation; '' if it is not stored. */
  branch = $state('');
  /** The stored conversation that begins like the shown conversation, or is equal to it. */
  protected stored = $state.raw<(Origin & { trajectory: Trajectory }) | null>(null);

  /** The place where the agent's turn begins with tokens that the visitor chose. “Regenerate” begins there too. */
  protected chosen: Prefix | null = null;

  constructor(setting: Setting) {
    this.setting = setting;
  }

  get ended(): boolean {
    return this.result !== null && hasEnded(this.result);
  }

  get next(): NextParty {
    if (this.ended) return 'nobody';
    const next = nextParty(this.prefix?.nodes ?? []);
    // The benchmark's rules ignore this stop word.
    return next === 'nobody' && this.result ? 'agent' : next;
  }

  /** The conversation so far. */
  get shown(): Pick<Trajectory, 'nodes' | 'leaf' | 'verdict' | 'userCalls'> {
    const nodes = [...(this.prefix?.nodes ?? [])];
    return { nodes, leaf: nodes.length - 1, verdict: this.result?.verdict ?? null, userCalls: [...(this.prefix?.userCalls ?? [])] };
  }

  /** How many messages this conversation and `other` share from the first message on. */
  sharedWith(other: Trajectory | null | undefined): number {
    return other ? sharedMessages(this.prefix?.nodes ?? [], path(other)) : 0;
  }

  /** The place where the visitor can play on, by the id of the message. */
  readonly forks = $derived.by(() => {
    const { termination = 'aborted' } = this.result ?? {};
    return forksOf({ ...this.shown, termination }, this.as, this.stored, this.sharedWith(this.stored?.trajectory));
  });

  /** The words that the agent's next turn begins with; '' if the turn is free. */
  get begun(): string {
    return this.prefix?.turn ? (this.setting.token?.words ?? '') : '';
  }

  get canUndo(): boolean {
    return this.undone() !== null;
  }

  get canRegenerate(): boolean {
    return this.withoutAgent() !== null;
  }

  /** Goes to the fork in the visitor's role. */
  protected fork(): void {
    const { start } = this.setting;
    this.stored = start;
    if (start && this.setting.token) {
      this.prefix = this.chosen = prefixWith(start.trajectory, start.node, this.setting.token);
      this.result = null;
    } else if (start && start.node === start.trajectory.leaf) {
      const { trajectory } = start;
      const { userCalls, userRequests } = trajectory;
      this.prefix = { nodes: path(trajectory), userCalls, userRequests };
      this.result = trajectory;
      if (start.place === BRANCHES) this.branch = start.id;
    } else {
      this.prefix = start && prefixAt(start.trajectory, start.node, this.as);
      this.result = null;
    }
  }

  protected undone(): Prefix | null {
    return this.prefix && withoutLast(this.prefix, this.as === 'agent' ? 'assistant' : 'user');
  }

  protected withoutAgent(): Prefix | null {
    return this.prefix && withoutLast(this.prefix, 'assistant');
  }

  protected goBack(prefix: Prefix): void {
    // A conversation that has ended stays stored as its own branch.
    if (this.ended) this.branch = '';
    const { length } = prefix.nodes;
    if (this.chosen && length < this.chosen.nodes.length) this.chosen = null;
    this.prefix = length === this.chosen?.nodes.length ? this.chosen : prefix;
    this.result = null;
    this.untouched = false;
  }
}
