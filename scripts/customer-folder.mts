/**
 * @file Turns a model that was trained on the customer's side of conversations into a customer model for the page. The result is an ONNX
 * folder for transformers.js. Its chat template keeps only the instruction of the system message.
 *
 *     npx tsx scripts/customer-folder.mts --model DIR --out models/customers/NAME [--temperature 0.7]
 *
 * The model must be trained on conversations of `mua synthesize --side customer`, whose system message is only the instruction. The page's
 * prompt (src/users/prompt.ts) also has rules around the instruction. A model of this size cannot use these rules.
 */
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { parseArgs } from 'node:util';
import { generationPrompt, QWEN } from '../src/agent/chat-template.ts';
import { onnxFolder } from '../src/exchange/onnx/onnx-folder.ts';
import type { ModelFiles } from '../src/records/model.ts';

const { values } = parseArgs({
  options: { model: { type: 'string' }, out: { type: 'string' }, temperature: { type: 'string', default: '0.7' } },
});
const temperature = Number(values.temperature);
if (!values.model || !values.out || !(temperature >= 0)) {
  console.error('customer-folder: expected --model DIR --out DIR, and a temperature from 0 on');
  process.exit(2);
}

const TEMPLATE = `{%- set instruction = messages[0].content %}
{%- if 'Instruction: ' in instruction %}
    {%- set instruction = instruction.split('Instruction: ')[1].split('\\n')[0] %}
{%- endif %}
{{- '<|im_start|>system\\n' + instruction + '<|im_end|>\\n' }}
{%- for message in messages[1:] %}
    {%- if message.role == 'assistant' %}
        {{- ${JSON.stringify(generationPrompt(QWEN))} + message.content + '<|im_end|>\\n' }}
    {%- else %}
        {{- '<|im_start|>user\\n' + message.content + '<|im_end|>\\n' }}
    {%- endif %}
{%- endfor %}
{%- if add_generation_prompt %}
    {{- ${JSON.stringify(generationPrompt(QWEN))} }}
{%- endif %}`;

const read = (files: ModelFiles, name: string) => JSON.parse(new TextDecoder().decode(files[name])) as Record<string, unknown>;
const write = (value: unknown) => new TextEncoder().encode(`${JSON.stringify(value, null, 2)}\n`);

const files: ModelFiles = {};
for (const name of ['config.json', 'tokenizer.json', 'tokenizer_config.json', 'model.safetensors'])
  files[name] = new Uint8Array(await readFile(join(values.model, name)));
files['tokenizer_config.json'] = write({ ...read(files, 'tokenizer_config.json'), chat_template: TEMPLATE });
const folder = onnxFolder(files, 'f32');
folder['generation_config.json'] = write({ ...read(folder, 'generation_config.json'), do_sample: temperature > 0, temperature, top_k: 0 });
for (const [name, bytes] of Object.entries(folder)) {
  await mkdir(dirname(join(values.out, name)), { recursive: true });
  await writeFile(join(values.out, name), bytes);
}
