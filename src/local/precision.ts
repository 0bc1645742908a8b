/** @file The paths at which transformers.js looks for the ONNX file of each precision in a model folder. */
import { ONNX_DTYPES, type OnnxDtype } from '../records/user.ts';
import { LocalError } from './local-error.ts';

const SUFFIXES: Record<OnnxDtype, string> = { q4f16: '_q4f16', q4: '_q4', q8: '_quantized', fp16: '_fp16', fp32: '' };

/** The path of the ONNX file, for example `onnx/model_q4.onnx` for `q4`. */
export const onnxPath = (precision: OnnxDtype): string => `onnx/model${SUFFIXES[precision]}.onnx`;

/** Whether a file holds weights of this precision: it is the ONNX file, or a data file next to it. */
export function holdsWeights(path: string, precision: OnnxDtype): boolean {
  const file = onnxPath(precision);
  return path === file || (path.startsWith(`${file}_data`) && /^(_\d+)?$/.test(path.slice(file.length + '_data'.length)));
}

/** The precisions for which a folder has ONNX files, in the order of `ONNX_DTYPES`. */
export const precisionsOf = (paths: readonly string[]): OnnxDtype[] =>
  ONNX_DTYPES.filter((precision) => paths.includes(onnxPath(precision)));

/** The precisions of the folder, the smallest first. @throws LocalError (`files`) if it has no ONNX file of a known name */
export function folderPrecisions(name: string, files: readonly { path: string }[]): OnnxDtype[] {
  const precisions = precisionsOf(files.map(({ path }) => path));
  if (precisions.length === 0)
    throw new LocalError(`the folder "${name}" has no ${onnxPath('fp32')}: expected a text-generation model for transformers.js`, 'files');
  return precisions;
}

/** Whether a file is one that a text-generation model needs besides its weights, or that changes how it generates. */
export const isDescription = (path: string): boolean =>
  /^(config|generation_config|tokenizer|tokenizer_config)\.json$|^chat_template\.jinja$/.test(path);
