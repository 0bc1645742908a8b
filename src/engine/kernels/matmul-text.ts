/** The parts that all matmul kernels share: bindings, sizes, and a `store` that checks the bounds of c. */
import { defineKernel } from '../kernel.ts';
import { adapterText } from './matmul-adapter.ts';
import { loader, type WeightFormat } from './weight-format.ts';

/** The properties, besides the tile, that the WGSL of a matmul kernel depends on. */
export interface MatmulKind {
  form: MatmulForm;
  format: WeightFormat;
  /** The matmul adds LoRA. */
  adapter: boolean;
  /** Split-K, in the forms tn and nn: the workgroups with index z add part z of the terms, and write a c of their own for this part. */
  parts?: boolean;
  /** Terms of a block in the form nt (`BlockTuning`). Absent: the whole sum is one block. */
  block?: number | undefined;
}

/** WGSL: `first` is the first term of a workgroup's sum, `end` the term after its last. In split-K, `set` sets `part` for `store`. */
export const stepsOf = ({ parts }: MatmulKind) =>
  parts ? { set: 'part = wg.z;', first: 'first_step(wg.z)', end: 'loop_steps(wg.z)' } : { set: '', first: '0u', end: 'loop_steps()' };

/** nt is a·bᵀ, nn is a·b, tn is aᵀ·b (a sum over rows). */
export type MatmulForm = 'nt' | 'nn' | 'tn';

const COLUMNS = { a_at: 'u32', b_at: 'u32', c_at: 'u32' } as const;

/**
 * A matmul kernel. `body` can call out_rows(), out_columns(), loop_steps(), load_b(index of a vec4) and store(row, column4, value).
 * `dims` has the first vec4 column of each tensor: `a_at`, `b_at`, `c_at`.
 *
 * All variants add the terms of a block in the order of the reduction index, each by one `fma`, and the blocks in their order. So an element has the same bits in
 * every tile, and a result does not depend on the tile that the number of rows selects. Only split-K adds in another order. It is used
 * only for gradients, so log-probabilities do not depend on it.
 */
export function matmulKernel(
  { form, format, adapter, parts = false, block }: MatmulKind,
  variant: string,
  body: string,
  subgroups = false,
) {
  const b = loader('b', format);
  const lora = adapterText(adapter);
  const steps = form === 'tn' ? 'row_count()' : '((dims.k + 3u) / 4u)';
  return defineKernel({
    label: `matmul ${form} ${variant}${format === 'f32' ? '' : ` ${format}`}${adapter ? ' lora' : ''}${parts ? ' parts' : ''}${block ? ` in blocks of ${block}` : ''}`,
    dims: {
      rows: 'Rows',
      ...{ n: 'u32', k: 'u32', lda: 'u32', ldb: 'u32', ldc: 'u32', ...COLUMNS, scale: 'f32', accumulate: 'u32' },
      ...lora.dims,
      ...(parts && { parts: 'u32' as const }),
    },
    reads: { a: 'vec4f', ...b.reads, ...lora.reads },
    writes: { c: 'vec4f' },
    subgroups,
    body: /* wgsl */ `
${b.wgsl}${lora.wgsl}
fn out_rows() -> u32 { return ${form === 'tn' ? 'dims.n' : 'row_count()'}; }
fn out_columns() -> u32 { return ${form === 'tn' ? 'dims.k' : 'dims.n'}; }
// Terms of the sum: single rows in tn, else vec4s (a's columns past k are zero).
${
  parts
    ? `var<private> part: u32;
fn first_step(z: u32) -> u32 { return z * ((${steps} + dims.parts - 1u) / dims.parts); }
fn loop_steps(z: u32) -> u32 { return min(${steps}, first_step(z + 1u)); }`
    : `fn loop_steps() -> u32 { return ${steps}; }`
}
// Writes (or adds) the scaled vec4 at column4. Columns past the last one, up to ldc, become zero.
fn store(row: u32, column4: u32, value: vec4f) {
  let columns = out_columns();
  if (row >= out_rows() || column4 * 4u >= columns) { return; }
  let at = ${parts ? '(part * out_rows() + row)' : 'row'} * (dims.ldc / 4u) + dims.c_at + column4;
  let inside = column4 * 4u + vec4u(0u, 1u, 2u, 3u) < vec4u(columns);
  var v = select(vec4f(), value * dims.scale, inside);
  if (dims.accumulate != 0u) { v += c[at]; }
  c[at] = ${adapter ? 'adapted(row, (dims.c_at + column4) * 4u, v)' : 'v'};
}
${body}`,
  });
}
