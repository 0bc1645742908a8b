/** @file The ONNX files of a model folder: where transformers.js looks for each precision. */
import { ONNX_DTYPES, type OnnxDtype } from '../records/user.ts';

const SUFFIXES: Record<OnnxDtype, string> = { q4f16: '_q4f16', q4: '_q4', q8: '_quantized', fp16: '_fp16', fp32: '' };

/** `onnx/model_q4.onnx` for `q4`. */
export const onnxPath = (precision: OnnxDtype): string => `onnx/model${SUFFIXES[precision]}.onnx`;

/** Whether the file holds weights of this precision: the ONNX file, or data that lie beside it. */
export function holdsWeights(path: string, precision: OnnxDtype): boolean {
  const file = onnxPath(precision);
  return path === file || (path.startsWith(`${file}_data`) && /^(_\d+)?$/.test(path.slice(file.length + '_data'.length)));
}

/** The precisions that the files of a folder offer, the smallest first. */
export const precisionsOf = (paths: readonly string[]): OnnxDtype[] =>
  ONNX_DTYPES.filter((precision) => paths.includes(onnxPath(precision)));

/** Files beside the weights that a text-generation model needs, or that change how it writes. */
export const isDescription = (path: string): boolean =>
  /^(config|generation_config|tokenizer|tokenizer_config)\.json$|^chat_template\.jinja$/.test(path);
