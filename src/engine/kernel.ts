/**
 * Declares compute kernels. The WGSL declarations, the access modes and the order of bindings all come from one definition, so the
 * shader and its bind group cannot disagree.
 *
 * @example
 * const ADD = defineKernel({
 *   label: 'add',
 *   dims: { rows: 'Rows', width: 'u32' },
 *   reads: { x: 'vec4f' },
 *   writes: { y: 'vec4f' },
 *   body: '@compute @workgroup_size(64) fn main(…) { … y[i] += x[i]; … }',
 * });
 * gpu.dispatch(ADD, { dims: { rows, width }, counts, x, y }, workgroups);
 */
import type { View } from './gpu-memory.ts';
import { type Counts, type Rows, ROWS_WGSL, rowWords, type Workgroups } from './rows.ts';

type DimType = 'Rows' | 'u32' | 'f32';
/** Field name → WGSL type. */
type Fields = Readonly<Record<string, string>>;
type Dims = Readonly<Record<string, DimType>>;

export interface KernelSource<D extends Dims, U extends Readonly<Record<string, Fields>>, R extends Fields, W extends Fields> {
  label: string;
  /**
   * Fields of the kernel's uniform `dims`. `gpu.dispatch` takes their values. With the field `rows: 'Rows'`, which must come first,
   * the kernel also has the uniform `counts` and the function `row_count()`.
   */
  dims?: D;
  /** More uniforms: the name of each and the fields of its struct. The struct's name is the capitalised name of the uniform. */
  uniforms?: U;
  /** Storage buffers that the kernel only reads: name → WGSL type of an element. No buffer may be bound both here and in `writes`. */
  reads?: R;
  /** Storage buffers that the kernel writes and may read: name → WGSL type of an element. */
  writes?: W;
  /** The kernel needs the `subgroups` feature. */
  subgroups?: boolean;
  /** The WGSL after the declarations: structs of elements, functions, and the entry point `main`. */
  body: string;
}

export type Access = 'uniform' | 'read' | 'read_write';

/** A kernel that is not compiled yet. `Names` are the names of the buffers to bind. */
export interface KernelDefinition<D extends Dims = Dims, Names extends string = string> {
  readonly label: string;
  readonly wgsl: string;
  readonly dims: D;
  /** Entry i has binding number i. */
  readonly bindings: readonly { readonly name: Names | 'dims'; readonly access: Access }[];
}

/** The arguments of a dispatch: a value for each field of `dims`, and a buffer for each other name. */
export type Bindings<D extends Dims, Names extends string> = Readonly<Record<Names, View>> &
  (keyof D extends never ? unknown : { dims: { readonly [K in keyof D]: D[K] extends 'Rows' ? Rows : number } });

/** A kernel that a device compiles. */
export interface Kernel {
  readonly layout: GPUBindGroupLayout;
  /** Undefined until the kernel is compiled. */
  pipeline: GPUComputePipeline | undefined;
}

export interface Dispatch {
  readonly label: string;
  readonly kernel: Kernel;
  readonly bindGroup: GPUBindGroup;
  /** Workgroup counts of a run. If one of them is 0, the run skips the dispatch. */
  readonly workgroups: (counts: Counts) => Workgroups;
  /** Estimated operations of a run, see submit-pacer.ts. Default: 4,096 for each workgroup. */
  readonly work?: (counts: Counts) => number;
}

const COUNTS: Fields = { tokens: 'u32', rows: 'u32', pad0: 'u32', pad1: 'u32' };

const structName = (uniform: string): string => uniform[0]!.toUpperCase() + uniform.slice(1);

export function defineKernel<
  const D extends Dims = Record<never, never>,
  const U extends Readonly<Record<string, Fields>> = Record<never, never>,
  const R extends Fields = Record<never, never>,
  const W extends Fields = Record<never, never>,
>(
  source: KernelSource<D, U, R, W>,
): KernelDefinition<D, (keyof U | keyof R | keyof W | (D extends { rows: 'Rows' } ? 'counts' : never)) & string> {
  const { label, dims = {}, uniforms = {}, reads = {}, writes = {}, subgroups = false, body } = source;
  const overRows = 'rows' in dims;
  const structs: Record<string, Fields> = {
    ...(Object.keys(dims).length > 0 && { dims }),
    ...(overRows && { counts: COUNTS }),
    ...uniforms,
  };
  const declared = [
    ...Object.keys(structs).map((name) => ({ name, access: 'uniform' as const, type: structName(name) })),
    ...Object.entries(reads).map(([name, type]) => ({ name, access: 'read' as const, type: `array<${type}>` })),
    ...Object.entries(writes).map(([name, type]) => ({ name, access: 'read_write' as const, type: `array<${type}>` })),
  ];
  const wgsl = [
    ...(subgroups ? ['enable subgroups;'] : []),
    ...Object.entries(structs).map(([name, fields]) => {
      const members = Object.entries(fields).map(([field, type]) => `${field}: ${type}`);
      return `struct ${structName(name)} { ${members.join(', ')} }`;
    }),
    ...declared.map(({ name, access, type }, binding) => {
      const space = access === 'uniform' ? 'uniform' : `storage, ${access}`;
      return `@group(0) @binding(${binding}) var<${space}> ${name}: ${type};`;
    }),
    ...(overRows ? [ROWS_WGSL] : []),
    body,
  ].join('\n');
  const bindings = declared.map(({ name, access }) => ({ name, access }));
  return { label, wgsl, dims, bindings } as unknown as ReturnType<typeof defineKernel<D, U, R, W>>;
}

/** The u32 words of the uniform `dims`. */
export function dimsWords(dims: Dims, values: Readonly<Record<string, number | Rows>>): number[] {
  return Object.entries(dims).flatMap(([field, type]) => {
    const value = values[field]!;
    if (typeof value === 'object') return rowWords(value);
    return type === 'f32' ? floatBits(value) : value;
  });
}

/** The u32 with the same bits as the f32 nearest to `x`. */
function floatBits(x: number): number {
  return new Uint32Array(Float32Array.of(x).buffer)[0]!;
}
