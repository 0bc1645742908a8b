/** New copying weights predict repeated tokens. Usual random weights do not. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createEngine } from '../../src/engine/engine.ts';
import { Gpu } from '../../src/engine/gpu.ts';
import type { ModelConfig } from '../../src/records/model.ts';
import { freshWeights, type Init } from '../../src/training/init-weights.ts';

const CONFIG: ModelConfig = {
  model_type: 'qwen3',
  vocab_size: 640,
  hidden_size: 64,
  intermediate_size: 96,
  num_hidden_layers: 2,
  num_attention_heads: 4,
  num_key_value_heads: 2,
  head_dim: 32,
  rms_norm_eps: 1e-6,
  rope_theta: 1e6,
  max_position_embeddings: 512,
  tie_word_embeddings: true,
};

describe('copying weights', () => {
  let gpu: Gpu;
  beforeAll(async () => {
    gpu = await Gpu.create();
  });
  afterAll(() => gpu.destroy());

  /** Mean log-probability of the second occurrence of 60 distinct tokens, with `gap` other tokens in between. */
  async function repeated(init: Init, gap: number): Promise<number> {
    const engine = await createEngine(gpu, CONFIG, freshWeights(CONFIG, { init, seed: 3 }), { maxModelLen: 512, slots: 1 });
    const ids = Array.from({ length: CONFIG.vocab_size }, (_, i) => (i * 263 + 11) % CONFIG.vocab_size);
    const shown = ids.slice(0, 60);
    const tokens = [...shown, ...ids.slice(100, 100 + gap), ...shown];
    const { logprobs } = await engine.score([{ tokens, lossMask: tokens.map(() => 1), weight: 1 }]);
    engine.destroy();
    // The first token of the second occurrence follows another token.
    const again = Array.from(logprobs[0]!).slice(-59);
    return again.reduce((sum, value) => sum + value, 0) / again.length;
  }

  test('a token that followed before is predicted again, at short and long distance', async () => {
    const chance = -Math.log(CONFIG.vocab_size);
    expect(await repeated('random', 20)).toBeLessThan(chance + 0.5);
    expect(await repeated('copying', 20)).toBeGreaterThan(chance + 1);
    expect(await repeated('copying', 250)).toBeGreaterThan(chance + 1);
  });

  test.each<[Partial<ModelConfig>, RegExp]>([
    [{ num_hidden_layers: 1 }, /num_hidden_layers is 1/],
    [{ head_dim: 8, rope_theta: 1e4 }, /head_dim 8 with rope_theta 10000 leaves 1 slow pairs/],
    [{ tie_word_embeddings: false }, /tie_word_embeddings/],
  ])('a shape that is too small is refused: %o', (change, message) => {
    expect(() => freshWeights({ ...CONFIG, ...change }, { init: 'copying', seed: 1 })).toThrow(message);
  });
});
