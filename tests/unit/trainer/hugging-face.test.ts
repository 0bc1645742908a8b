/** What `mua export --format hf` adds for transformers and TRL. `npm run engines` reads such folders with the real packages. */
import { readFileSync } from 'node:fs';
import { Template } from '@huggingface/jinja';
import { expect, it } from 'vitest';
import { CHAT_TEMPLATE, isOwnTemplate } from '../../../src/agent/jinja-template.ts';
import { jsonFile, readJson } from '../../../src/exchange/model-folder.ts';
import { forTransformers, isOfPlayground } from '../../../src/trainer/hugging-face.ts';
import { plainFiles } from '../../support/tokenizers.ts';

const bytes = (text: string) => new TextEncoder().encode(text);
const own = () =>
  Object.fromEntries(
    ['config.json', 'tokenizer.json', 'tokenizer_config.json'].map((name) => [
      name,
      new Uint8Array(readFileSync(`models/glimpse-retail/${name}`)),
    ]),
  );
const fields = (files: Record<string, Uint8Array>, name: string) => readJson(files, name) as Record<string, never>;
/** The template as models have it that were made before the tags existed. */
const EARLIER = CHAT_TEMPLATE.replace(/\n *\{%- (end)?generation %\}/g, '').replace(
  "{{- '<|im_end|>' }}\n        {{- '\\n' }}",
  "{{- '<|im_end|>\\n' }}",
);

it('the ids that end and pad, the inputs, how a turn is parsed, and the newest template', async () => {
  const described = fields(own(), 'tokenizer_config.json');
  const { response_template: _, model_input_names: __, ...earlier } = described;
  const files = { ...own(), 'tokenizer_config.json': jsonFile({ ...earlier, chat_template: EARLIER }) };
  expect(EARLIER).not.toContain('generation %}');
  expect([isOwnTemplate(EARLIER), await isOfPlayground(files)]).toEqual([true, true]);
  const written = await forTransformers(files);
  // The ids of <|im_end|> and <|endoftext|> in tokenizer.json.
  expect(fields(written, 'config.json')).toMatchObject({ eos_token_id: [872, 870], pad_token_id: 870, model_type: 'qwen3' });
  expect(fields(written, 'generation_config.json')).toEqual({ _from_model_config: true, eos_token_id: [872, 870], pad_token_id: 870 });
  const { chat_template, response_template, model_input_names } = fields(written, 'tokenizer_config.json');
  expect(chat_template).toBe(CHAT_TEMPLATE);
  expect(model_input_names).toEqual(['input_ids', 'attention_mask']);
  expect(response_template).toMatchObject({
    start_anchor: '<|im_start|>assistant\n',
    fields: { content: { close_pattern: '<\\|im_end\\|>\\s*' }, tool_calls: { open: '<tool_call>', close_pattern: '</tool_call>\\s*' } },
  });
  const messages = [
    { role: 'user', content: 'Hi' },
    { role: 'assistant', content: 'Hello' },
  ];
  expect(new Template(CHAT_TEMPLATE).render({ messages })).toBe(new Template(EARLIER).render({ messages }));
  expect(await forTransformers(written)).toEqual(written);
});

it('keeps what a folder has, and does not parse turns of a template that it did not write', async () => {
  const files = {
    ...own(),
    'config.json': jsonFile({ ...fields(own(), 'config.json'), eos_token_id: 5 }),
    'generation_config.json': jsonFile({ eos_token_id: 7 }),
    'tokenizer_config.json': jsonFile({
      ...fields(own(), 'tokenizer_config.json'),
      response_template: undefined,
      chat_template: `${CHAT_TEMPLATE}{#- mine #}`,
    }),
  };
  const written = await forTransformers(files);
  expect(fields(written, 'config.json')).toMatchObject({ eos_token_id: 5, pad_token_id: expect.any(Number) });
  expect(fields(written, 'generation_config.json')).toEqual({ eos_token_id: 7 });
  expect(fields(written, 'tokenizer_config.json')).not.toHaveProperty('response_template');
  expect(await forTransformers({ 'config.json': bytes('{}') })).toEqual({ 'config.json': bytes('{}') });
});

it('a model whose template knows no tools gets the compact one', async () => {
  const plain =
    "{% for m in messages %}{{'<|im_start|>' + m['role'] + '\n' + m['content'] + '<|im_end|>' + '\n'}}{% endfor %}{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif %}";
  const files = {
    'config.json': bytes('{}'),
    ...Object.fromEntries(Object.entries(plainFiles(plain)).map(([name, text]) => [name, bytes(text)])),
  };
  expect(await isOfPlayground(files)).toBe(false);
  const written = await forTransformers(files);
  expect(await isOfPlayground(written)).toBe(true);
  expect(fields(written, 'tokenizer_config.json').chat_template).toContain('{%- generation %}');
});
