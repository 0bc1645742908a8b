/** How often the programs of a model are built to count their work, which takes a second. */
import { expect, test, vi } from 'vitest';
import { countedWork } from '../../../src/bench/counted-work.ts';
import { estimateTimes } from '../../../src/trainer/estimates.ts';
import { PRESETS } from '../../../src/training/presets.ts';
import { PRETRAINED } from '../../../src/training/pretrained.ts';

vi.mock('../../../src/bench/counted-work.ts', async (original) => {
  const real = await original<typeof import('../../../src/bench/counted-work.ts')>();
  return { ...real, countedWork: vi.fn(real.countedWork) };
});

test('the programs of each listed model are built once, also if all models are asked for again', () => {
  const speed = { operations: 1e12, bytes: 1e11, dispatch: 1e-6 };
  const ask = () =>
    PRETRAINED.map(({ config, preset }) => {
      const { config: grpo, coldStart } = PRESETS[preset]!;
      return [grpo, { ...grpo, ...coldStart }].map((settings) => estimateTimes({ ...config, num_hidden_layers: 1 }, settings, speed));
    });
  const first = ask();
  expect(ask()).toEqual(first);
  expect(countedWork).toHaveBeenCalledTimes(PRETRAINED.length);
});
