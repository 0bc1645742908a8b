/** @file Stores a played conversation as a branch, and adds branches to the training set. */
import { toMessages } from '../../agent/trajectory.ts';
import type { BranchRow } from '../../records/branch.ts';
import type { Trajectory } from '../../records/trajectory.ts';
import type { Library } from '../library/library.ts';
import type { Setting } from './setting.ts';

/**
 * Stores a conversation in its branch. If the branch is in the training set, also updates it there.
 * @param branch the id of its branch; '' for a new one
 * @returns the id of the branch
 */
export async function keepBranch(
  library: Library,
  branch: string,
  trajectory: Trajectory,
  of: Pick<BranchRow, 'origin' | 'model' | 'shared'>,
  tools: Setting['tools'],
): Promise<string> {
  const known = branch ? await library.branch(branch) : undefined;
  const id = known?.id ?? crypto.randomUUID();
  const row = { ...of, id, createdAt: known?.createdAt ?? Date.now(), batch: '', trajectory };
  await library.putBranches([known?.conversation ? { ...row, conversation: toMessages(trajectory, tools) } : row]);
  return id;
}

/** Adds branches to the training set, or removes them from it. */
export async function setTraining(library: Library, rows: readonly BranchRow[], wanted: boolean, tools: Setting['tools']): Promise<void> {
  await library.setTraining(rows.map(({ id, trajectory }) => ({ id, conversation: wanted ? toMessages(trajectory, tools) : undefined })));
}
