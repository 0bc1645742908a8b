/**
 * @file Reads and writes LoRA adapters as PEFT does: `adapter_config.json` and `adapter_model.safetensors`. If a model folder also holds
 * these two files, it means the model with its adapter.
 */
import { parseConfig } from '../engine/config.ts';
import { paddedRank } from '../engine/lora.ts';
import type { LoraOptions, TensorMap } from '../engine/types.ts';
import type { ModelFiles } from '../records/model.ts';
import { type LoraConfig, parseAdapterConfig, tensorName } from './adapter-config.ts';
import { CONFIG, hasAdapter, WEIGHTS } from './adapter-files.ts';
import { fileOf, inFile, inMemory, isGguf, jsonFile, ModelFolderError, type ModelParts, readJson, withWeights } from './model-folder.ts';
import { readSafetensors, tensorNames, writeSafetensors } from './safetensors.ts';

export type { LoraConfig };

/** The engine's LoRA options for a PEFT configuration. */
export const loraOptions = ({ r, lora_alpha, target_modules, use_rslora }: LoraConfig): LoraOptions => ({
  rank: r,
  scale: lora_alpha / (use_rslora ? Math.sqrt(r) : r),
  targets: target_modules,
});

/**
 * Reads an adapter. `tensors` are padded to the engine's rank. If the folder also has the model, layers without an adapter get one of zeros,
 * which training keeps at zero.
 * @throws ModelFolderError, ImportError or SafetensorsError that names the file and the field
 */
export function readAdapter(files: Record<string, Uint8Array>): { config: LoraConfig; tensors: TensorMap } {
  const file = fileOf(files, WEIGHTS);
  const config = readConfig(files);
  const tensors = inFile(WEIGHTS, () => readSafetensors(file));
  const layers = files['config.json'] ? parseConfig(readJson(files, 'config.json')).num_hidden_layers : 0;
  return { config, tensors: withAllLayers(withRank(tensors, config.r, paddedRank(config.r)), layers) };
}

function readConfig(files: Record<string, Uint8Array>): LoraConfig {
  const weights = files[WEIGHTS];
  return parseAdapterConfig(readJson(files, CONFIG), weights && inFile(WEIGHTS, () => tensorNames(weights)));
}

/** The tensors with zeros for the layers that lack a target which other layers have. */
function withAllLayers(tensors: TensorMap, layers: number): TensorMap {
  const all = new Map(tensors);
  for (const [name, { shape }] of tensors)
    for (let layer = 0; layer < layers; layer++) {
      const same = name.replace(/\.layers\.\d+\./, `.layers.${layer}.`);
      if (!all.has(same)) all.set(same, { shape: [...shape], data: new Float32Array(shape.reduce((size, length) => size * length, 1)) });
    }
  return all;
}

/**
 * The files of an adapter, as PEFT's `save_pretrained` writes them.
 * @param base name or path of the base model
 */
export function saveAdapter(lora: LoraConfig, tensors: TensorMap, base: string): Record<string, Uint8Array<ArrayBuffer>> {
  const { modules: _, ...config } = lora;
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
    [WEIGHTS]: adapterFile(lora, tensors),
  };
}

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

/** Writes the engine's adapter tensors (values or gradients) as `adapter_model.safetensors`, with those modules that the adapter has. */
export function adapterFile({ r, modules }: LoraConfig, tensors: TensorMap): Uint8Array<ArrayBuffer> {
  const own = modules && new Set(modules.flatMap((module) => [tensorName(module, 'A'), tensorName(module, 'B')]));
  const kept = own ? new Map([...tensors].filter(([name]) => own.has(name))) : tensors;
  return writeSafetensors(withRank(kept, paddedRank(r), r));
}

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
    const b = tensors.get(tensorName(module, 'B'));
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
