/** A run with a judge: the answers of its first model, the dropped groups, and what the run needs. The engine is a fake. */
import 'fake-indexeddb/auto';
import { expect, test, vi } from 'vitest';
import { rulesFor } from '../../../src/benchmarks/rules.ts';
import { customerScripts, GENERATED_DOMAINS } from '../../../src/domains/registry.ts';
import { createEnvironments } from '../../../src/environments/index.ts';
import { randomWeights } from '../../../src/engine/parameters.ts';
import { readAdapter } from '../../../src/exchange/adapter-folder.ts';
import { inMemory, type ModelParts, saveModel } from '../../../src/exchange/model-folder.ts';
import type { Trajectory } from '../../../src/records/trajectory.ts';
import type { UserConfig } from '../../../src/records/user.ts';
import { RunDatabase } from '../../../src/storage/database.ts';
import type { TrainingSink } from '../../../src/trainer/messages.ts';
import { trainModel } from '../../../src/trainer/train-model.ts';
import { ScriptedUsers } from '../../../src/users/scripted.ts';
import { UserError, type UserSimulator, type Utterance } from '../../../src/users/types.ts';
import { fakeRuns, fakes } from '../../support/fake-runs.ts';
import { hashSampler } from '../../support/hash-sampler.ts';
import { TINY } from '../../support/tiny-config.ts';

const ENDPOINT: UserConfig = { mode: 'endpoint', baseUrl: 'http://me:secret@localhost:9/v1?key=secret', model: 'm', judgeModel: 'wise' };
const SETTINGS = {
  'reward.judge': '1',
  'reward.outcome': '0',
  lora_rank: '4',
  train_batch_size: '2',
  n: '2',
  val_tasks: '0',
  total_training_steps: '3',
  save_freq: '1',
  filter_groups: 'false',
  inspect: 'false',
  max_model_len: '4096',
  response_length_one_turn: '3000',
};
const environments = createEnvironments({ domains: GENERATED_DOMAINS, inMemory: true });
type Decide = (conversation: readonly Utterance[]) => boolean[];
const longer: Decide = ([, a, b]) => [a!.text.length > b!.text.length, b!.text.length > a!.text.length];

/** Trains; resolves to all rollouts, the metrics, the checkpoints, and the adapters with which the engine was opened. */
async function run(
  decide: Decide,
  settings: Record<string, string> = {},
  user = ENDPOINT,
  interrupted?: { checkpoint: Uint8Array; metrics: { step: number }[] },
) {
  const parts = fakes();
  const users: UserSimulator = Object.assign(new ScriptedUsers(customerScripts), {
    judge: async (_: readonly string[], conversation: readonly Utterance[]) => decide(conversation),
  });
  const domain = await environments.domain('chat', 'question');
  Object.assign(parts.stage, { environments, users, domain, rules: rulesFor(domain, 'domain'), sampler: hashSampler(1, 8) });
  const { host } = fakeRuns(new RunDatabase(`judge: ${Math.random()}`), parts);
  // The trained adapter differs from the first one.
  const trained = () =>
    new Map([...adapterWeights(opened[0]!)].map(([name, { shape, data }]) => [name, { shape, data: data.map((x) => x + 1) }]));
  Object.assign(parts.engine, { weights: async () => trained() });
  const opened: ModelParts[] = [];
  const stage = host.stage.bind(host);
  vi.spyOn(host, 'stage').mockImplementation((files, ...more) => (opened.push(files), stage(files, ...more)));
  const kept = { trajectories: [] as Trajectory[], metrics: [] as Record<string, number>[], checkpoints: [] as Uint8Array[] };
  const sink: TrainingSink = {
    progress: () => {},
    note: () => {},
    evaluation: () => {},
    step: (metrics, trajectories) => void (kept.metrics.push(metrics), kept.trajectories.push(...trajectories)),
    checkpoint: (_, packed) => void kept.checkpoints.push(packed),
  };
  const options = {
    preset: 'question',
    overrides: { ...SETTINGS, ...settings },
    user,
    ...(interrupted && { interrupted: { ...interrupted, evaluations: [] } }),
  };
  const result = await trainModel(environments, host, saveModel(TINY, randomWeights(TINY, 1)), options, sink);
  return { ...kept, result, opened: opened.map(adapterWeights) };
}
const adapterWeights = (files: ModelParts) => readAdapter(inMemory(files)).tensors;
const originals = (trajectories: readonly Trajectory[]) =>
  new Map(trajectories.map(({ task, judged }) => [task.scenario.instruction, judged?.original]));

test('the reward of each rollout is the mean score against the other rollout and the original answer', async () => {
  const { trajectories, metrics } = await run(longer);
  expect(trajectories).toHaveLength(12);
  for (const { judged, rewards } of trajectories) {
    expect(rewards).toEqual({ judge: judged!.value });
    expect(judged!.comparisons.map((comparison) => comparison.with)).toEqual([expect.any(Number), null]);
    expect(judged!.judge).toBe('"wise" at http://localhost:9/v1');
  }
  expect(metrics.map((step) => step['judge/verdicts'])).toEqual([12, 12, 12]); // 2 groups × 3 pairs × 2 orders
});

test('a group in which the judge fails is dropped and counted; the other group is trained on', async () => {
  let first: string | undefined;
  const { metrics, trajectories } = await run((conversation) => {
    first ??= conversation[0]!.text;
    if (conversation[0]!.text === first) throw new UserError('the user endpoint at http://localhost:9/v1 cannot be reached', 'network');
    return longer(conversation);
  });
  expect([metrics[0]!['judge/dropped_groups'], metrics[0]!['rollout/dropped'], metrics[1]!['judge/dropped_groups']]).toEqual([
    1,
    2,
    undefined,
  ]);
  const dropped = trajectories.filter(({ reward }) => reward === null);
  expect(dropped.map(({ error }) => error)).toEqual(
    Array(2).fill(
      'the judge "wise" at http://localhost:9/v1 failed, so the group is dropped: the user endpoint at http://localhost:9/v1 cannot be reached',
    ),
  );
});

test('a judge that fails in all groups ends the run with its error', async () => {
  const dead: Decide = () => {
    throw new UserError('the user endpoint at http://localhost:9/v1 cannot be reached', 'network');
  };
  await expect(run(dead)).rejects.toThrow('the judge "wise" at http://localhost:9/v1 failed');
});

test('a continued run compares with the same original answers, sampled from the first adapter', async () => {
  const whole = await run(longer);
  const checkpoint = whole.checkpoints[0]!;
  const rest = await run(longer, {}, ENDPOINT, { checkpoint, metrics: [{ step: 1 }] });
  const again = originals(rest.trajectories);
  expect(again.size).toBe(4);
  for (const [prompt, answer] of again) expect(answer).toBe(originals(whole.trajectories).get(prompt));
  expect(rest.opened).toEqual(whole.opened);
});

test('what a judge needs', async () => {
  await expect(run(longer, {}, { mode: 'scripted' })).rejects.toThrow(
    'setting "reward.judge" is 1: expected 0, or an endpoint or a model in the tab as the customer',
  );
  await expect(run(longer, { lora_rank: '0' })).rejects.toThrow(
    'setting "judge.original" is true: expected lora_rank above 0 or use_kl_loss true',
  );
});
