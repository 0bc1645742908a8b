/** @file Checks, from its small files, whether a folder has a text-generation model that can play a customer. */
import { parserReason, shown } from '../base/input-error.ts';
import type { LocalModel } from '../records/user.ts';
import { LocalError } from './local-error.ts';
import { onnxPath } from './precision.ts';

type Json = Record<string, unknown>;

/**
 * @param paths the paths of all files of the folder
 * @param text reads the text of a file
 * @throws LocalError (`files`) that names the first file that is missing or wrong
 */
export async function checkFolder(
  { model, precision }: Pick<LocalModel, 'model' | 'precision'>,
  paths: readonly string[],
  text: (path: string) => Promise<string>,
): Promise<void> {
  const fail = (path: string, found: string, expected: string): never => {
    throw new LocalError(`${path} of "${model}" ${found}: expected ${expected}`, 'files');
  };
  const needed = { 'config.json': 'the description of a model', 'tokenizer.json': 'a tokenizer', 'tokenizer_config.json': 'its settings' };
  for (const [path, what] of Object.entries(needed)) if (!paths.includes(path)) fail(path, 'is missing', what);
  if (!paths.includes(onnxPath(precision))) fail(onnxPath(precision), 'is missing', `an ONNX model in the precision ${precision}`);
  const json = async (path: string): Promise<Json> => {
    let value: unknown;
    try {
      value = JSON.parse(await text(path));
    } catch (error) {
      fail(path, `is not JSON (${parserReason(error)})`, 'a JSON object');
    }
    return typeof value === 'object' && value !== null ? (value as Json) : fail(path, `is ${shown(value)}`, 'a JSON object');
  };
  const { architectures } = await json('config.json');
  const [architecture] = Array.isArray(architectures) ? (architectures as unknown[]) : [];
  if (typeof architecture !== 'string' || !architecture.endsWith('ForCausalLM'))
    fail('config.json', `names the architecture ${shown(architecture)}`, 'a text-generation model, such as Qwen3ForCausalLM');
  await json('tokenizer.json');
  const { chat_template } = await json('tokenizer_config.json');
  if (!chat_template && !paths.includes('chat_template.jinja'))
    fail('tokenizer_config.json', 'has no chat_template', 'the template of an instruction-tuned model');
}
