/** @file Makes a run, which can only be inspected, from conversations of another engine or tool. */
import { groupBy } from '../base/group-by.ts';
import { InputError, shown } from '../base/input-error.ts';
import { mean } from '../evaluation/pass-hat.ts';
import { MOST_MESSAGES } from '../exchange/trajectory-schema.ts';
import type { RunContent } from '../records/bundle.ts';
import { type GrpoConfig, MOST_WORDS, type StepMetrics } from '../records/run.ts';
import { FOREIGN_PLACE } from '../records/task.ts';
import type { Trajectory } from '../records/trajectory.ts';
import { isScored } from '../base/total-reward.ts';
import { rolloutMetrics } from '../training/metrics.ts';
import { type ForeignWords, sayForeign } from './foreign-conversation.ts';
import { runName } from './run-name.ts';
import { summarize } from './summary.ts';

/** A conversation with its place in the training, as far as the file tells it. */
export interface ReadOnlyRollout {
  trajectory: Trajectory;
  /** Absent if the file has no steps. In this case all conversations belong to one step. */
  step?: number;
  advantage: number | null;
}

export interface ReadOnlyRunOptions extends ForeignWords {
  createdAt: number;
  /** The name, for people, of the tool that wrote the conversations, for example `TRL` or `Inspect`. */
  source: string;
  name?: string;
  /** What the file has that was left out or read differently. */
  notes?: readonly string[];
}

/**
 * Makes the content of the run. Ids and groups are kept if they are unique and can be part of a path or address. Otherwise
 * they are replaced by numbers. Rollouts of one step with the same group form a group.
 * @param rollouts must all have the same domain and level
 * @throws InputError if a conversation has too many messages to show, or if the rule of success cannot be read
 */
export function readOnlyRun(
  rollouts: readonly ReadOnlyRollout[],
  { createdAt, source, name, notes = [], ...words }: ReadOnlyRunOptions,
): RunContent {
  const long = rollouts.find(({ trajectory }) => trajectory.nodes.length > MOST_MESSAGES);
  if (long)
    throw new InputError(
      `conversation ${shown(long.trajectory.id)} has ${long.trajectory.nodes.length} messages: expected at most ${MOST_MESSAGES}, which the page can show`,
    );
  const { domain, level } = rollouts[0]?.trajectory.task ?? FOREIGN_PLACE;
  const { conversations, said } = sayForeign(
    rollouts.map(({ trajectory }) => trajectory),
    words,
  );
  const placed = withIds(rollouts.map((rollout, i) => ({ ...rollout, trajectory: conversations[i]!, step: rollout.step ?? 1 })));
  const steps = [...new Set(placed.map(({ step }) => step))].sort((a, b) => a - b);
  const last = steps.at(-1) ?? 0;
  const groups = new Set(placed.map(({ trajectory }) => trajectory.group));
  return {
    run: {
      id: crypto.randomUUID(),
      name: (name || runName(placed.length, createdAt)).slice(0, MOST_WORDS.name),
      note: [`Conversations from ${source}. The run has what the file has, and cannot be trained further.`, ...notes]
        .join('\n')
        .slice(0, 4000),
      createdAt,
      status: 'done',
      step: last,
      foreign: said,
      request: { model: source, preset: '', overrides: {}, user: { mode: 'scripted' } },
      // The file has no settings of training. The page needs these.
      config: {
        domain,
        level,
        seed: 0,
        total_training_steps: last,
        train_batch_size: Math.max(1, Math.round(groups.size / Math.max(1, steps.length))),
        n: Math.max(1, Math.round(placed.length / Math.max(1, groups.size))),
      } as GrpoConfig,
    },
    ...rowsOf(placed),
    trajectories: placed.map(({ trajectory }) => trajectory),
    branches: [],
    evaluations: [],
    trials: [],
    model: null,
  };
}

type Placed = ReadOnlyRollout & { step: number };

/** The metrics and the rows of placed conversations. */
export const rowsOf = (placed: readonly Placed[]): Pick<RunContent, 'metrics' | 'rollouts'> => ({
  metrics: [...groupBy(placed, ({ step }) => step)]
    .sort(([a], [b]) => a - b)
    .map(([step, own]) =>
      metricsOf(
        step,
        own.map(({ trajectory }) => trajectory),
      ),
    ),
  rollouts: placed.map(({ trajectory, step, advantage }) => summarize(trajectory, step, advantage)),
});

/** The metrics of the rollouts of a step, as training computes them. If the file has no tokens, the metrics of tokens are omitted. */
function metricsOf(step: number, own: readonly Trajectory[]): StepMetrics {
  const scored = [...groupBy(own.filter(isScored), ({ group }) => group).values()];
  const withTokens = own.some(({ nodes }) => nodes.some(({ tokens }) => tokens.length > 0));
  const metrics = Object.entries(scored.length > 0 ? rolloutMetrics(scored) : {});
  return {
    step,
    ...Object.fromEntries(
      withTokens ? metrics : metrics.filter(([name]) => !/^(?:(?:prompt|response)_length|sample_diversity)/.test(name)),
    ),
    ...columnMetrics(own),
    'rollout/dropped': own.length - scored.flat().length,
  };
}

/** The mean of each column with numbers or booleans, as `column/NAME/mean`. */
function columnMetrics(own: readonly Trajectory[]): Record<string, number> {
  const cells = own.flatMap(({ foreign }) => Object.entries(foreign?.columns ?? {})).filter(([, value]) => typeof value !== 'string');
  const columns = [...groupBy(cells, ([name]) => name)];
  return Object.fromEntries(columns.map(([name, all]) => [`column/${name}/mean`, mean(all.map(([, value]) => Number(value)))]));
}

const USABLE_ID = /^[\w.:-]{1,100}$/;

function withIds(placed: readonly Placed[]): Placed[] {
  const ids = new Set(placed.map(({ trajectory }) => trajectory.id));
  const steps = new Map<string, number>();
  const usable = placed.every(({ trajectory: { id, group }, step }) => {
    const own = (steps.get(group) ?? step) === step;
    steps.set(group, step);
    return own && USABLE_ID.test(id) && USABLE_ID.test(group);
  });
  if (usable && ids.size === placed.length) return [...placed];
  const groups = new Map<string, { group: string; size: number }>();
  const inStep = new Map<number, number>();
  return placed.map((rollout) => {
    const { trajectory, step } = rollout;
    const key = `${step} ${trajectory.group}`;
    let own = groups.get(key);
    if (!own) {
      const g = inStep.get(step) ?? 0;
      inStep.set(step, g + 1);
      groups.set(key, (own = { group: `${step}-${g}`, size: 0 }));
    }
    const index = own.size++;
    return { ...rollout, trajectory: { ...trajectory, id: `${own.group}-${index}`, group: own.group, index } };
  });
}
