import { expect, test } from 'vitest';
import { countedWork } from '../../../src/bench/counted-work.ts';
import { QWEN3_06B, SMOLLM2_135M } from '../../../src/training/pretrained.ts';
import { LORA_TARGETS } from '../../../src/engine/lora.ts';

test('the work that the programs of SmolLM2-135M count equals the arithmetic of its shape', () => {
  const lora = { rank: 16, scale: 2, targets: LORA_TARGETS };
  const work = countedWork(SMOLLM2_135M.config, {
    maxModelLen: 512,
    slots: 64,
    precision: 'bf16',
    kvFormat: 'f16',
    lora,
    activationBytes: 2 ** 40,
  });
  const layers = 30 * (2 * 576 * 576 + 2 * 576 * 192 + 3 * 576 * 1536);
  const adapters = 30 * 16 * (2 * (576 + 576) + 2 * (576 + 192) + 3 * (576 + 1536));
  const down = 30 * 16 * (6 * 576 + 1536);
  const head = 49_152 * 576;
  const { capacity } = work;
  const shares = [
    work.prefill(1024).operations / (2 * 1024 * (layers + adapters) + 2 * head),
    work.decode(42).operations / (2 * 42 * (layers + adapters + head)),
    work.scoring(0.5).operations / (2 * capacity * (layers + adapters + head / 2)),
    // Frozen matrices have no weight gradients. The backward pass multiplies by each A once more, because the product is not stored.
    work.update(0.5).operations / (capacity * (4 * layers + 6 * adapters + 2 * down + 2 * head)),
  ];
  for (const share of shares) expect(Math.abs(share - 1)).toBeLessThan(0.002);
});

test('a cache of any size is counted: no GPU limits it', () => {
  // The keys of a layer take 64 · 16,384 · 8 · 128 floats: 4 GiB.
  const cache = { maxModelLen: 16_384, slots: 64, kvFormat: 'f32' } as const;
  const lora = { rank: 16, scale: 2, targets: LORA_TARGETS };
  const { operations } = countedWork(QWEN3_06B.config, { ...cache, precision: 'bf16', lora }).decode(1);
  const layers = 28 * (2 * 1024 * 2048 + 2 * 1024 * 1024 + 3 * 1024 * 3072);
  const adapters = 28 * 16 * (2 * (1024 + 2048) + 2 * (1024 + 1024) + 3 * (1024 + 3072));
  expect(operations / (2 * (layers + adapters + 151_936 * 1024))).toBeCloseTo(1, 2);
});
