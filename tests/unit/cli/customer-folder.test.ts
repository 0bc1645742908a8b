/** `--user folder:DIR`: a model that `mua export --format onnx` wrote plays the customer. */
import { cp, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { readFlags } from '../../../src/cli/args.ts';
import { readUser, USER_FLAGS } from '../../../src/cli/commands/shared.ts';
import { mua } from '../../support/mua.ts';
import { smallLlamaGguf } from '../../support/small-llama.ts';
import { SMOLLM2_TEMPLATE } from '../../support/tokenizers.ts';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'mua-customer-'));
  await writeFile(join(folder, 'small.gguf'), smallLlamaGguf());
  for (const precision of ['f32', 'f16']) {
    const { code, stderr } = await mua('export', '--format', 'onnx', '--model', join(folder, 'small.gguf'), '--out', join(folder, 'a@b'), '--precision', precision); // prettier-ignore
    expect(code, stderr).toBe(0);
  }
  await writeFile(join(folder, 'a@b', 'notes.txt'), 'not for the browser');
});
afterAll(() => rm(folder, { recursive: true }));

const read = (...args: string[]) => readUser(readFlags(args, USER_FLAGS) as unknown as { user: string });

test('the export of a GGUF file is a customer: its template, its end, and the files that the browser needs', async () => {
  const { user, folder: found } = await read('--user', `folder:${join(folder, 'a@b')}@fp32`, '--user-device', 'webgpu');
  expect(user).toEqual({ mode: 'local', source: 'folder', model: 'a@b', precision: 'fp32', device: 'webgpu' });
  expect(found!.files.map(({ path }) => path).sort()).toEqual([
    'config.json',
    'generation_config.json',
    'onnx/model.onnx',
    'tokenizer.json',
    'tokenizer_config.json',
  ]);
  const json = async (name: string) => JSON.parse(await readFile(join(folder, 'a@b', name), 'utf8')) as Record<string, unknown>;
  expect(await json('tokenizer_config.json')).toMatchObject({ chat_template: SMOLLM2_TEMPLATE, eos_token: '<|im_end|>' });
  const { added_tokens } = (await json('tokenizer.json')) as unknown as { added_tokens: { id: number; content: string }[] };
  expect(await json('generation_config.json')).toMatchObject({
    eos_token_id: added_tokens.find(({ content }) => content === '<|im_end|>')!.id,
  });
  // Without a precision, the smallest one is taken.
  expect((await read('--user', `folder:${join(folder, 'a@b')}`)).user).toMatchObject({ model: 'a@b', precision: 'fp16' });
});

test('a folder that cannot play is refused with its name and what is wrong', async () => {
  const refused = async (directory: string, message: string) =>
    expect(read('--user', `folder:${directory}`)).rejects.toMatchObject({
      message: expect.stringContaining(message) as string,
      exitCode: 2,
    });
  await refused(join(folder, 'nowhere'), '/nowhere": there is no such file or folder');
  await refused(join(folder, 'small.gguf'), 'small.gguf": it is not a folder');
  await refused('models/nano-retail', 'the folder "nano-retail" has no onnx/model.onnx: expected a text-generation model');
  await refused(`${join(folder, 'a@b')}@q4`, 'onnx/model_q4.onnx of "a@b" is missing: expected an ONNX model in the precision q4');
  await mkdir(join(folder, 'bare', 'onnx'), { recursive: true });
  for (const name of ['config.json', 'tokenizer.json', 'onnx/model.onnx'])
    await writeFile(join(folder, 'bare', name), await readFile(join(folder, 'a@b', name)));
  await writeFile(join(folder, 'bare', 'tokenizer_config.json'), '{}');
  await refused(join(folder, 'bare'), 'tokenizer_config.json of "bare" has no chat_template');
});

test('two folders of the same name are refused: they would be one customer in the browser', async () => {
  await cp(join(folder, 'a@b'), join(folder, 'other', 'a@b'), { recursive: true });
  const users = [join(folder, 'a@b'), join(folder, 'other', 'a@b')].flatMap((directory) => ['--user', `folder:${directory}`]);
  const { code, stderr } = await mua('evaluate', '--model', 'models/nano-retail', ...users);
  expect([code, stderr]).toEqual([2, 'mua: --user names two folders "a@b": expected folders with different names\n']);
});
