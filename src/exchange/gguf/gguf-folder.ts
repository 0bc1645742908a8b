/** @file A single GGUF file as the files of a Hugging Face folder. The weights stay in the file. */
import { configJson, parseConfig } from '../../engine/config.ts';
import { ropeFrequencies } from '../../engine/rope.ts';
import type { ModelConfig, ModelFiles, RopeScaling } from '../../records/model.ts';
import { type ByteSource, openBytes } from '../file-bytes.ts';
import { ggufOf, inFile, jsonFile, type ModelParts } from '../model-folder.ts';
import { GgufError } from './gguf-error.ts';
import { type GgufHeader, openGguf } from './gguf-file.ts';
import { configFields } from './gguf-metadata.ts';
import { ROPE_FACTORS } from './gguf-source.ts';
import { tokenizerFiles } from './gguf-tokenizer.ts';

/**
 * The files of the folder that follow from the GGUF file: `config.json`, `tokenizer.json` and `tokenizer_config.json`. Empty if the
 * folder has no GGUF file, or has a `config.json`.
 * @throws GgufError or ConfigError that names the field
 */
export async function filesFromGguf(files: ModelParts): Promise<ModelFiles> {
  const name = ggufOf(files);
  if (name === undefined || Object.hasOwn(files, 'config.json')) return {};
  const bytes = await openBytes(files[name]!);
  return inFile(name, async () => {
    const header = await openGguf(bytes);
    const config = parseConfig(configFields(header));
    const rope_scaling = await ropeScaling(header, bytes, config);
    const made = { 'config.json': configJson({ ...config, ...(rope_scaling && { rope_scaling }) }), ...tokenizerFiles(header.metadata) };
    return Object.fromEntries(Object.entries(made).map(([file, json]) => [file, jsonFile(json)]));
  });
}

/** llama.cpp writes these values if a model does not say others. All models of Llama 3.1 and 3.2 have them. */
const LLAMA3 = { rope_type: 'llama3', low_freq_factor: 1, high_freq_factor: 4, original_max_position_embeddings: 8192 } as const;
const TOLERANCE = 1e-4;

/** The file has the factors by which the frequencies are divided. Returns the scaling that gives these factors. */
async function ropeScaling(header: GgufHeader, file: ByteSource, config: ModelConfig): Promise<RopeScaling | undefined> {
  const tensor = header.tensors.get(ROPE_FACTORS);
  if (!tensor) return undefined;
  const plain = ropeFrequencies(config);
  if (tensor.type.name !== 'F32' || tensor.shape.length !== 1 || tensor.shape[0] !== plain.length)
    throw new GgufError(`tensor ${ROPE_FACTORS} is ${tensor.type.name} [${tensor.shape}]: expected F32 [${plain.length}]`);
  const factors = new Float32Array((await file.read(tensor.begin, tensor.bytes)).slice().buffer);
  if (factors.every((factor) => factor === 1)) return undefined;
  const scaling = { ...LLAMA3, factor: Math.max(...factors) };
  const scaled = ropeFrequencies({ ...config, rope_scaling: scaling });
  const bad = factors.findIndex((factor, i) => !(Math.abs((factor * scaled[i]!) / plain[i]! - 1) < TOLERANCE));
  if (bad >= 0)
    throw new GgufError(
      `tensor ${ROPE_FACTORS}: element ${bad} is ${factors[bad]}: expected ${plain[bad]! / scaled[bad]!}, as in Llama 3.1 and 3.2`,
    );
  return scaling;
}
