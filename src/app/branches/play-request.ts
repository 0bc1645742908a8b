/** @file The request that plays one move of a conversation, or several rollouts from its present message. */
import type { Prefix } from '../../agent/prefix.ts';
import { limitsOf } from '../../evaluation/types.ts';
import type { BranchRow } from '../../records/branch.ts';
import type { ModelRef } from '../../records/model.ts';
import type { GrpoConfig } from '../../records/run.ts';
import type { Task } from '../../records/task.ts';
import type { Trajectory } from '../../records/trajectory.ts';
import type { UserConfig } from '../../records/user.ts';
import type { PlayRequest, Progress } from '../../trainer/messages.ts';
import { limitsFor } from '../../training/presets.ts';
import type { Library } from '../library/library.ts';
import type { TrainerClient } from '../clients/trainer-client.svelte.ts';

/** The conversation that a request continues. */
interface Stage {
  task: Task;
  config: GrpoConfig;
  /** The stored conversation; null for a new one. */
  start: { trajectory: Pick<Trajectory, 'seed' | 'userSeed'> } | null;
}

/** The model that plays the agent, and the simulated customer. */
export interface Party {
  model: ModelRef;
  modelName: string;
  simulator: UserConfig;
}

export type Request = PlayRequest;

/** The number of the first random stream of played turns. It is above the numbers that training uses. */
const FIRST_STREAM = 0xc0000000;

/** The configuration of a conversation. An imported run may lack settings: the defaults of the task's level take their place. */
export const configOf = ({ domain, level }: Pick<Task, 'domain' | 'level'>, known?: Partial<GrpoConfig>): GrpoConfig => ({
  ...limitsFor(domain, level),
  ...known,
});

/** @param turns how many turns were played before: each turn gets its own random stream */
export function requestOf(
  { task, config, start }: Stage,
  { model, simulator }: Pick<Party, 'model' | 'simulator'>,
  prefix: Prefix | null,
  turns: number,
): PlayRequest {
  const { temperature, top_p, top_k, conversation_rules, seed } = config;
  return {
    task,
    model,
    simulator,
    prefix,
    limits: limitsOf(config),
    sampling: { temperature, top_p, top_k },
    rules: conversation_rules,
    seed: start?.trajectory.seed ?? seed,
    userSeed: start?.trajectory.userSeed ?? start?.trajectory.seed ?? seed,
    stream: FIRST_STREAM + turns,
  };
}

/**
 * Lets the model and the simulated customer play to the end, `n` times, and stores the rollouts as one batch of branches.
 * @param of returns the other fields of a branch, which the rollout does not determine
 * @throws the trainer's error; also if the request is stopped. After an error, nothing is stored
 */
export async function rollOut(
  { client, library }: { client: Pick<TrainerClient, 'play'>; library: Pick<Library, 'putBranches'> },
  request: PlayRequest,
  n: number,
  of: (trajectory: Trajectory) => Pick<BranchRow, 'origin' | 'model' | 'estimate'>,
  progress: Progress,
): Promise<Trajectory[]> {
  const played = await client.play({ ...request, n }, progress);
  const batch = crypto.randomUUID();
  const now = Date.now();
  const shared = request.prefix?.nodes.length ?? 0;
  await library.putBranches(
    played.map((trajectory, i) => ({ id: crypto.randomUUID(), createdAt: now + i, shared, batch, trajectory, ...of(trajectory) })),
  );
  return played;
}
