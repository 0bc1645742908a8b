/** @file The counts of a shadow. Turns of one conversation belong together, so intervals are clustered by conversation. */
import type { AgentUsage } from '../../records/agent-server.ts';
import type { Interval } from '../../records/evaluation.ts';
import { SHADOW_KINDS, type ShadowKind, type ShadowTurn } from '../../records/shadow.ts';
import { usageOf } from '../../users/account.ts';
import { clustersOf, shareInterval } from '../intervals.ts';

/** A count with its share of the scored turns. Null: no turn was scored. */
export interface Counted {
  count: number;
  share: Interval | null;
}

export interface ShadowSummary {
  conversations: number;
  /** The turns with an answer of the candidate. */
  scored: number;
  /** The turns in which the candidate's server failed. */
  unscored: number;
  kinds: Record<Exclude<ShadowKind, 'failed'>, Counted>;
  /** Of the turns in which the recorded agent called a tool: those with the same calls. */
  same_of_calls: Interval | null;
  /** The turns with a write of the candidate to which the customer had not agreed. */
  unconfirmed: Counted;
  /** The turns with a write of the candidate. */
  writing: number;
  /** What the candidate's server used, also for turns that are not scored. Null: no request was made. */
  agent: AgentUsage | null;
}

export const isUnconfirmed = ({ writes }: Pick<ShadowTurn, 'writes'>): boolean => writes.some(({ why }) => why !== null);

export function summarize(turns: readonly ShadowTurn[]): ShadowSummary {
  const scored = turns.filter(({ kind }) => kind !== 'failed');
  const share = (own: readonly ShadowTurn[], counts: (turn: ShadowTurn) => boolean) =>
    shareInterval(
      clustersOf(
        own,
        ({ conversation }) => JSON.stringify(conversation),
        (turn) => Number(counts(turn)),
      ),
    );
  const counted = (counts: (turn: ShadowTurn) => boolean): Counted => ({
    count: scored.filter(counts).length,
    share: share(scored, counts),
  });
  const kinds = SHADOW_KINDS.filter((kind) => kind !== 'failed').map((kind) => [kind, counted((turn) => turn.kind === kind)]);
  return {
    conversations: new Set(turns.map(({ conversation }) => conversation)).size,
    scored: scored.length,
    unscored: turns.length - scored.length,
    kinds: Object.fromEntries(kinds) as ShadowSummary['kinds'],
    same_of_calls: share(
      scored.filter(({ recorded }) => recorded.calls.length > 0),
      ({ kind }) => kind === 'same_call',
    ),
    unconfirmed: counted(isUnconfirmed),
    writing: scored.filter(({ writes }) => writes.length > 0).length,
    agent: usageOf(turns.flatMap(({ requests }) => requests)),
  };
}
