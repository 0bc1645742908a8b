/** @file Writes a model as an ONNX folder with Optimum's layout, which transformers.js reads. */
import type { ModelFiles } from '../../records/model.ts';
import { jsonFile, loadModel, readJson } from '../model-folder.ts';
import { onnxDecoder, type OnnxPrecision } from './onnx-decoder.ts';
import { onnxFile } from './onnx-file.ts';

type Json = Record<string, unknown>;

/** For each precision: the `dtype` of transformers.js, and the file that transformers.js loads. */
const NAMES: Record<OnnxPrecision, { dtype: string; file: string }> = {
  f32: { dtype: 'fp32', file: 'onnx/model.onnx' },
  f16: { dtype: 'fp16', file: 'onnx/model_fp16.onnx' },
};

/** Whether a file is copied to the ONNX folder: files about the tokenizer or the use of the model, but not about its weights. */
const isKept = (name: string) => /\.(json|jinja|md)$/.test(name) && name !== 'model.safetensors.index.json';

/**
 * Makes the folder: `config.json`, `generation_config.json`, the tokenizer's files, and `onnx/model.onnx` or `onnx/model_fp16.onnx`.
 * @param files a Hugging Face folder with safetensors
 * @throws OnnxError as `onnxDecoder` and `onnxFile`; ModelFolderError if a file of the tokenizer is missing; as `loadModel`
 */
export function onnxFolder(files: ModelFiles, precision: OnnxPrecision): ModelFiles {
  const tokenizer = readJson(files, 'tokenizer.json') as Json;
  const tokenizerConfig = readJson(files, 'tokenizer_config.json') as Json;
  const { config, weights } = loadModel(files);
  const { dtype, file } = NAMES[precision];
  return {
    ...Object.fromEntries(Object.entries(files).filter(([name]) => isKept(name))),
    'config.json': jsonFile({
      ...(readJson(files, 'config.json') as Json),
      // Without these fields, transformers.js would look for a quantized file, and would give float16 models a float32 cache.
      'transformers.js_config': { dtype, kv_cache_dtype: { fp16: 'float16' } },
    }),
    'generation_config.json': files['generation_config.json'] ?? jsonFile(generationConfig(tokenizer, tokenizerConfig)),
    [file]: onnxFile(onnxDecoder(config, weights, precision)),
  };
}

/** The generation_config.json for a folder that has none: generation ends at the tokenizer's end-of-sequence token. */
function generationConfig(tokenizer: Json, { eos_token, pad_token }: Json): Json {
  const added = (Array.isArray(tokenizer.added_tokens) ? tokenizer.added_tokens : []) as { id: number; content: string }[];
  const id = (token: unknown) => added.find(({ content }) => content === ((token as { content?: string } | null)?.content ?? token))?.id;
  return { _from_model_config: true, eos_token_id: id(eos_token), pad_token_id: id(pad_token) };
}
