/** @file Whether the visitor may use the GPU now. Each form shows this reason and is disabled by it. */
import { type GpuUse, refusedByOtherTab, refusedHere, subjectOf } from '../../trainer/gpu-uses.ts';
import type { EngineInfo } from '../../trainer/messages.ts';

/** All that decides whether the GPU is free. */
export interface GpuState {
  /** Null until the trainer has asked for the device. */
  info: Pick<EngineInfo, 'state' | 'selfTest' | 'message'> | null;
  /** What this tab uses the GPU for. */
  thisTab: GpuUse | null;
  /** What another tab uses the GPU for. */
  otherTab: GpuUse | null;
  /** A command to the trainer has no answer yet. */
  busy: boolean;
}

/**
 * The state of the device in one sentence, '' if the device works.
 * @param use what needs the device
 */
export function deviceProblem(info: GpuState['info'], use: GpuUse): string {
  if (!info) return 'Looking for a GPU…';
  if (info.selfTest === 'failed') return `This GPU failed the self-test. ${subjectOf(use)} is refused, because the results would be wrong.`;
  if (info.state === 'lost') return 'The browser lost the GPU. Reload the page.';
  return info.state === 'ready' ? '' : `${subjectOf(use)} needs WebGPU, which is not available here.`;
}

/** Why the GPU may not be used for `use` now, '' if it may. The table of uses says which use of this tab gives way. */
export function availability({ info, thisTab, otherTab, busy }: GpuState, use: GpuUse): string {
  return (
    deviceProblem(info, use) ||
    (thisTab && refusedHere(thisTab, use)) ||
    (otherTab && refusedByOtherTab(otherTab)) ||
    (busy ? 'The trainer is busy with the last command.' : '')
  );
}
