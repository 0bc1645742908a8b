/**
 * @file Reads and writes LoRA adapters as PEFT does: `adapter_config.json` and `adapter_model.safetensors`. If a model folder also holds
 * these two files, it means the model with its adapter.
 */
import * as z from 'zod/mini';
import { LORA_TARGETS, paddedRank } from '../engine/lora.ts';
import type { LoraOptions, LoraTarget, TensorMap } from '../engine/types.ts';
import type { ModelFiles } from '../records/model.ts';
import { checked } from './checked.ts';
import { fileOf, inFile, inMemory, isGguf, jsonFile, ModelFolderError, type ModelParts, readJson, withWeights } from './model-folder.ts';
import { readSafetensors, writeSafetensors } from './safetensors.ts';

const CONFIG = 'adapter_config.json';
const WEIGHTS = 'adapter_model.safetensors';
const isTarget = (name: string): name is LoraTarget => (LORA_TARGETS as readonly string[]).includes(name);

/** The LoRA configuration, with PEFT's names. */
export interface LoraConfig {
  r: number;
  lora_alpha: number;
  target_modules: readonly LoraTarget[];
  /** The scale is lora_alpha / √r instead of lora_alpha / r. */
  use_rslora: boolean;
}

const PEFT = z.looseObject({
  peft_type: z.literal('LORA'),
  r: z.int().check(z.minimum(1), z.maximum(1024)),
  lora_alpha: z.number(),
  target_modules: z.union([z.array(z.string()), z.string()]),
  use_rslora: z.optional(z.boolean()),
});

/** PEFT settings that would change the result, but that this engine does not support: each must be absent or have one of these values. */
const UNSUPPORTED: Record<string, readonly unknown[]> = {
  bias: ['none'],
  use_dora: [false],
  fan_in_fan_out: [false],
  modules_to_save: [null],
  layers_to_transform: [null],
  layer_replication: [null],
  megatron_config: [null],
  use_bdlora: [null],
  lora_bias: [false],
  trainable_token_indices: [null],
  target_parameters: [null],
};

/** The engine's LoRA options for a PEFT configuration. */
export const loraOptions = ({ r, lora_alpha, target_modules, use_rslora }: LoraConfig): LoraOptions => ({
  rank: r,
  scale: lora_alpha / (use_rslora ? Math.sqrt(r) : r),
  targets: target_modules,
});

/**
 * Reads an adapter. `tensors` are padded to the engine's rank.
 * @throws ModelFolderError, ImportError or SafetensorsError that names the file and the field
 */
export function readAdapter(files: Record<string, Uint8Array>): { config: LoraConfig; tensors: TensorMap } {
  const config = readConfig(files);
  const file = fileOf(files, WEIGHTS);
  const tensors = inFile(WEIGHTS, () => readSafetensors(file));
  return { config, tensors: withRank(tensors, config.r, paddedRank(config.r)) };
}

function readConfig(files: Record<string, Uint8Array>): LoraConfig {
  const json = readJson(files, CONFIG) as Record<string, unknown>;
  const { r, lora_alpha, target_modules: named, use_rslora = false } = checked<z.output<typeof PEFT>>(PEFT, json, CONFIG);
  for (const [field, allowed] of Object.entries(UNSUPPORTED))
    if (json[field] !== undefined && !allowed.includes(json[field]))
      throw new ModelFolderError(
        `${CONFIG}: ${field} is ${JSON.stringify(json[field]).slice(0, 60)}: expected ${JSON.stringify(allowed[0])}`,
      );
  for (const field of ['rank_pattern', 'alpha_pattern', 'loftq_config'])
    if (Object.keys(json[field] ?? {}).length > 0) throw new ModelFolderError(`${CONFIG}: ${field} is not empty: expected {}`);
  const names = named === 'all-linear' ? [...LORA_TARGETS] : typeof named === 'string' ? [named] : named;
  // PEFT accepts the end of a module's path too, such as `self_attn.q_proj`. Only the last part counts here.
  const modules = names.map((name) => name.split('.').at(-1)!);
  const unknown = names.find((_, i) => !isTarget(modules[i]!));
  if (unknown !== undefined || names.length === 0)
    throw new ModelFolderError(
      `${CONFIG}: target_modules is ${JSON.stringify(unknown ?? []).slice(0, 60)}: expected names among ${LORA_TARGETS.join(', ')}`,
    );
  const target_modules = LORA_TARGETS.filter((name) => modules.includes(name));
  return { r, lora_alpha, target_modules, use_rslora };
}

/**
 * The files of an adapter, as PEFT's `save_pretrained` writes them.
 * @param base name or path of the base model
 */
export function saveAdapter(config: LoraConfig, tensors: TensorMap, base: string): Record<string, Uint8Array<ArrayBuffer>> {
  return {
    [CONFIG]: jsonFile({
      peft_type: 'LORA',
      task_type: 'CAUSAL_LM',
      base_model_name_or_path: base,
      inference_mode: true,
      ...config,
      lora_dropout: 0,
      bias: 'none',
      fan_in_fan_out: false,
      use_dora: false,
      modules_to_save: null,
      init_lora_weights: true,
    }),
    [WEIGHTS]: adapterFile(config, tensors),
  };
}

export const hasAdapter = (files: ModelParts): boolean => Object.hasOwn(files, CONFIG);

/** Whether a file holds weights of the base model, which may be large. */
export const isBaseWeights = (name: string): boolean => (name.endsWith('.safetensors') && name !== WEIGHTS) || isGguf(name);

/** The configuration of the adapter in a folder. @throws as `readAdapter` */
export const adapterConfig = (files: ModelParts): LoraConfig => readConfig(inMemory(files));

/**
 * The folder with trained weights. If it holds an adapter, `weights` replace the adapter, else `withWeights` replaces the whole weights.
 * @param weights the engine's tensors, or their safetensors
 */
export function withTrained(files: ModelParts, weights: TensorMap | Uint8Array<ArrayBuffer>): ModelParts {
  if (!hasAdapter(files)) return withWeights(files, weights);
  const tensors = weights instanceof Uint8Array ? readSafetensors(weights) : weights;
  return { ...files, [WEIGHTS]: adapterFile(adapterConfig(files), tensors) };
}

/** Only the adapter files of a folder. @throws ModelFolderError if the folder has no adapter */
export const adapterFiles = (files: ModelFiles): ModelFiles =>
  Object.fromEntries([CONFIG, WEIGHTS].map((name) => [name, fileOf(files, name)]));

/** The files that a training produces: if the folder has an adapter, only the trained adapter, else the whole folder with `weights`. */
export function trainedFiles(files: ModelParts, weights: TensorMap): ModelFiles {
  const trained = inMemory(withTrained(files, weights));
  return hasAdapter(files) ? adapterFiles(trained) : trained;
}

/** Writes the engine's adapter tensors (values or gradients) as `adapter_model.safetensors`. */
export const adapterFile = ({ r }: LoraConfig, tensors: TensorMap): Uint8Array<ArrayBuffer> =>
  writeSafetensors(withRank(tensors, paddedRank(r), r));

/**
 * Changes the rank of the tensors A [rank, inputs] and B [outputs, rank], by adding or removing zeros.
 * @throws ModelFolderError for another shape
 */
function withRank(tensors: TensorMap, from: number, to: number): TensorMap {
  return new Map(
    [...tensors].map(([name, { shape, data }]) => {
      const [rows = 0, columns = 0] = shape;
      const a = name.endsWith('.lora_A.weight');
      if (shape.length !== 2 || (a ? rows : columns) !== from)
        throw new ModelFolderError(
          `${WEIGHTS}: tensor ${name} has shape [${shape}]: expected ${a ? `[${from}, inputs]` : `[outputs, ${from}]`}`,
        );
      if (from === to) return [name, { shape, data }];
      const [newRows, newColumns] = a ? [to, columns] : [rows, to];
      const changed = new Float32Array(newRows * newColumns);
      for (let row = 0; row < Math.min(rows, newRows); row++)
        changed.set(data.subarray(row * columns, row * columns + Math.min(columns, newColumns)), row * newColumns);
      return [name, { shape: [newRows, newColumns], data: changed }];
    }),
  );
}

/**
 * Merges the adapter into the weights: W + scale · B·A, computed in float64 and rounded to f32.
 * @param weights weights of the base model; they are not changed
 */
export function mergeAdapter(weights: TensorMap, { config: lora, tensors }: { config: LoraConfig; tensors: TensorMap }): TensorMap {
  const { rank: r, scale } = loraOptions(lora);
  const rank = paddedRank(r);
  const merged: TensorMap = new Map(weights);
  for (const [name, a] of tensors) {
    if (!name.endsWith('.lora_A.weight')) continue;
    const module = name.slice('base_model.model.'.length, -'.lora_A.weight'.length);
    const b = tensors.get(`base_model.model.${module}.lora_B.weight`);
    const base = weights.get(`${module}.weight`);
    if (!b || !base) throw new ModelFolderError(`${WEIGHTS}: tensor ${name}: expected its lora_B and a base weight ${module}.weight`);
    const [rows, columns] = [base.shape[0]!, base.shape[1]!];
    if (b.shape[0] !== rows || a.shape[1] !== columns)
      throw new ModelFolderError(
        `${WEIGHTS}: tensor ${name}: the adapter of [${b.shape[0]}, ${a.shape[1]}] does not fit ${module}.weight [${base.shape}]`,
      );
    const data = Float32Array.from(base.data);
    const delta = new Float64Array(columns);
    for (let row = 0; row < rows; row++) {
      delta.fill(0);
      for (let r = 0; r < rank; r++) {
        const factor = scale * b.data[row * rank + r]!;
        if (factor !== 0) for (let c = 0; c < columns; c++) delta[c]! += factor * a.data[r * columns + c]!;
      }
      for (let c = 0; c < columns; c++) data[row * columns + c] = base.data[row * columns + c]! + delta[c]!;
    }
    merged.set(`${module}.weight`, { shape: base.shape, data });
  }
  return merged;
}
