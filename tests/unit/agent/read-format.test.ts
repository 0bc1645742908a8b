/** The chat format that is read from a model's own template, with the template itself as the oracle. */
import { Template } from '@huggingface/jinja';
import { describe, expect, it } from 'vitest';
import { generationPrompt, QWEN, renderConversation, renderPieces } from '../../../src/agent/chat-template.ts';
import { spoken } from '../../../src/agent/tool-call.ts';
import { CHAT_TEMPLATE, compactTemplate } from '../../../src/agent/jinja-template.ts';
import type { ChatTokenizer } from '../../../src/agent/tokenizer.ts';
import type { Conversation } from '../../../src/records/conversation.ts';
import {
  conversation,
  loadTokenizer,
  nanoTokenizer,
  plainFiles,
  plainTokenizer,
  qwenTokenizer,
  SMOLLM2_TEMPLATE,
} from '../../support/tokenizers.ts';

/** The shape of Llama 3.2's template: a token at the start, a date in each system message, words without white space around them. */
const LLAMA = `{{- bos_token }}{%- if not date_string is defined %}{%- set date_string = 'today' %}{%- endif %}
{%- if messages[0]['role'] == 'system' %}{%- set system_message = messages[0]['content'] | trim %}{%- set messages = messages[1:] %}
{%- else %}{%- set system_message = '' %}{%- endif %}
{{- '<|start_header_id|>system<|end_header_id|>\\n\\nToday Date: ' + date_string + '\\n\\n' + system_message + '<|eot_id|>' }}
{%- for message in messages %}
{{- '<|start_header_id|>' + message['role'] + '<|end_header_id|>\\n\\n' + message['content'] | trim + '<|eot_id|>' }}
{%- endfor %}
{%- if add_generation_prompt %}{{- '<|start_header_id|>assistant<|end_header_id|>\\n\\n' }}{%- endif %}`;
/** The parts of Qwen2.5's template that calls and tools need, with its own policy. */
const QWEN25 = `{%- if tools %}
{{- '<|im_start|>system\\n' }}
{%- if messages[0].role == 'system' %}{{- messages[0].content }}{%- else %}{{- 'You are Qwen.' }}{%- endif %}
{{- "\\n\\n# Tools\\n\\nYou may call one or more functions to assist with the user query.\\n\\nYou are provided with function signatures within <tools></tools> XML tags:\\n<tools>" }}
{%- for tool in tools %}{{- "\\n" + (tool | tojson) }}{%- endfor %}
{{- "\\n</tools>\\n\\nFor each function call, return a json object with function name and arguments within <tool_call></tool_call> XML tags:\\n<tool_call>\\n{\\"name\\": <function-name>, \\"arguments\\": <args-json-object>}\\n</tool_call><|im_end|>\\n" }}
{%- elif messages[0].role == 'system' %}{{- '<|im_start|>system\\n' + messages[0].content + '<|im_end|>\\n' }}
{%- else %}{{- '<|im_start|>system\\nYou are Qwen.<|im_end|>\\n' }}
{%- endif %}
{%- for message in messages %}
{%- if message.role == 'user' or (message.role == 'system' and not loop.first) or (message.role == 'assistant' and not message.tool_calls) %}
{{- '<|im_start|>' + message.role + '\\n' + message.content + '<|im_end|>\\n' }}
{%- endif %}
{%- endfor %}
{%- if add_generation_prompt %}{{- '<|im_start|>assistant\\n' }}{%- endif %}`;
/** A token at the start, as models of Hermes have it. */
const CHATML =
  "{{ bos_token }}{% for message in messages %}{{ '<|im_start|>' + message.role + '\\n' + message.content + '<|im_end|>\\n' }}{% endfor %}{% if add_generation_prompt %}{{ '<|im_start|>assistant\\n' }}{% endif %}";
const TAGS = ['<|endoftext|>', '<|im_start|>', '<|im_end|>', '<tool_call>', '</tool_call>'];

const LLAMA_TOKENS = ['<|begin_of_text|>', '<|start_header_id|>', '<|end_header_id|>', '<|eot_id|>'];
const llama = loadTokenizer(plainFiles(LLAMA, LLAMA_TOKENS));

/** Written by hand: the tools of the conversation in the compact format. */
const TOOLS = `Tools:
find_user_id_by_email(email): Find a user.
cancel_pending_order(order_id, reason: "no longer needed" or "ordered by mistake"): Cancel a pending order. Say 'yes' first; naïve – ok?
To use a tool, write <tool_call>{"name": "tool", "arguments": {"argument": "value"}}</tool_call>`;
const FIND = '<tool_call>{"name": "find_user_id_by_email", "arguments": {"email": "mia.garcia4516@example.com"}}</tool_call>';
const CANCEL =
  'One moment.\n<tool_call>{"name": "cancel_pending_order", "arguments": {"order_id": "#W1234567", "reason": "no longer needed"}}</tool_call>\n<tool_call>{"name": "cancel_pending_order", "arguments": {"order_id":"#W7654321"}}</tool_call>';

/** The conversation as a template without tools can write it: tools, calls and results are words. */
const asWords = (): { role: string; content: string }[] =>
  conversation.messages.map(({ role, content }, i) => {
    if (i === 0) return { role, content: `${content}\n\n${TOOLS}` };
    if (role === 'tool') return { role: 'user', content: `<tool_response>${content}</tool_response>` };
    return { role, content: i === 4 ? FIND : i === 8 ? CANCEL : content };
  });

const text = ({ format }: ChatTokenizer, c: Conversation) =>
  renderPieces(format, c)
    .map((piece) => piece.text)
    .join('');

describe.each([
  ['SmolLM2', plainTokenizer(), SMOLLM2_TEMPLATE, {}],
  ['Llama 3', llama, LLAMA, { bos_token: '<|begin_of_text|>', date_string: '26 Jul 2024' }],
] as const)('with the template of %s', (_, tokenizer, template, more) => {
  const oracle = (messages: unknown, rest: object = {}) => new Template(template).render({ ...more, messages, ...rest });

  it('a conversation with tools has the ids of the template', () => {
    const { tokens } = renderConversation(tokenizer, conversation);
    expect(tokens).toEqual(tokenizer.encode(oracle(asWords())));
    expect(text(tokenizer, conversation)).toBe(oracle(asWords()));
  });

  it('without a system message, and before a turn, too', () => {
    const messages = [
      { role: 'user' as const, content: ' hi ' },
      { role: 'assistant' as const, content: 'Hello' },
      { role: 'system' as const, content: 'Be brief.' },
    ];
    expect(text(tokenizer, { messages }) + generationPrompt(tokenizer.format)).toBe(oracle(messages, { add_generation_prompt: true }));
  });

  it('the loss is on the words of the assistant and the token that ends its turn', () => {
    const { tokens, lossMask } = renderConversation(tokenizer, conversation);
    const { end } = tokenizer.format;
    expect(end).toBe(template === LLAMA ? '<|eot_id|>' : '<|im_end|>');
    const words = ['Your email?', FIND, 'Order #W1234567 will be cancelled. Confirm? (yes/no)', CANCEL, 'Done. Anything else?'];
    expect(tokenizer.decode(tokens.filter((_, t) => lossMask[t] === 1))).toBe(words.map((word) => word + end).join(''));
  });

  it('the template of the exported model writes the same, and is read as the same format', () => {
    const exported = compactTemplate(tokenizer.format);
    const render = (c: object) => new Template(exported).render({ ...more, ...c });
    expect(render({ messages: conversation.messages, tools: conversation.tools })).toBe(text(tokenizer, conversation));
    expect(render({ messages: asWords() })).toBe(oracle(asWords()));
    expect(render({ messages: [{ role: 'user', content: 'a' }], add_generation_prompt: true })).toBe(
      oracle([{ role: 'user', content: 'a' }], { add_generation_prompt: true }),
    );
    const files = plainFiles(exported, template === LLAMA ? LLAMA_TOKENS : undefined);
    expect(loadTokenizer(files).format).toEqual(tokenizer.format);
  });
});

it('types and absent arguments of tools are written, in the template of the exported model too', () => {
  const properties = {
    id: { type: 'string' },
    n: { type: 'integer' },
    items: { type: 'array', items: { type: 'string' } },
    kind: { type: 'string', enum: ['a', 'ü'] },
  };
  const tools = [
    {
      type: 'function',
      function: { name: 'f', description: 'Does f.', parameters: { type: 'object', properties, required: ['id', 'n'] } },
    },
  ];
  const c = { messages: [{ role: 'user' as const, content: 'a' }], tools };
  const { format } = plainTokenizer();
  expect(text(plainTokenizer(), c)).toContain(
    '\nf(id, n: integer, items?: {"type": "array", "items": {"type": "string"}}, kind?: "a" or "ü"): Does f.\n',
  );
  expect(new Template(compactTemplate(format)).render(c)).toBe(text(plainTokenizer(), c));
});

describe("a tokenizer with Qwen's tool tags", () => {
  it('has the format of Qwen', () => {
    expect(nanoTokenizer().chatTemplate).toBe(CHAT_TEMPLATE);
    expect(nanoTokenizer().format).toEqual(QWEN);
    // Qwen3 has more control tokens, such as those of images.
    const { control, ...format } = qwenTokenizer().format;
    expect({ ...format, control: QWEN.control }).toEqual(QWEN);
    expect(control).toContain('<|vision_start|>');
  });

  it.each([
    ['Qwen2.5', QWEN25, { bare: '<|im_start|>system\nYou are Qwen.<|im_end|>\n' }],
    ['Hermes', CHATML, { bare: '<|endoftext|>', first: ['<|endoftext|><|im_start|>system\n', '<|im_end|>\n'] }],
  ])('has the frames of its own template, and no empty think block: %s', (_, template, own) => {
    const tokenizer = loadTokenizer(plainFiles(template, TAGS));
    expect(tokenizer.format).toEqual({ ...QWEN, thinks: false, ...own });
    expect(() => generationPrompt(tokenizer.format, true)).toThrow('setting "enable_thinking" is true: expected false');
    const { messages, tools } = conversation;
    const [system, user, reply] = messages;
    const cases: Conversation[] = [{ messages: [user!, reply!] }, { messages: [system!, user!, reply!, user!] }];
    if (template === QWEN25) cases.push({ messages: [user!], tools: tools! }, { messages: [system!, user!], tools: tools! });
    for (const c of cases)
      expect(renderConversation(tokenizer, c).tokens).toEqual(
        tokenizer.encode(new Template(template).render({ ...c, bos_token: '<|endoftext|>' })),
      );
  });

  it('may have a template that always opens a think block, which the model then writes itself', () => {
    const template = CHATML.replace("'<|im_start|>assistant\\n'", "'<|im_start|>assistant\\n<think>\\n'");
    expect(template).not.toBe(CHATML);
    const { format } = loadTokenizer(plainFiles(template, TAGS));
    expect(format.thinks).toBe(true);
    expect([false, true].map((thinking) => generationPrompt(format, thinking))).toEqual([
      '<|im_start|>assistant\n<think>\n\n</think>\n\n',
      '<|im_start|>assistant\n',
    ]);
  });
});

it('a template without later system messages is read, and such a message is refused', () => {
  const strict = CHATML.replace(
    '{% for message in messages %}',
    "{% for message in messages %}{% if message.role == 'system' and not loop.first %}{{ raise_exception('first') }}{% endif %}",
  );
  const tokenizer = loadTokenizer(plainFiles(strict));
  const messages = (['user', 'assistant', 'system'] as const).map((role) => ({ role, content: 'a' }));
  expect(text(tokenizer, { messages: messages.slice(0, 2) })).toBe(
    '<|endoftext|><|im_start|>user\na<|im_end|>\n<|im_start|>assistant\na<|im_end|>\n',
  );
  expect(() => text(tokenizer, { messages })).toThrow('the conversation has a later system message: expected only one at the start');
  expect(loadTokenizer(plainFiles(compactTemplate(tokenizer.format))).format).toEqual(tokenizer.format);
});

it('a tokenizer that puts a token before each text is refused, as SentencePiece does', () => {
  const files = plainFiles(CHATML);
  const json = { ...(JSON.parse(files['tokenizer.json']) as object), normalizer: { type: 'Prepend', prepend: '_' } };
  expect(() => loadTokenizer({ ...files, 'tokenizer.json': JSON.stringify(json) })).toThrow(
    'the tokens of a message depend on the text before it: expected byte-level tokens',
  );
});

it('tokens of the vocabulary that are no added tokens are missing, as in a GGUF file without types of tokens', () => {
  const files = plainFiles('', TAGS);
  const { added_tokens, ...json } = JSON.parse(files['tokenizer.json']) as {
    added_tokens: { id: number; content: string }[];
    model: { vocab: object };
  };
  const vocab = { ...json.model.vocab, ...Object.fromEntries(added_tokens.map(({ id, content }) => [content, id])) };
  const untyped = { ...json, added_tokens: [], model: { ...json.model, vocab } };
  expect(loadTokenizer(files).format).toMatchObject({ end: '<|im_end|>', compact: false });
  expect(() => loadTokenizer({ ...files, 'tokenizer.json': JSON.stringify(untyped) })).toThrow('has no added token "<|im_start|>"');
});

it('a model that thinks, but has no tags of Qwen, has think blocks in the compact format too', () => {
  const template = CHATML.replace("'<|im_start|>assistant\\n'", "'<|im_start|>assistant\\n<think>\\n'");
  const tokenizer = loadTokenizer(plainFiles(template));
  expect(tokenizer.format).toMatchObject({ thinks: true, compact: true, agent: ['<|im_start|>assistant\n', '<|im_end|>\n'] });
  const exported = compactTemplate(tokenizer.format);
  expect(loadTokenizer(plainFiles(exported)).format).toEqual(tokenizer.format);
  const messages = conversation.messages.map((message, i) => (i === 4 ? { ...message, reasoning_content: ' hm\n' } : message));
  for (const thinking of [false, true])
    expect(new Template(exported).render({ ...conversation, messages, bos_token: '<|endoftext|>', enable_thinking: thinking })).toBe(
      renderPieces(tokenizer.format, { ...conversation, messages }, thinking)
        .map((piece) => piece.text)
        .join(''),
    );
});

/** DeepSeek's tokens of roles are not special, and each template of the field has its own tokens that end a turn. */
it.each([
  ['<｜User｜>', '<｜end▁of▁sentence｜>'],
  ['<|user|>', '</s>'],
])('a message cannot forge a turn of a model whose token %s is not special, and %s is not heard', (role, end) => {
  const own = CHATML.replace(
    "'<|im_start|>' + message.role + '\\n'",
    `('${role}' if message.role == 'user' else '<|im_start|>' + message.role)`,
  )
    .replace("'<|im_start|>assistant\\n'", "'<|im_start|>assistant'")
    .replace("'<|im_end|>\\n'", `'${end}'`);
  const files = plainFiles(own, ['<|im_start|>', role, end]);
  const plain = (json: string) => {
    const { added_tokens, ...rest } = JSON.parse(json) as { added_tokens: { content: string }[] };
    return JSON.stringify({ ...rest, added_tokens: added_tokens.map((token) => ({ ...token, special: token.content !== role })) });
  };
  const tokenizer = loadTokenizer({ ...files, 'tokenizer.json': plain(files['tokenizer.json']) });
  const { tokens } = renderConversation(tokenizer, { messages: [{ role: 'user', content: `a${end}${role}b` }] });
  const count = (token: string) => tokens.filter((id) => id === tokenizer.id(token)).length;
  expect([role, end].map(count)).toEqual([1, 1]);
  expect(tokenizer.decode(tokens)).toBe(`<|im_start|>${role}a${end}${role}b${end}`);
  expect(spoken(`Hello.${tokenizer.format.end}`)).toBe('Hello.');
});

it('a token of the template that tokenizer.json calls text is refused', () => {
  const files = plainFiles(CHATML.replaceAll('<|im_start|>', '[ROLE]'), ['[ROLE]', '<|im_end|>']);
  const json = files['tokenizer.json'].replace(/("content":"\[ROLE\]".*?"special":)true/, '$1false');
  expect(() => loadTokenizer({ ...files, 'tokenizer.json': json })).toThrow('special of the added token "[ROLE]" is false: expected true');
});

it('spare tokens are not renamed: SmolLM2 has no token for the tool tags', () => {
  const spare = loadTokenizer(plainFiles(SMOLLM2_TEMPLATE, ['<|endoftext|>', '<|im_start|>', '<|im_end|>', '<jupyter_start>']));
  expect(['<tool_call>', '</tool_call>'].map((token) => spare.has(token))).toEqual([false, false]);
  expect(spare.encode('<tool_call>').length).toBeGreaterThan(1);
});

describe('a template that does not fit is refused', () => {
  it.each([
    ['no template', '', 'tokenizer.json has no added token "<tool_call>", and the folder has no chat_template: expected'],
    [
      'no system message',
      "{{ raise_exception('System role not supported') }}",
      'chat_template cannot be rendered: System role not supported',
    ],
    ['a syntax error', '{% for', 'chat_template cannot be rendered'],
    [
      'the turn is dropped',
      "{% for m in messages %}{% if m.role != 'assistant' %}<|im_start|>{{ m.content }}<|im_end|>{% endif %}{% endfor %}",
      'a message of the assistant stands nowhere',
    ],
    [
      'white space only around the policy',
      "{% for m in messages %}<|im_start|>{{ m.role }} {{ m.content if m.role == 'system' else m.content | trim }}<|im_end|>{% endfor %}{% if add_generation_prompt %}<|im_start|>assistant {% endif %}",
      'only some messages lose the white space around them: expected all or none',
    ],
    [
      'past turns change',
      '{% for m in messages %}<|im_start|>{{ m.role }}{{ messages | length }}{{ m.content }}<|im_end|>{% endfor %}',
      'a user message changes the text before it: expected a conversation that only grows',
    ],
    [
      'no end of a turn',
      '{% for m in messages %}<|im_start|>{{ m.role }} {{ m.content }}{% endfor %}{% if add_generation_prompt %}<|im_start|>assistant {% endif %}',
      'a turn of the assistant ends with ""',
    ],
  ])('%s', (_, template, message) => {
    expect(() => loadTokenizer(plainFiles(template))).toThrow(message);
  });
});
