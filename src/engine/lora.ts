/** LoRA (Hu et al. 2021): y = x·Wᵀ + scale · (x·Aᵀ)·Bᵀ with frozen W. Tensors have PEFT's names. */
import type { View } from './gpu.ts';
import { mulberry32, ParameterLayout, type TensorGroup } from './parameters.ts';
import type { LoraOptions, LoraTarget, ModelConfig, TensorMap } from './types.ts';

export const LORA_TARGETS: readonly LoraTarget[] = ['q_proj', 'k_proj', 'v_proj', 'o_proj', 'gate_proj', 'up_proj', 'down_proj'];

/** The linear maps of a layer. A kernel reads q, k and v as one matrix. It also reads gate and up as one. */
export const LINEARS = ['qkv', 'o', 'gateUp', 'down'] as const;
export type LinearName = (typeof LINEARS)[number];

/**
 * The adapters of one linear map. A map may have several parts, each with an A and a B: qkv has up to three. `a` is
 * [parts · rank, inputs]: the A of all parts, stacked by rows.
 */
export interface Adapter {
  rank: number;
  scale: number;
  a: View;
  /** A view that covers the B of all parts. There is padding between them. */
  b: View;
  /** The B of each part: [rows, rank], from float `at` of the adapter's `b`. It adds to the outputs `first` … `first + rows - 1`. */
  parts: { b: View; at: number; first: number; rows: number }[];
}
export type LayerAdapters = Partial<Record<LinearName, Adapter>>;

interface AdapterTensors {
  a: TensorGroup;
  parts: { b: TensorGroup; first: number; rows: number }[];
}
/** One entry for each layer. */
export type LoraTensors = Partial<Record<LinearName, AdapterTensors>>[];

/** The rank that the engine's tensors have: a multiple of 4, because kernels read vec4s. */
export const paddedRank = (rank: number): number => Math.ceil(rank / 4) * 4;

/** @throws RangeError naming the field */
export function loraTensors(config: ModelConfig, { rank: r, targets }: LoraOptions): LoraTensors {
  if (!Number.isInteger(r) || r < 1) throw new RangeError(`lora rank is ${r}: expected a positive integer`);
  const rank = paddedRank(r);
  if (targets.length === 0) throw new RangeError('lora targets: expected at least one');
  const { hidden_size: h, intermediate_size: i, head_dim: d } = config;
  const [q, kv] = [config.num_attention_heads * d, config.num_key_value_heads * d];
  const outputs: Record<LinearName, [LoraTarget, number][]> = {
    qkv: [
      ['q_proj', q],
      ['k_proj', kv],
      ['v_proj', kv],
    ],
    o: [['o_proj', h]],
    gateUp: [
      ['gate_proj', i],
      ['up_proj', i],
    ],
    down: [['down_proj', h]],
  };
  const inputs: Record<LinearName, number> = { qkv: h, o: q, gateUp: h, down: i };
  return Array.from({ length: config.num_hidden_layers }, (_, layer) => {
    const adapters: Partial<Record<LinearName, AdapterTensors>> = {};
    for (const linear of LINEARS) {
      const block = linear === 'qkv' || linear === 'o' ? 'self_attn' : 'mlp';
      const name = (target: LoraTarget, matrix: 'A' | 'B') =>
        `base_model.model.model.layers.${layer}.${block}.${target}.lora_${matrix}.weight`;
      let end = 0;
      const parts = outputs[linear]
        .map(([target, rows]) => ({ target, rows, first: (end += rows) - rows }))
        .filter(({ target }) => targets.includes(target));
      if (parts.length === 0) continue;
      adapters[linear] = {
        a: parts.map(({ target }) => ({ name: name(target, 'A'), shape: [rank, inputs[linear]] })),
        parts: parts.map(({ target, rows, first }) => ({ b: [{ name: name(target, 'B'), shape: [rows, rank] }], first, rows })),
      };
    }
    return adapters;
  });
}

/** The layout of the adapters in flat buffers of at most `most` bytes. A kernel binds the B of all parts of an adapter at once. */
export const loraLayout = (tensors: LoraTensors, most?: number): ParameterLayout =>
  new ParameterLayout(
    tensors.flatMap((layer) => Object.values(layer).map(({ a, parts }) => [a, ...parts.map(({ b }) => b)])),
    most,
  );

/** The adapters of each layer. `view` returns the place of a group in a flat buffer. */
export const loraViews = (tensors: LoraTensors, { rank, scale }: LoraOptions, view: (group: TensorGroup) => View): LayerAdapters[] =>
  tensors.map((layer) =>
    Object.fromEntries(
      Object.entries(layer).map(([linear, { a, parts: groups }]): [string, Adapter] => {
        const views = groups.map(({ b }) => view(b));
        const [first, last] = [views[0]!, views.at(-1)!];
        const b = { ...first, size: last.offset + last.size - first.offset };
        const parts = groups.map((part, p) => ({ ...part, b: views[p]!, at: (views[p]!.offset - first.offset) / 4 }));
        return [linear, { rank: paddedRank(rank), scale, a: view(a), b, parts }];
      }),
    ),
  );

/**
 * Parses names of linear maps, as in PEFT's `target_modules`: `all-linear`, or names with commas between them.
 * @throws RangeError naming the value
 */
export function targetModules(text: string): LoraTarget[] {
  const names = text === 'all-linear' ? LORA_TARGETS : text.split(',').map((name) => name.trim());
  const unknown = names.find((name) => !(LORA_TARGETS as readonly string[]).includes(name));
  if (unknown !== undefined) throw new RangeError(`"${text}": expected all-linear, or names among ${LORA_TARGETS.join(', ')}`);
  return LORA_TARGETS.filter((name) => names.includes(name));
}

/** Whether the model computes the same with and without these adapters, because all B are 0. */
export const changeNothing = (adapters: TensorMap): boolean =>
  [...adapters].every(([name, { data }]) => !name.endsWith('.lora_B.weight') || data.every((value) => value === 0));

/** PEFT's initial values: A uniform in ±1/√inputs (Kaiming, a = √5), B zero. The same seed gives the same values. */
export function initialLora(layout: ParameterLayout, { rank }: LoraOptions, seed: number): TensorMap {
  const uniform = mulberry32(seed);
  return new Map(
    layout.parameters.map(({ name, shape, size }) => {
      const data = new Float32Array(size);
      if (name.endsWith('.lora_A.weight')) for (let i = 0; i < rank * shape[1]!; i++) data[i] = (2 * uniform() - 1) / Math.sqrt(shape[1]!);
      return [name, { shape, data }];
    }),
  );
}
