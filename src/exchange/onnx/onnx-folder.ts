/** @file A model as an ONNX folder: the layout of Optimum, which transformers.js reads. */
import type { ModelFiles } from '../../records/model.ts';
import { jsonFile, loadModel, readJson } from '../model-folder.ts';
import { onnxDecoder, type OnnxPrecision } from './onnx-decoder.ts';
import { onnxFile } from './onnx-file.ts';

type Json = Record<string, unknown>;

/** transformers.js' names of a precision: its `dtype` and the file that it looks for. */
const NAMES: Record<OnnxPrecision, { dtype: string; file: string }> = {
  f32: { dtype: 'fp32', file: 'onnx/model.onnx' },
  f16: { dtype: 'fp16', file: 'onnx/model_fp16.onnx' },
};

/** Files of the folder that describe the tokenizer or the use of the model, and none of its weights. */
const isKept = (name: string) => /\.(json|jinja|md)$/.test(name) && name !== 'model.safetensors.index.json';

/**
 * `config.json`, `generation_config.json`, the files of the tokenizer, and `onnx/model.onnx` or `onnx/model_fp16.onnx`.
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
      // Without these fields transformers.js would look for a quantized file, and start float16 models with a float32 cache.
      'transformers.js_config': { dtype, kv_cache_dtype: { fp16: 'float16' } },
    }),
    'generation_config.json': files['generation_config.json'] ?? jsonFile(generationConfig(tokenizer, tokenizerConfig)),
    [file]: onnxFile(onnxDecoder(config, weights, precision)),
  };
}

/** The config of a folder without one: generation ends at the tokenizer's end of sequence. */
function generationConfig(tokenizer: Json, { eos_token, pad_token }: Json): Json {
  const added = (Array.isArray(tokenizer.added_tokens) ? tokenizer.added_tokens : []) as { id: number; content: string }[];
  const id = (token: unknown) => added.find(({ content }) => content === ((token as { content?: string } | null)?.content ?? token))?.id;
  return { _from_model_config: true, eos_token_id: id(eos_token), pad_token_id: id(pad_token) };
}
