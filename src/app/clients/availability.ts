/** @file Whether the visitor may use the GPU now. Each form shows this reason and is disabled by it. */
import type { GpuUse } from '../../trainer/gpu-lock.ts';
import type { EngineInfo } from '../../trainer/messages.ts';

/** All that decides whether the GPU is free. */
export interface GpuState {
  /** Null until the trainer has asked for the device. */
  info: Pick<EngineInfo, 'state' | 'selfTest' | 'message'> | null;
  /** This tab trains a run. */
  training: boolean;
  /** This tab plays an evaluation. */
  evaluating: boolean;
  /** What another tab uses the GPU for. */
  otherTab: GpuUse | null;
  /** A command to the trainer has no answer yet. */
  busy: boolean;
}

const NOUNS: Record<GpuUse, string> = {
  train: 'Training',
  evaluate: 'Evaluating',
  play: 'Playing with the model',
  score: 'Scoring',
  bench: 'Measuring',
};
const OTHER_TAB: Record<GpuUse, string> = {
  train: 'Another tab trains a run and uses the GPU.',
  evaluate: 'Another tab plays an evaluation and uses the GPU.',
  play: 'Another tab plays a conversation and uses the GPU.',
  score: 'Another tab scores a conversation and uses the GPU.',
  bench: 'Another tab measures the speed of the GPU.',
};

/**
 * The state of the device in one sentence, '' if the device works.
 * @param use what needs the device
 */
export function deviceProblem(info: GpuState['info'], use: GpuUse): string {
  if (!info) return 'Looking for a GPU…';
  if (info.selfTest === 'failed') return `This GPU failed the self-test. ${NOUNS[use]} is refused, because the results would be wrong.`;
  if (info.state === 'lost') return 'The browser lost the GPU. Reload the page.';
  return info.state === 'ready' ? '' : `${NOUNS[use]} needs WebGPU, which is not available here.`;
}

/**
 * Why the GPU may not be used for `use` now, '' if it may. Playing and scoring give way: training and evaluating end them, so
 * they are no reason here.
 */
export function availability({ info, training, evaluating, otherTab, busy }: GpuState, use: GpuUse): string {
  const problem = deviceProblem(info, use);
  if (problem) return problem;
  if (training) return 'A run trains in this tab and uses the GPU. Stop the run first.';
  if (evaluating) return 'An evaluation in this tab uses the GPU. Wait for its end or cancel it.';
  if (otherTab) return OTHER_TAB[otherTab];
  return busy ? 'The trainer is busy with the last command.' : '';
}
