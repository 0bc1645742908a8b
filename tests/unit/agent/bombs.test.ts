/** Tokenizers and chat templates that would fill the memory or never end are refused at once, and those of real models are read. */
import { readFileSync } from 'node:fs';
import { Template } from '@huggingface/jinja';
import { expect, test } from 'vitest';
import { BoundedTemplate } from '../../../src/agent/render-template.ts';
import { checkTokenizerJson } from '../../../src/agent/tokenizer-file.ts';
import { openTokenizer } from '../../../src/agent/tokenizer.ts';
import { reportFaults } from '../../support/faults.ts';

const folder = 'models/nano-retail';
const json = JSON.parse(readFileSync(`${folder}/tokenizer.json`, 'utf8')) as Record<string, unknown>;
const config = readFileSync(`${folder}/tokenizer_config.json`, 'utf8');
const renderTemplate = (template: string, variables: Record<string, unknown>) => new BoundedTemplate(template).render(variables);
const messages = [{ role: 'user', content: 'x' }];

const many = Array(1000).fill('1').join(',');
const TEMPLATES: Record<string, string> = {
  'a huge range': '{% for i in range(1000000000) %}x{% endfor %}',
  'a range that is computed': '{% for i in range(99999 * 99999) %}{% endfor %}',
  'a negative range': '{% for i in range(0, -1000000000, -1) %}x{% endfor %}',
  'nested ranges': '{% for i in range(9999) %}{% for j in range(9999) %}{% endfor %}{% endfor %}',
  'nested lists': `{% set a = [${many}] %}{% for i in a %}{% for j in a %}{% for k in a %}x{% endfor %}{% endfor %}{% endfor %}`,
  'a text that doubles itself': `{% set ns = namespace(t='abcdefgh') %}{% for i in [${many}] %}{% set ns.t = ns.t + ns.t %}{% endfor %}{{ ns.t }}`,
  'the same with ~': `{% set ns = namespace(t='abcdefgh') %}{% for i in [${many}] %}{% set ns.t = ns.t ~ ns.t %}{% endfor %}{{ ns.t }}`,
  'a wide indent': "{{ 'a\\nb' | indent(900000000) }}",
  'a macro that calls itself': '{% macro m(x) %}{{ m(x) }}{% endmacro %}{{ m(1) }}',
  'a replacement of everything':
    "{% set ns = namespace(t='aaaaaaaa') %}{% for i in [1,2,3,4,5,6,7,8,9,10] %}{% set ns.t = ns.t | replace('a', 'aaaaaaaa') %}{% endfor %}",
  'a long text': `{{ '${'x'.repeat(2_000_000)}' }}`,
};

test.each(Object.entries(TEMPLATES))('the chat template with %s', (_, template) => {
  const start = performance.now();
  expect(() => renderTemplate(template, { messages })).toThrow();
  expect(performance.now() - start).toBeLessThan(5000);
});

test('a template of a model folder that is a bomb is named in one line', async () => {
  const added = [{ id: 5000, content: '<|x|>', special: true }];
  const files = {
    'tokenizer.json': JSON.stringify({ ...json, added_tokens: added }),
    'tokenizer_config.json': config,
    'chat_template.jinja': TEMPLATES['a huge range']!,
  };
  await expect(openTokenizer(files)).rejects.toThrow(/^chat_template cannot be rendered: the chat template makes .*: expected at most/);
});

test('templates write what the library writes', () => {
  const own = (JSON.parse(config) as { chat_template: string }).chat_template;
  const templates = [
    own,
    '{% for i in range(3) %}{{ i }}{% endfor %}{% for i in range(1, 9, 3) %}{{ i }}{% endfor %}{% for i in range(3, 0, -1) %}{{ i }}{% endfor %}{{ True }}{{ none }}{{ messages | tojson }}',
  ];
  for (const template of templates)
    expect(renderTemplate(template, { messages, add_generation_prompt: true })).toBe(
      new Template(template).render({ messages, add_generation_prompt: true }),
    );
  expect(() => renderTemplate("{{ raise_exception('no system') }}", {})).toThrow('no system');
  expect(renderTemplate("{{ strftime_now('%d %b %Y') }}", {})).toBe('26 Jul 2024');
});

const replace = (pattern: object, content: unknown) => ({ type: 'Replace', pattern, content });
const sequence = (normalizers: unknown[]) => ({ type: 'Sequence', normalizers });
const BOMBS: [string, object, RegExp][] = [
  ['a normalizer that multiplies', { normalizer: replace({ String: 'a' }, 'aa') }, /normalizer\.content is "aa": expected a text that is not longer/],
  ['one in a sequence', { normalizer: sequence([{ type: 'NFC' }, replace({ String: 'e' }, 'e'.repeat(1000))]) }, /normalizers\[1\]\.content/],
  ['one with an expression', { normalizer: replace({ Regex: '\\s+' }, 'aaaa') }, /content is "aaaa"/],
  ['one with an empty pattern', { normalizer: replace({ String: '' }, 'a') }, /pattern/],
  ['a long prefix', { normalizer: { type: 'Prepend', prepend: 'x'.repeat(1e6) } }, /normalizer\.prepend/],
  ['many normalizers', { normalizer: sequence(Array(17).fill({ type: 'NFKD' })) }, /normalizer is .*at most 16 parts/],
  ['an unknown normalizer', { normalizer: { type: 'Precompiled', precompiled_charsmap: 'x' } }, /normalizer\.type is "Precompiled": expected NFC/],
  ['a pre-tokenizer that replaces', { pre_tokenizer: replace({ String: 'a' }, 'aaa') }, /pre_tokenizer\.type is "Replace": expected ByteLevel/],
  ['a long replacement', { pre_tokenizer: { type: 'Metaspace', split: false, replacement: 'x'.repeat(1e6) } }, /pre_tokenizer\.replacement/],
  ['a decoder that multiplies', { decoder: replace({ String: 'a' }, 'aaaa') }, /decoder\.content/],
  ['an added token of 1 MB', { added_tokens: [{ id: 1, content: 'x'.repeat(2 ** 20) }] }, /added_tokens\[0\]\.content is .*at most 1000 characters/],
  ['a token of 1 MB', { model: { ...(json.model as object), vocab: { ['x'.repeat(2 ** 20)]: 0 } } }, /model\.vocab is .*at most 1000 characters/],
  ['a long suffix', { model: { ...(json.model as object), end_of_word_suffix: 'x'.repeat(2 ** 20) } }, /end_of_word_suffix/],
]; // prettier-ignore

test.each(BOMBS)('a tokenizer with %s', (_, part, message) => {
  expect(() => checkTokenizerJson({ ...json, ...part })).toThrow(message);
});

test('the parts of real tokenizers pass', () => {
  const llama2 = {
    normalizer: sequence([{ type: 'Prepend', prepend: '▁' }, replace({ String: ' ' }, '▁')]),
    pre_tokenizer: null,
    decoder: { type: 'Sequence', decoders: [replace({ String: '▁' }, ' '), { type: 'ByteFallback' }, { type: 'Fuse' }, { type: 'Strip', content: ' ', start: 1, stop: 0 }] },
    post_processor: { type: 'TemplateProcessing', single: [], pair: [], special_tokens: {} },
  }; // prettier-ignore
  const qwen = { normalizer: { type: 'NFC' }, pre_tokenizer: json.pre_tokenizer, decoder: { type: 'ByteLevel', add_prefix_space: false } };
  for (const part of [{}, llama2, qwen]) expect(() => checkTokenizerJson({ ...json, ...part })).not.toThrow();
  reportFaults({
    fault: 'a tokenizer or a chat template that would fill the memory',
    how: 'templates with huge loops and texts, tokenizers whose parts multiply texts',
    times: BOMBS.length + Object.keys(TEMPLATES).length + 1,
    lost: 'nothing: each is refused with the name of the field within 5 s',
    test: 'tests/unit/agent/bombs.test.ts',
  });
});
