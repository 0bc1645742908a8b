/**
 * Adds LoRA inside the matmul kernel: c += down·Bᵀ, before the kernel writes c. So no separate matmul is needed for each B. `down` is
 * scale · x·Aᵀ. The terms are added in the order in which separate matmuls would add them, so c has the same bits.
 */
import type { View } from '../gpu.ts';

/** The second half of LoRA, down·Bᵀ. Ranks, rows and columns are multiples of 4. */
export interface LowRank {
  rank: number;
  /** [rows, parts · rank] f32 */
  down: View;
  /** A view that covers the B of all parts. */
  b: View;
  /**
   * At most three parts. The matrix B of a part has the shape [rows, rank] and begins at float `at` of the view `b`. The matmul down·Bᵀ
   * of the part is added to the columns `first` … `first + rows - 1` of c.
   */
  parts: readonly { at: number; first: number; rows: number }[];
}

/**
 * Part p adds to the columns `begin` … `end` - 1, and its B begins at vec4 `b` of the buffer. An absent part has `begin` = `end`.
 * `rank` is in vec4s.
 */
const ADAPTER_DIMS = {
  rank: 'u32',
  parts: 'u32',
  begin0: 'u32',
  end0: 'u32',
  b0: 'u32',
  begin1: 'u32',
  end1: 'u32',
  b1: 'u32',
  begin2: 'u32',
  end2: 'u32',
  b2: 'u32',
} as const;
const ADAPTER_READS = { down: 'vec4f', lora_b: 'vec4f' } as const;

const PARTS = [0, 1, 2];
const terms = ['x', 'y', 'z', 'w'].map((u) => `sum = fma(vec4f(x.${u}), vec4f(w0.${u}, w1.${u}, w2.${u}, w3.${u}), sum);`);

/** The WGSL function `adapted(row, column, v)`. v holds the values of the four columns from `column`. Returns v plus the LoRA terms. */
const ADAPTER_WGSL = /* wgsl */ `
fn low_rank(row: u32, part: u32, line: u32) -> vec4f {
  let rank = dims.rank; let x0 = (row * dims.parts + part) * rank;
  var sum = vec4f();
  for (var k = 0u; k < rank; k++) {
    let x = down[x0 + k]; let at = line + k;
    let w0 = lora_b[at]; let w1 = lora_b[at + rank]; let w2 = lora_b[at + 2u * rank]; let w3 = lora_b[at + 3u * rank];
    ${terms.join('\n    ')}
  }
  return sum;
}
fn adapted(row: u32, column: u32, v: vec4f) -> vec4f {
  ${PARTS.map((p) => `if (column >= dims.begin${p} && column < dims.end${p}) { return v + low_rank(row, ${p}u, dims.b${p} + (column - dims.begin${p}) * dims.rank); }`).join('\n  ')}
  return v;
}`;

/** The parts of a matmul kernel that LoRA needs. Without `adapter` they are empty, although the type says that the fields exist. */
export const adapterText = (adapter: boolean): { dims: typeof ADAPTER_DIMS; reads: typeof ADAPTER_READS; wgsl: string } =>
  adapter ? { dims: ADAPTER_DIMS, reads: ADAPTER_READS, wgsl: ADAPTER_WGSL } : ({ dims: {}, reads: {}, wgsl: '' } as never);

/** The values of `ADAPTER_DIMS`. Without adapters they are zeros. @throws RangeError naming the field */
export function adapterDims(
  { rank, parts }: Pick<LowRank, 'rank' | 'parts'> = { rank: 0, parts: [] },
): Record<keyof typeof ADAPTER_DIMS, number> {
  if (parts.length > PARTS.length) throw new RangeError(`matmul adapter parts ${parts.length}: expected at most ${PARTS.length}`);
  const fields = parts.flatMap(({ at, first, rows }) => Object.entries({ at, first, rows }));
  for (const [name, value] of [['rank', rank] as const, ...fields])
    if (value % 4 !== 0) throw new RangeError(`matmul adapter ${name} ${value}: expected a multiple of 4`);
  const [p0, p1, p2] = PARTS.map((p) => parts[p] ?? { at: 0, first: 0, rows: 0 }) as [Part, Part, Part];
  return {
    ...{ rank: rank / 4, parts: parts.length },
    ...{ begin0: p0.first, end0: p0.first + p0.rows, b0: p0.at / 4 },
    ...{ begin1: p1.first, end1: p1.first + p1.rows, b1: p1.at / 4 },
    ...{ begin2: p2.first, end2: p2.first + p2.rows, b2: p2.at / 4 },
  };
}
type Part = LowRank['parts'][number];
