import { readdirSync, readFileSync } from 'node:fs';
import { Template } from '@huggingface/jinja';
import { describe, expect, it, test } from 'vitest';
import { CONTROL_TOKENS, trainTokenizer } from '../../../src/agent/bpe-trainer.ts';
import { CHAT_TEMPLATE } from '../../../src/agent/jinja-template.ts';
import { loadTokenizer as loadWithoutJinja, openTokenizer } from '../../../src/agent/tokenizer.ts';
import { loadTokenizer, nanoTokenizer, plainFiles, qwenTokenizer, randomStrings, SMOLLM2_TEMPLATE } from '../../support/tokenizers.ts';

describe('the Qwen3 tokenizer', () => {
  it('has the published ids', () => {
    const tokenizer = qwenTokenizer();
    expect(tokenizer.vocabSize).toBe(151669);
    expect(tokenizer.id('<|im_end|>')).toBe(151645);
    expect(tokenizer.id('</tool_call>')).toBe(151658);
    // "Hello world" is [9707, 1879] in every Qwen2 and Qwen3 tokenizer.
    expect(tokenizer.encode('Hello world')).toEqual([9707, 1879]);
    expect(tokenizer.encode('<|im_start|>assistant\n<think>\n\n</think>\n\n')).toEqual([151644, 77091, 198, 151667, 271, 151668, 271]);
    expect(tokenizer.chatTemplate).toContain('<tool_response>');
  });

  it('decodes 200 random strings to their NFC form (its normaliser is NFC)', () => {
    const tokenizer = qwenTokenizer();
    for (const text of randomStrings(200, 1)) expect(tokenizer.decode(tokenizer.encode(text))).toBe(text.normalize('NFC'));
  });

  it('has no text for ids above its vocabulary, for which the model has unused rows', () => {
    expect(qwenTokenizer().decode([9707, 151800, 1879])).toBe('Hello world');
    expect(qwenTokenizer().decode([])).toBe('');
    expect(qwenTokenizer().encode('')).toEqual([]);
  });
});

describe('the nano tokenizer', () => {
  it('decodes 200 random strings unchanged', () => {
    const tokenizer = nanoTokenizer();
    for (const text of [...randomStrings(200, 2), '\uFEFFbom', 'a\u0301', '\u0000'])
      expect(tokenizer.decode(tokenizer.encode(text))).toBe(text);
  });

  it('gives a long text the same tokens each time, in an array of its own', () => {
    const tokenizer = nanoTokenizer();
    const texts = Array.from({ length: 12 }, (_, i) => `order ${i} `.repeat(200));
    for (const text of [...texts, ...texts]) {
      const tokens = tokenizer.encode(text);
      expect(tokenizer.decode(tokens)).toBe(text);
      tokens.length = 0;
      expect(tokenizer.decode(tokenizer.encode(text))).toBe(text);
    }
  });

  it('ends in the control tokens', () => {
    const tokenizer = nanoTokenizer();
    expect(CONTROL_TOKENS.map(({ content }) => tokenizer.id(content))).toEqual(
      CONTROL_TOKENS.map((_, i) => tokenizer.vocabSize - CONTROL_TOKENS.length + i),
    );
    expect(tokenizer.chatTemplate).toBe(CHAT_TEMPLATE);
    expect(() => tokenizer.id('<|nonsense|>')).toThrow('<|nonsense|>');
  });

  it.each([1, 2, 3] as const)('makes every group of %i digits one token', (digits) => {
    const tokenizer = loadTokenizer(trainTokenizer(['order 12 order 345'], { vocabSize: 1600, digits }).files);
    for (let n = 0; n < 10 ** digits; n++) expect(tokenizer.encode(String(n).padStart(digits, '0'))).toHaveLength(1);
    // Groups are formed from the left. A shorter group comes last.
    const id = '#W1234567';
    expect(
      tokenizer
        .encode(id)
        .map((token) => tokenizer.decode([token]))
        .filter((text) => /\d/.test(text)),
    ).toEqual(id.slice(2).match(new RegExp(`\\d{1,${digits}}`, 'g')));
  });

  it('merges the most frequent pair first, ties by order, and stops when pairs are rare', () => {
    const base = 256 + CONTROL_TOKENS.length;
    // "ab" 5 times, "cd" 3 times, "ef" once: below the minimum frequency.
    const { files, vocabSize } = trainTokenizer(['ab\nab\nab\nab\nab\ncd\ncd\ncd\nef'], { vocabSize: base + 50, digits: 1 });
    const { merges } = (JSON.parse(files['tokenizer.json']) as { model: { merges: string[][] } }).model;
    expect(merges).toEqual([
      ['a', 'b'],
      ['c', 'd'],
    ]);
    expect(vocabSize).toBe(base + 2);
  });

  it('can make the skeleton of a tool call one token', () => {
    const line = '{"name": "find_user_id_by_email", "arguments": {"email": "a@b.c"}}\n';
    const tokenizer = loadTokenizer(trainTokenizer([line.repeat(3)], { vocabSize: 400, digits: 1 }).files);
    const pieces = tokenizer.encode(line).map((token) => tokenizer.decode([token]));
    expect(pieces).toEqual(['{"name": "find_user_id_by_email", "arguments": {"email": "', 'a', '@b', '.c', '"}}', '\n']);
  });

  it('keeps the underscore before an id with its word', () => {
    const tokenizer = loadTokenizer(trainTokenizer(['gift_card_12 '.repeat(3)], { vocabSize: 400, digits: 1 }).files);
    expect(tokenizer.encode('gift_card_987').map((token) => tokenizer.decode([token]))).toEqual(['gift_card_', '9', '8', '7']);
    // The same token after a space: a copying head looks for it.
    expect(tokenizer.encode('a gift_card_9').map((token) => tokenizer.decode([token]))).toEqual(['a', ' ', 'gift_card_', '9']);
  });

  it('can make a name the same token in a message and in a call', () => {
    const texts = ['I am Amir Smith. ', '"Amir Smith" '].map((text) => text.repeat(3));
    const pieces = (splitCapitals: boolean) => {
      const tokenizer = loadTokenizer(trainTokenizer(texts, { vocabSize: 400, digits: 1, splitCapitals }).files);
      return ['I am Amir.', '"Amir"'].map((text) => tokenizer.encode(text).map((token) => tokenizer.decode([token])));
    };
    expect(pieces(true)).toEqual([
      ['I', ' am ', 'Amir', '.'],
      ['"', 'Amir', '"'],
    ]);
    expect(pieces(false)[0]).toContain(' Amir');
    expect(pieces(false)[1]).not.toContain(' Amir');
  });

  it('does not depend on the order of its texts', () => {
    const texts = ['to be or not', 'not to be', 'or be it so'];
    expect(trainTokenizer(texts, { vocabSize: 300, digits: 1 })).toEqual(
      trainTokenizer([...texts].reverse(), { vocabSize: 300, digits: 1 }),
    );
  });

  it('refuses a vocabulary too small for its bytes and digits', () => {
    expect(() => trainTokenizer([''], { vocabSize: 1000, digits: 3 })).toThrow(
      'vocabulary size 1000: expected at least 1365 with digit groups of 3',
    );
  });
});

describe('loading', () => {
  const files = trainTokenizer(['a b'], { vocabSize: 300, digits: 1 }).files;

  it('an error names the file', () => {
    expect(() => loadTokenizer({ 'tokenizer_config.json': '{}' })).toThrow('tokenizer.json is missing');
    expect(() => loadTokenizer({ ...files, 'tokenizer_config.json': '{"a":' })).toThrow('tokenizer_config.json is not JSON');
    expect(() => loadTokenizer({ ...files, 'tokenizer.json': '{"version":"1.0"}' })).toThrow('model is missing: expected an object');
    expect(() => loadTokenizer({ ...files, 'tokenizer.json': '[]' })).toThrow('expected a JSON object');
  });

  it.each([
    [{ pre_tokenizer: { type: 'Metaspace', replacement: '▁' } }, 'pre_tokenizer.split is missing: expected false'],
    [
      { pre_tokenizer: { type: 'Split', pattern: { String: ' ' }, behavior: 'Contiguous' } },
      'pre_tokenizer.behavior is "Contiguous": expected Isolated, Removed',
    ],
    [{ added_tokens: [{ id: 1, content: 'lamp', single_word: true }] }, 'added_tokens[0].single_word is true: expected false'],
  ])('refuses what the library reads in another way than the original: %j', (change, message) => {
    const json = JSON.stringify({ ...(JSON.parse(files['tokenizer.json']) as object), ...change });
    expect(() => loadTokenizer({ ...files, 'tokenizer.json': json })).toThrow(message);
  });

  it('accepts bytes, and prefers chat_template.jinja', () => {
    const bytes = Object.fromEntries(Object.entries(files).map(([name, text]) => [name, new TextEncoder().encode(text)]));
    expect(loadTokenizer({ ...bytes, 'chat_template.jinja': SMOLLM2_TEMPLATE }).chatTemplate).toBe(SMOLLM2_TEMPLATE);
    const named = JSON.stringify({
      chat_template: [
        { name: 'rag', template: 'x' },
        { name: 'default', template: SMOLLM2_TEMPLATE },
      ],
    });
    expect(loadTokenizer({ ...files, 'tokenizer_config.json': named }).chatTemplate).toBe(SMOLLM2_TEMPLATE);
  });
});

test('bundled models need no library for templates, and their thoughts are those that it finds', async () => {
  for (const name of readdirSync('models').filter((folder) => folder !== 'customers')) {
    const files = Object.fromEntries(
      ['tokenizer.json', 'tokenizer_config.json'].map((file) => [file, new Uint8Array(readFileSync(`models/${name}/${file}`))]),
    );
    const { format, chatTemplate } = loadWithoutJinja(files);
    // The template itself is the oracle.
    const messages = [{ role: 'user', content: 'Hi' }];
    const prompt = new Template(chatTemplate).render({ messages, add_generation_prompt: true, enable_thinking: false });
    expect(format.thinks, name).toBe(prompt.includes('<think>'));
  }
  expect(() => loadWithoutJinja(plainFiles(SMOLLM2_TEMPLATE))).toThrow('expected the library jinja');
  expect((await openTokenizer(plainFiles(SMOLLM2_TEMPLATE))).format.end).toBe('<|im_end|>');
});

test('the vocabulary of the same bytes is read once, also with another template', () => {
  const file = new TextEncoder().encode(plainFiles(SMOLLM2_TEMPLATE)['tokenizer.json']);
  const config = (more: object) => JSON.stringify({ bos_token: '<|endoftext|>', ...more });
  const load = (more: object) => loadTokenizer({ 'tokenizer.json': file, 'tokenizer_config.json': config(more) });
  const template = SMOLLM2_TEMPLATE.replace('named SmolLM', 'named Otto');
  const [first, other] = [load({ chat_template: SMOLLM2_TEMPLATE }), load({ chat_template: template })];
  expect(other.encode).toBe(first.encode);
  expect(other.format.bare).toContain('Otto');
  expect(load({ chat_template: template, add_prefix_space: true }).encode).not.toBe(first.encode);
});
