/** Steps of rft and sft lower the loss of a small model on a real engine. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { renderConversation } from '../../src/agent/chat-template.ts';
import type { Stage } from '../../src/agent/rollouts.ts';
import { flatten } from '../../src/agent/trajectory.ts';
import { openTokenizer } from '../../src/agent/tokenizer.ts';
import { rulesFor } from '../../src/benchmarks/rules.ts';
import { createEngine } from '../../src/engine/engine.ts';
import { Gpu } from '../../src/engine/gpu.ts';
import type { Engine } from '../../src/engine/types.ts';
import { createEnvironments } from '../../src/environments/index.ts';
import { fetchBundledModel } from '../../src/exchange/bundled-models.ts';
import { loadModel } from '../../src/exchange/model-folder.ts';
import { grpoConfig } from '../../src/training/config.ts';
import { freshWeights } from '../../src/training/init-weights.ts';
import { rftStep } from '../../src/training/rft.ts';
import { sftStep } from '../../src/training/sft-run.ts';
import { STOP } from '../../src/users/types.ts';
import { GENERATED_DOMAINS } from '../../src/domains/registry.ts';

const SETTINGS = { train_batch_size: 2, n: 2, lr: 3e-3, lr_warmup_steps: 0, lr_scheduler_type: 'constant', inspect: false };
let gpu: Gpu;
let engine: Engine;
let stage: Stage;

beforeAll(async () => {
  gpu = await Gpu.create();
  const files = await fetchBundledModel('nano-retail');
  const config = { ...loadModel(files).config, hidden_size: 32, intermediate_size: 32, num_hidden_layers: 2, head_dim: 16 };
  engine = await createEngine(gpu, config, freshWeights(config, { init: 'random', seed: 1 }), { maxModelLen: 1024, slots: 4 });
  const environments = createEnvironments({ domains: GENERATED_DOMAINS });
  const domain = await environments.domain('retail', 'nano');
  stage = {
    domain,
    rules: rulesFor(domain, 'domain'),
    // Every rollout succeeds.
    environments: Object.assign(Object.create(environments) as typeof environments, {
      verify: async () => ({ reward: 1, changes: [], goal: [], progress: 1 }),
    }),
    tokenizer: await openTokenizer(files),
    users: { session: () => ({ open: async () => 'Hello.', reply: async () => STOP }) },
    sampler: engine.sampler,
  };
});
afterAll(() => {
  engine.destroy();
  gpu.destroy();
});

test('rft makes the successful rollouts more likely', async () => {
  const config = grpoConfig('nano', {
    ...SETTINGS,
    algorithm: 'rft',
    rft_epochs: 3,
    require_done: false,
    malformed_policy: 'as_text',
    response_length_one_turn: 12,
  });
  const { metrics, trajectories } = await rftStep(stage, engine, config, 1);
  const examples = trajectories.map((trajectory) => ({ ...flatten(trajectory), weight: 1 }));
  const { logprobs } = await engine.score(examples);
  const count = metrics['perf/total_sampled_tokens']!;
  const after = -logprobs.reduce((total, row) => total + row.reduce((s, value) => s + value, 0), 0) / count;
  expect(count).toBe(48);
  expect(after).toBeLessThan(metrics['train/loss']! - 0.05);
});

test('sft lowers the loss on a dataset', async () => {
  const dataset = Array.from({ length: 4 }, () => ({
    messages: [
      { role: 'user' as const, content: 'Hi. I want to cancel an order.' },
      { role: 'assistant' as const, content: 'What is your email, or your name and zip?' },
    ],
  }));
  expect(renderConversation(stage.tokenizer, dataset[0]!).tokens.length).toBeLessThan(100);
  const config = grpoConfig('nano', { ...SETTINGS, algorithm: 'sft', sft_mini_batch_size: 2 });
  const losses: number[] = [];
  for (let step = 1; step <= 8; step++) losses.push((await sftStep(stage, engine, config, step, { dataset })).metrics['train/loss']!);
  expect(losses.at(-1)).toBeLessThan(losses[0]! - 1);
});
