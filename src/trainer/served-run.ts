/** @file Conversations that another engine's model had with `mua env-serve`, as a run to inspect. */
import type { RunContent } from '../records/bundle.ts';
import type { Trajectory } from '../records/trajectory.ts';
import { limitsFor, presetFor } from '../training/presets.ts';
import { runName } from './run-name.ts';
import { summarize } from './summary.ts';

/**
 * The server does not know the engine's steps, so the run has one. The conversations of one task are a group.
 * @param trajectories at least one, all of one domain and level
 */
export function servedRun(trajectories: readonly Trajectory[], { createdAt, model }: { createdAt: number; model: string }): RunContent {
  const { domain, level } = trajectories[0]!.task;
  const groups = new Map<string, Trajectory[]>();
  for (const trajectory of trajectories) groups.set(trajectory.task.id, [...(groups.get(trajectory.task.id) ?? []), trajectory]);
  const renamed = [...groups.values()].flatMap((own, g) =>
    own.map((trajectory, index) => ({ ...trajectory, id: `1-${g}-${index}`, group: `1-${g}`, index })),
  );
  const scored = renamed.filter(({ reward }) => reward !== null);
  const mean = scored.reduce((sum, { reward }) => sum + reward!, 0) / Math.max(1, scored.length);
  return {
    run: {
      id: crypto.randomUUID(),
      name: runName(renamed.length, createdAt),
      note: 'Conversations that another engine’s model had with mua env-serve. They have texts and tool calls, and no tokens.',
      createdAt,
      status: 'done',
      step: 1,
      request: { model, preset: presetFor(domain, level) ?? 'nano', overrides: {}, user: { mode: 'scripted' } },
      config: { ...limitsFor(domain, level), total_training_steps: 1, train_batch_size: groups.size },
    },
    metrics: [{ step: 1, 'critic/score/mean': mean, 'rollout/dropped': renamed.length - scored.length }],
    rollouts: renamed.map((trajectory) => summarize(trajectory, 1, null)),
    trajectories: renamed,
    branches: [],
    evaluations: [],
    trials: [],
    model: null,
  };
}
