/** Runs of the page's trainer without a GPU: the engine, the customers and the environment are fakes, the storage is real. */
import { vi } from 'vitest';
import { Activities } from '../../src/base/activities.ts';
import type { Stage } from '../../src/agent/rollouts.ts';
import { rulesFor } from '../../src/benchmarks/rules.ts';
import { configJson } from '../../src/engine/config.ts';
import { randomWeights } from '../../src/engine/parameters.ts';
import type { Engine, TrainSequence } from '../../src/engine/types.ts';
import { jsonFile } from '../../src/exchange/model-folder.ts';
import type { RunRequest } from '../../src/records/run.ts';
import type { RunDatabase } from '../../src/storage/database.ts';
import type { EngineHost } from '../../src/trainer/engine-host.ts';
import { GpuTurns } from '../../src/trainer/gpu-turns.ts';
import type { RunEvent } from '../../src/trainer/messages.ts';
import { Runs } from '../../src/trainer/runs.ts';
import type { SessionParts } from '../../src/trainer/session-parts.ts';
import { PRESETS } from '../../src/training/presets.ts';
import type { MeteredUsers } from '../../src/users/account.ts';
import { STOP, UserError, type UserSimulator } from '../../src/users/types.ts';
import { domain, OrderDesk, ReplaySampler, task } from './episodes.ts';
import { TINY } from './tiny-config.ts';
import { nanoTokenizer } from './tokenizers.ts';

/** Customers that answer until the `failing`-th conversation. From it on, each conversation fails. */
export class Customers implements UserSimulator {
  #met = 0;
  constructor(private readonly failing = Infinity) {}
  session() {
    const absent = ++this.#met >= this.failing;
    return {
      open: async () => {
        if (absent) throw new UserError('the user endpoint at nowhere cannot be reached', 'network');
        return 'Cancel my order.';
      },
      reply: async () => STOP,
    };
  }
}

export const scores = (sequences: readonly TrainSequence[]) => {
  const filled = () => sequences.map(({ tokens }) => new Float32Array(tokens.length));
  return {
    logprobs: filled(),
    entropies: filled(),
    top: sequences.map(() => ({ k: 0, ids: new Uint32Array(), logprobs: new Float32Array() })),
  };
};

export function fakes(users: UserSimulator = new Customers()) {
  const environments = Object.assign(new OrderDesk(), {
    tasks: async ({ count }: { count: number }) => Array.from({ length: count }, () => task),
  });
  // Each episode opens a new sequence of the sampler.
  const samplers = {
    maxModelLen: 4096,
    open: async () => ({ id: 0, length: 0 }),
    append: () => {},
    close: () => {},
    generate: async () =>
      new ReplaySampler(['Done.<|im_end|>']).generate(null!, {
        maxNewTokens: 99,
        temperature: 1,
        topP: 1,
        topK: 0,
        stopTokenIds: [nanoTokenizer().id('<|im_end|>')],
      }),
  };
  const weights = randomWeights(TINY, 1);
  const engine = {
    sampler: samplers,
    score: async (sequences: readonly TrainSequence[]) => scores(sequences),
    accumulate: vi.fn(async (sequences: readonly TrainSequence[]) => scores(sequences)),
    step: async () => ({ gradNorm: 1 }),
    snapshotReference: async () => {},
    loadWeights: () => {},
    loadOptimizerState: async () => {},
    weights: async () => weights,
    optimizerState: async () => ({ step: 1, m: new Map(), v: new Map() }),
  } as unknown as Engine & { accumulate: ReturnType<typeof vi.fn> };
  const rules = rulesFor(domain, 'domain');
  const stage: Stage = { domain, environments, users, sampler: engine.sampler, tokenizer: nanoTokenizer(), rules };
  return { engine, stage };
}

export const SETTINGS = {
  train_batch_size: 1,
  ppo_mini_batch_size: 1,
  n: 2,
  val_tasks: 1,
  test_freq: 0,
  save_freq: 0,
  total_training_steps: 3,
  filter_groups: false,
  inspect: false,
  filter_noop_tasks: false,
};
export const CONFIG = { ...PRESETS.nano!.config, ...SETTINGS };
export const REQUEST: RunRequest = { model: 'any', preset: 'nano', overrides: SETTINGS, user: { mode: 'scripted' } };

export type FakeParts = ReturnType<typeof fakes>;

/** A trainer over a database. `ready`: when the engine is loaded. */
export function fakeRuns(
  database: RunDatabase,
  { engine, stage }: FakeParts,
  ready: Promise<void> = Promise.resolve(),
  meter?: MeteredUsers,
) {
  const info = async () => ({ vendor: 'v', architecture: 'a', description: 'a GPU of the test' });
  const speed = async () => ({ operations: 1e9, bytes: 1e9, dispatch: 1e-6 });
  const activities = new Activities();
  const host = { onLost: () => {}, activities, info, speed, stage: async () => (await ready, { engine, stage, meter }) } as unknown as EngineHost; // prettier-ignore
  const turns = new GpuTurns();
  const bundledModel = vi.fn(async () => ({ 'config.json': jsonFile(configJson(TINY)) }));
  const trainer = new Runs({ bundledModel, database: () => database } as unknown as SessionParts, host, turns);
  const events: RunEvent[] = [];
  trainer.listen((_, batch) => events.push(...batch));
  return { trainer, host, turns, events, bundledModel };
}
