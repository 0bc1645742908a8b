/** Whether the GPU may be used: every state of the device and every use, and the lock behind them. gpu-uses.test.ts has the pairs of uses. */
import { describe, expect, it } from 'vitest';
import { availability, type GpuState } from '../../../src/app/clients/availability.ts';
import { lockManager } from '../../support/locks.ts';
import { gpuHolder, takeGpu } from '../../../src/trainer/gpu-lock.ts';
import { GPU_USES, type GpuUse } from '../../../src/trainer/gpu-uses.ts';

const FREE: GpuState = {
  info: { state: 'ready', selfTest: 'passed' },
  thisTab: null,
  otherTab: null,
  busy: false,
};
const NEEDS = {
  train: 'Training needs WebGPU, which is not available here.',
  experiment: 'Training needs WebGPU, which is not available here.',
  evaluate: 'Evaluating needs WebGPU, which is not available here.',
  play: 'Playing with the model needs WebGPU, which is not available here.',
  score: 'Scoring needs WebGPU, which is not available here.',
  bench: 'Measuring needs WebGPU, which is not available here.',
};
const FAILED = {
  train: 'This GPU failed the self-test. Training is refused, because the results would be wrong.',
  experiment: 'This GPU failed the self-test. Training is refused, because the results would be wrong.',
  evaluate: 'This GPU failed the self-test. Evaluating is refused, because the results would be wrong.',
  play: 'This GPU failed the self-test. Playing with the model is refused, because the results would be wrong.',
  score: 'This GPU failed the self-test. Scoring is refused, because the results would be wrong.',
  bench: 'This GPU failed the self-test. Measuring is refused, because the results would be wrong.',
};
const same = (reason: string): Record<GpuUse, string> => ({
  train: reason,
  experiment: reason,
  evaluate: reason,
  play: reason,
  score: reason,
  bench: reason,
});

const CASES: { state: string; change: Partial<GpuState>; reasons: Record<GpuUse, string> }[] = [
  { state: 'the GPU is free', change: {}, reasons: same('') },
  { state: 'the self-test was not run yet', change: { info: { state: 'ready', selfTest: 'not run' } }, reasons: same('') },
  { state: 'the device was not asked for yet', change: { info: null }, reasons: same('Looking for a GPU…') },
  { state: 'there is no WebGPU', change: { info: { state: 'unavailable', selfTest: 'not run' } }, reasons: NEEDS },
  { state: 'the self-test failed', change: { info: { state: 'ready', selfTest: 'failed' } }, reasons: FAILED },
  {
    state: 'the device is lost',
    change: { info: { state: 'lost', selfTest: 'passed' } },
    reasons: same('The browser lost the GPU. Reload the page.'),
  },
  { state: 'a command has no answer yet', change: { busy: true }, reasons: same('The trainer is busy with the last command.') },
  {
    state: 'the device fails and a run trains: the device comes first',
    change: { info: { state: 'ready', selfTest: 'failed' }, thisTab: 'train', otherTab: 'play' },
    reasons: FAILED,
  },
];

describe.each(CASES)('when $state', ({ change, reasons }) => {
  it.each(GPU_USES)('%s', (use) => expect(availability({ ...FREE, ...change }, use)).toBe(reasons[use]));
});

describe('the lock of the GPU', () => {
  it.each(GPU_USES)('is held by one tab, which says that it is for “%s”', async (use) => {
    const locks = lockManager();
    expect(await gpuHolder(locks)).toBeNull();
    const release = await takeGpu(use, locks);
    expect(await gpuHolder(locks)).toBe(use);
    for (const other of GPU_USES) await expect(takeGpu(other, locks)).rejects.toThrow(/^Another tab .*GPU\.$/);
    await release();
    expect(await gpuHolder(locks)).toBeNull();
    await (
      await takeGpu('train', locks)
    )();
  });

  it('is not needed if the platform has no locks', async () => {
    await (
      await takeGpu('train', undefined)
    )();
    expect(await gpuHolder(undefined)).toBeNull();
  });
});
