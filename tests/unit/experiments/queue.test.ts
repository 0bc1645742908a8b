/** The queue of an experiment over any store. */
import { expect, test } from 'vitest';
import { ExperimentQueue, type ExperimentStore } from '../../../src/experiments/queue.ts';
import type { ExperimentContent } from '../../../src/records/experiment.ts';
import { EXPERIMENT, finishedRun } from '../../support/experiments.ts';

function memory(content: ExperimentContent | undefined): ExperimentStore {
  return { read: async () => content, add: async (run) => void content?.runs.push(run) };
}
const names = async (queue: ExperimentQueue) => (await queue.pending()).map(({ pair }) => `${pair.variant} ${pair.seed}`);

test('what is finished leaves the queue, and its logs are kept for the analysis', async () => {
  const content = { experiment: EXPERIMENT, runs: [finishedRun('kl', EXPERIMENT.seeds[0]!, [1])] };
  const queue = new ExperimentQueue(memory(content));
  const before = await names(queue);
  expect(before).toHaveLength(EXPERIMENT.seeds.length * EXPERIMENT.variants.length - 1);
  const [next] = await queue.pending();
  expect(next!.request.overrides).toMatchObject({ seed: next!.pair.seed });
  await queue.finish(next!.pair, {
    metrics: [
      { step: 1, 'critic/score/mean': 0.25, 'perf/time_per_step': 2 },
      { step: 2, 'critic/score/mean': 0.75, 'perf/time_per_step': 3 },
    ],
    evaluations: [{ step: 2, report: { seconds: 5 }, results: [] }],
  });
  expect(await names(queue)).toEqual(before.slice(1));
  expect(content.runs.at(-1)).toMatchObject({ ...next!.pair, steps: 2, seconds: 10, metrics: { 'critic/score/mean': [0.25, 0.75] } });
});

test('a deleted experiment has nothing to do and keeps nothing', async () => {
  const queue = new ExperimentQueue(memory(undefined));
  expect(await queue.pending()).toEqual([]);
  await queue.finish({ variant: 'kl', seed: 42 }, { metrics: [], evaluations: [] });
  expect(await queue.pending()).toEqual([]);
});
