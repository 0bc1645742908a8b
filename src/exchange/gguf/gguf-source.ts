/** @file Reads the tensors of a GGUF file under Hugging Face's names, in ranges of f32, f16 or bf16 values. */
import type { TensorMap, WeightSource } from '../../engine/types.ts';
import { fromBfloat16, fromHalf } from '../../base/half.ts';
import type { ByteSource } from '../file-bytes.ts';
import { GgufError } from './gguf-error.ts';
import { type GgufHeader, type GgufTensor, openGguf, readGgufHeader } from './gguf-file.ts';
import { headCounts } from './gguf-metadata.ts';
import { decodeBlocks } from './gguf-types.ts';

const WHOLE: Readonly<Record<string, string>> = {
  'token_embd.weight': 'model.embed_tokens.weight',
  'output_norm.weight': 'model.norm.weight',
  'output.weight': 'lm_head.weight',
};
const IN_LAYER: Readonly<Record<string, string>> = {
  attn_norm: 'input_layernorm',
  attn_q: 'self_attn.q_proj',
  attn_k: 'self_attn.k_proj',
  attn_v: 'self_attn.v_proj',
  attn_output: 'self_attn.o_proj',
  attn_q_norm: 'self_attn.q_norm',
  attn_k_norm: 'self_attn.k_norm',
  ffn_norm: 'post_attention_layernorm',
  ffn_gate: 'mlp.gate_proj',
  ffn_up: 'mlp.up_proj',
  ffn_down: 'mlp.down_proj',
};
/** The factors of scaled rotary embeddings. `config.json` has them as `rope_scaling`. */
export const ROPE_FACTORS = 'rope_freqs.weight';

/** The name in Hugging Face. A name that is not known stays, so that the check of the tensors reports it. */
function nameOf(name: string): string {
  const [, layer, part, kind] = /^blk\.(\d+)\.(\w+)\.(weight|bias)$/.exec(name) ?? [];
  const own = part === undefined ? undefined : Object.hasOwn(IN_LAYER, part) ? IN_LAYER[part] : undefined;
  if (own !== undefined) return `model.layers.${layer}.${own}.${kind}`;
  return Object.hasOwn(WHOLE, name) ? WHOLE[name]! : name;
}

interface Place extends GgufTensor {
  dtype: 'F32' | 'F16' | 'BF16';
  /** The number of heads whose rows are stored in pairs. 0 if the rows have the order of Hugging Face. */
  heads: number;
}

/**
 * llama.cpp stores the rows of a head of q and k as pairs that rotate together: 0, h/2, 1, h/2 + 1, … . Returns the place of row `row`
 * of Hugging Face. @param length rows of a head
 */
function storedRow(row: number, length: number): number {
  const within = row % length;
  const half = length / 2;
  return row - within + (within < half ? 2 * within : 2 * (within - half) + 1);
}

const bytesOf = (dtype: Place['dtype']) => (dtype === 'F32' ? 4 : 2);

/** @throws GgufError if the metadata does not say how many heads the model has */
function sourceOf(header: GgufHeader, file: ByteSource): WeightSource {
  const pairs = headCounts(header);
  const tensors = new Map<string, Place>();
  for (const [stored, tensor] of header.tensors) {
    if (stored === ROPE_FACTORS) continue;
    const { name } = tensor.type;
    const heads = stored.includes('.attn_q.') ? pairs.q : stored.includes('.attn_k.') ? pairs.k : 0;
    if (heads > 0 && tensor.shape[0]! % (2 * heads) !== 0)
      throw new GgufError(`tensor ${stored} has shape [${tensor.shape}]: expected a number of rows that ${heads} heads divide into pairs`);
    tensors.set(nameOf(stored), { ...tensor, heads, dtype: name === 'F16' || name === 'BF16' ? name : 'F32' });
  }
  const read = (name: string, from: number, bytes: number): Promise<Uint8Array> | Uint8Array => {
    const { type, shape, begin, heads, dtype } = tensors.get(name)!;
    const columns = shape.at(-1)!;
    const rows = shape.slice(0, -1).reduce((a, b) => a * b, 1);
    const [width, stored] = [columns * bytesOf(dtype), (columns / type.values) * type.bytes];
    const [first, end] = [Math.floor(from / width), Math.min(rows, Math.ceil((from + bytes) / width))];
    // Whole heads are read, because the rows that are asked for may lie anywhere in theirs.
    const length = heads > 0 ? rows / heads : 1;
    const [top, bottom] = [Math.floor(first / length) * length, Math.min(rows, Math.ceil(end / length) * length)];
    const convert = (data: Uint8Array): Uint8Array => {
      if (data.byteLength !== (bottom - top) * stored)
        throw new GgufError(`tensor ${name}: the file has ${data.byteLength} bytes: expected ${(bottom - top) * stored}`);
      const values = type.decode ? new Uint8Array(decodeBlocks(type, data).buffer) : data;
      if (heads === 0) return values.subarray(from - first * width, from - first * width + bytes);
      const ordered = new Uint8Array((end - first) * width);
      for (let row = first; row < end; row++) {
        const at = (storedRow(row, length) - top) * width;
        ordered.set(values.subarray(at, at + width), (row - first) * width);
      }
      return ordered.subarray(from - first * width, from - first * width + bytes);
    };
    const data = file.read(begin + top * stored, (bottom - top) * stored);
    return data instanceof Promise ? data.then(convert) : convert(data);
  };
  return { tensors, read };
}

/** @throws GgufError as `openGguf` */
export const openGgufTensors = async (file: ByteSource): Promise<WeightSource> => sourceOf(await openGguf(file), file);

/** Reads all tensors of a file in memory, and converts them to f32. @throws GgufError as `openGguf`, or if a value is not finite */
export function readGgufTensors(file: Uint8Array): TensorMap {
  const { tensors, read } = sourceOf(readGgufHeader(file), {
    size: file.length,
    read: (from, bytes) => file.subarray(from, from + bytes),
  });
  return new Map(
    [...tensors].map(([name, { dtype, shape }]) => {
      const bytes = shape.reduce((a, b) => a * b, bytesOf(dtype));
      const { buffer } = (read(name, 0, bytes) as Uint8Array).slice();
      const data =
        dtype === 'F32'
          ? new Float32Array(buffer)
          : dtype === 'BF16'
            ? fromBfloat16(new Uint16Array(buffer))
            : Float32Array.from(new Uint16Array(buffer), fromHalf);
      const bad = data.findIndex((x) => !Number.isFinite(x));
      if (bad >= 0) throw new GgufError(`tensor ${name}: element ${bad} is ${data[bad]}: expected a finite number`);
      return [name, { shape: [...shape], data }];
    }),
  );
}
