/** @file Estimates the chance of success from a turn on, from the stored rollouts that begin before this turn. */
import type { BranchRow, EstimateKey } from '../../../records/branch.ts';
import type { RunRow } from '../../../records/run.ts';
import type { Weights } from '../../library/weights.ts';
import { wilson } from '../../../base/wilson.ts';

/** The agent's weights and the customer that play the rollouts of an estimate. */
export type Players = Omit<EstimateKey, 'stream'>;

export interface Estimate {
  /** The number of rollouts with reward 1. */
  correct: number;
  /** The number of scored rollouts. A rollout whose customer failed is not scored. */
  of: number;
  /** Wilson's 95 % interval, from 0 to 1. */
  low: number;
  high: number;
  /** `weights` names the weights as an address does. `model` is their name for readers. */
  weights: string;
  model: string;
}

type Rolled = BranchRow & { estimate: EstimateKey };
const isRolled = (row: BranchRow): row is Rolled => row.estimate !== undefined;
const samePlayers = (a: Players, b: Players) => a.weights === b.weights && a.customer === b.customer;

/**
 * The estimates, keyed by the number of messages before the turn. Only rollouts of the players `wanted` count. If a turn has no
 * rollouts of these players, the rollouts of the players of its newest rollout count.
 * @param rows the branches of one conversation, the oldest first
 */
export function estimatesOf(rows: readonly BranchRow[], wanted: Players | null): Map<number, Estimate> {
  const scored = rows.filter(isRolled).filter(({ trajectory }) => trajectory.reward !== null);
  const estimates = new Map<number, Estimate>();
  for (const shared of new Set(scored.map((row) => row.shared))) {
    const all = scored.filter((row) => row.shared === shared);
    const { estimate } = all.findLast((row) => wanted && samePlayers(row.estimate, wanted)) ?? all.at(-1)!;
    const counted = all.filter((row) => samePlayers(row.estimate, estimate));
    const correct = counted.filter(({ trajectory }) => trajectory.reward === 1).length;
    const { weights } = estimate;
    estimates.set(shared, { correct, of: counted.length, ...wilson(correct, counted.length)!, weights, model: counted.at(-1)!.model });
  }
  return estimates;
}

/** How many random streams the players have used at this turn. The next rollout must use a new stream. */
export function streamsUsed(rows: readonly BranchRow[], shared: number, players: Players): number {
  const streams = rows
    .filter(isRolled)
    .flatMap((row) => (row.shared === shared && samePlayers(row.estimate, players) ? [row.estimate.stream] : []));
  return Math.max(-1, ...streams) + 1;
}

export interface NearestWeights {
  weights: Weights;
  /** The step after which the weights were stored. */
  step: number;
  /** True if exactly these weights sampled the rollout. */
  exact: boolean;
}

/**
 * A rollout of `step` was sampled by the weights after step − 1. Returns the stored weights of the run that are nearest to that step. The
 * weights that the run began with are a candidate only if they sampled the rollout, or if the browser also has trained weights of the run.
 * Null if there is no candidate.
 */
export function nearestWeights(
  run: Pick<RunRow, 'id' | 'step' | 'request' | 'config'>,
  step: number,
  all: readonly Weights[],
): NearestWeights | null {
  const trained = all.flatMap((weights) => {
    if (weights.run !== run.id) return [];
    const { ref } = weights;
    if (ref.kind === 'run') return [{ weights, step: ref.step }];
    // The id of a kept checkpoint has its step. The weights of a run that comes with the page are those after its last step.
    const kept = /-step-(\d+)$/.exec(ref.name);
    return [{ weights, step: kept ? Number(kept[1]) : run.step }];
  });
  const { init_weights = 'model' } = run.config;
  const first = all.find(({ ref }) => ref.kind === 'model' && ref.name === run.request.model);
  const sampler = step - 1;
  const candidates =
    first && init_weights === 'model' && (sampler === 0 || trained.length > 0) ? [{ weights: first, step: 0 }, ...trained] : trained;
  const distance = (candidate: { step: number }) => Math.abs(candidate.step - sampler);
  const [nearest] = candidates.sort((a, b) => distance(a) - distance(b));
  return nearest ? { ...nearest, exact: distance(nearest) === 0 } : null;
}
