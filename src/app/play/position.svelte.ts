/** @file The present state of a played conversation: its messages, whose turn it is, and the ways back. */
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
  /** The result of the last move, or the stored conversation if all of it is shown; null after a fork or an undo. */
  result = $state.raw<Trajectory | null>(null);
  /** True until the first move. While true, a change of the visitor's role can move the fork. */
  untouched = $state(true);
  /** The id of the branch that stores this conversation; '' if it is not stored. */
  branch = $state('');
  /** The stored conversation that the shown conversation continues, or that is equal to it. */
  protected stored = $state.raw<(Origin & { trajectory: Trajectory }) | null>(null);

  /** The messages, and the tokens that the visitor chose for the beginning of the agent's turn. “Regenerate” starts from these too. */
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
    // The customer's stop word is last, but the conversation has not ended: the benchmark's rules ignored the stop word.
    return next === 'nobody' && this.result ? 'agent' : next;
  }

  /** The conversation so far. */
  get shown(): Pick<Trajectory, 'nodes' | 'leaf' | 'verdict' | 'userCalls'> {
    const nodes = [...(this.prefix?.nodes ?? [])];
    return { nodes, leaf: nodes.length - 1, verdict: this.result?.verdict ?? null, userCalls: [...(this.prefix?.userCalls ?? [])] };
  }

  /** How many messages at the beginning are equal in this conversation and `other`. */
  sharedWith(other: Trajectory | null | undefined): number {
    return other ? sharedMessages(this.prefix?.nodes ?? [], path(other)) : 0;
  }

  /** For the id of each message: the fork at which the visitor can continue. */
  readonly forks = $derived.by(() => {
    const { termination = 'aborted' } = this.result ?? {};
    return forksOf({ ...this.shown, termination }, this.as, this.stored, this.sharedWith(this.stored?.trajectory));
  });

  /** The words with which the agent's next turn must begin; '' if it can begin with any words. */
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
    // The next move starts a new branch, so that the conversation that has ended stays stored.
    if (this.ended) this.branch = '';
    const { length } = prefix.nodes;
    if (this.chosen && length < this.chosen.nodes.length) this.chosen = null;
    this.prefix = length === this.chosen?.nodes.length ? this.chosen : prefix;
    this.result = null;
    this.untouched = false;
  }
}
