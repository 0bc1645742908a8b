export interface AttentionShape {
  heads: number;
  kvHeads: number;
  /** A multiple of 4. */
  headDim: number;
}

export const LOG2E = Math.LOG2E;

/** @throws RangeError that names a size the kernels cannot use. */
export function checkAttentionShape({ heads, kvHeads, headDim }: AttentionShape): void {
  if (headDim <= 0 || headDim % 4 !== 0) throw new RangeError(`headDim ${headDim}: expected a positive multiple of 4`);
  if (kvHeads <= 0 || heads % kvHeads !== 0) throw new RangeError(`heads ${heads}: expected a multiple of kvHeads (${kvHeads})`);
}
