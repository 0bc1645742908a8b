/** The toy benchmark's results: `{"nights": [{"task": …, "switched": [[lamp, on], …], "slept": …, "reward": …}]}`. */
import { compareRewards } from '../../../src/benchmarks/compare-rewards.ts';
import type { BenchmarkResults } from '../../../src/benchmarks/definition.ts';
import { path } from '../../../src/base/message-path.ts';
import { isObject } from '../../../src/base/json.ts';
import { lampScore, type LampTask } from './index.ts';

interface Night {
  task: string;
  switched: [lamp: string, on: boolean][];
  slept: boolean;
  reward: number | null;
}

export const lampResults: BenchmarkResults<LampTask> = {
  isFile: (value) => isObject(value) && Array.isArray(value.nights),
  read: async (_, value) =>
    (value as unknown as { nights: Night[] }).nights.map(({ task, switched, slept, reward }) => ({
      task,
      trial: 0,
      conversation: {
        turns: switched.map(([lamp, on]) => ({
          kind: 'called',
          call: { name: 'switch_lamp', arguments: { lamp, on }, recorded: 'done' },
        })),
        ended: slept,
      },
      reward,
      parts: {},
      gold: null,
      judged: new Map(),
      problems: [],
    })),
  score(run, played) {
    const { reward, observations, differences } = lampScore(played);
    const { lamp, on } = played.task;
    const parts = { lamp: reward, slept: Number(run.conversation.ended) };
    return compareRewards(run, {
      reward: run.conversation.ended ? reward : 0,
      parts,
      observations,
      differences,
      gold: [{ name: 'switch_lamp', arguments: { lamp, on } }],
    });
  },
  write: (trajectories): { nights: Night[] } => ({
    nights: trajectories.map((trajectory) => ({
      task: trajectory.task.benchmark!.id,
      switched: path(trajectory).flatMap(({ toolCall }) =>
        toolCall ? [[String(toolCall.arguments.lamp), toolCall.arguments.on === true]] : [],
      ),
      slept: trajectory.ending === 'asleep',
      reward: trajectory.reward,
    })),
  }),
};
