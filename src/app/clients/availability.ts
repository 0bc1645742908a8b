/** @file Tells whether the visitor may use the GPU now. If not, a form is disabled and shows the reason. */
import { type GpuUse, refusedByOtherTab, refusedHere, subjectOf } from '../../trainer/gpu-uses.ts';
import type { EngineInfo } from '../../trainer/messages.ts';

/** The facts that decide whether the GPU is free. */
export interface GpuState {
  /** Null until the trainer has asked for the device. */
  info: Pick<EngineInfo, 'state' | 'selfTest' | 'message'> | null;
  /** The task for which this tab uses the GPU; null for none. */
  thisTab: GpuUse | null;
  /** The task for which another tab uses the GPU; null for none. */
  otherTab: GpuUse | null;
  /** True while the trainer has not answered a command. */
  busy: boolean;
}

/**
 * The state of the device in one sentence, '' if the device works.
 * @param use the task that needs the device
 */
export function deviceProblem(info: GpuState['info'], use: GpuUse): string {
  if (!info) return 'Looking for a GPU…';
  if (info.selfTest === 'failed') return `This GPU failed the self-test. ${subjectOf(use)} is refused, because the results would be wrong.`;
  if (info.state === 'lost') return 'The browser lost the GPU. Reload the page.';
  return info.state === 'ready' ? '' : `${subjectOf(use)} needs WebGPU, which is not available here.`;
}

/** Why the GPU may not be used for `use` now; '' if it may. The table in gpu-uses.ts says which use of this tab blocks which other. */
export function availability({ info, thisTab, otherTab, busy }: GpuState, use: GpuUse): string {
  return (
    deviceProblem(info, use) ||
    (thisTab && refusedHere(thisTab, use)) ||
    (otherTab && refusedByOtherTab(otherTab)) ||
    (busy ? 'The trainer is busy with the last command.' : '')
  );
}
