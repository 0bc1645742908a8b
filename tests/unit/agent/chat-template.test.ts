import { existsSync, readFileSync } from 'node:fs';
import { Template } from '@huggingface/jinja';
import { describe, expect, it } from 'vitest';
import {
  generationPrompt,
  QWEN,
  renderClosing,
  renderConversation,
  renderOpening,
  renderPieces,
  renderToolResponses,
  renderUser,
} from '../../../src/agent/chat-template.ts';
import { CHAT_TEMPLATE } from '../../../src/agent/jinja-template.ts';
import type { Conversation } from '../../../src/records/conversation.ts';
import { parseConversations, readConversation } from '../../../src/agent/conversation.ts';
import { toPythonJson } from '../../../src/agent/python-json.ts';
import { conversation, nanoTokenizer, qwenTokenizer, tools } from '../../support/tokenizers.ts';

const THINK = '<think>\n\n</think>\n\n';
const joined = (c: Conversation) =>
  renderPieces(QWEN, c)
    .map((piece) => piece.text)
    .join('');
const jinja = (template: string, c: Conversation, more: Record<string, unknown> = {}) =>
  new Template(template).render({ messages: c.messages, tools: c.tools, ...more });

const variants: [string, Conversation][] = [
  ['tools, text and calls', conversation],
  ['no tools', { messages: conversation.messages.slice(0, 4) }],
  ['no system message', { messages: conversation.messages.slice(1, 4), tools }],
  ['neither', { messages: conversation.messages.slice(1, 4) }],
  ['ends in tool results', { messages: conversation.messages.slice(0, 11), tools }],
  [
    'a second system message',
    { messages: [...conversation.messages.slice(0, 4), { role: 'system', content: 'Be brief.' }, { role: 'user', content: 'ok' }], tools },
  ],
];

describe('rendering by deltas', () => {
  it.each(variants)('equals our Jinja template: %s', (_, c) => {
    expect(joined(c)).toBe(jinja(CHAT_TEMPLATE, c));
    expect(joined(c) + generationPrompt(QWEN)).toBe(jinja(CHAT_TEMPLATE, c, { add_generation_prompt: true }));
  });

  it.each(variants)("equals Qwen3's template except for the empty think block of past turns: %s", (_, c) => {
    const theirs = jinja(qwenTokenizer().chatTemplate, c, { add_generation_prompt: true, enable_thinking: false });
    expect(theirs.endsWith(generationPrompt(QWEN))).toBe(true);
    expect((joined(c) + generationPrompt(QWEN)).replaceAll(THINK, '')).toBe(theirs.replaceAll(THINK, ''));
  });

  it("begins a conversation exactly as Qwen3's template does", () => {
    const start = conversation.messages.slice(0, 2);
    const theirs = jinja(qwenTokenizer().chatTemplate, { messages: start, tools }, { add_generation_prompt: true, enable_thinking: false });
    expect(renderOpening(QWEN, start[0]!.content, tools) + renderUser(QWEN, start[1]!.content) + generationPrompt(QWEN)).toBe(theirs);
  });

  it('adds the end of a turn that was not sampled, and puts consecutive results into one user turn', () => {
    expect(renderClosing(QWEN, true)).toBe('\n');
    expect(renderClosing(QWEN, false)).toBe('<|im_end|>\n');
    expect(renderToolResponses(QWEN, ['a', 'b'])).toBe(
      '<|im_start|>user\n<tool_response>\na\n</tool_response>\n<tool_response>\nb\n</tool_response><|im_end|>\n',
    );
  });

  it('never changes earlier text: every prefix of the messages is a prefix of the text', () => {
    const whole = joined(conversation);
    for (let n = 1; n <= conversation.messages.length; n++) {
      if (conversation.messages[n - 1]!.role === 'tool' && conversation.messages[n]?.role === 'tool') continue;
      expect(whole.startsWith(joined({ ...conversation, messages: conversation.messages.slice(0, n) }))).toBe(true);
    }
  });
});

describe.each([
  ['Qwen3', qwenTokenizer],
  ['nano', nanoTokenizer],
] as const)('tokens with the %s tokenizer', (_, load) => {
  it('equal the tokens of the whole text', () => {
    const { tokens } = renderConversation(load(), conversation);
    expect(tokens).toEqual(load().encode(joined(conversation)));
  });

  it('the loss mask selects exactly the text of the assistant and its <|im_end|>', () => {
    const { tokens, lossMask } = renderConversation(load(), conversation);
    expect(load().decode(tokens.filter((_, t) => lossMask[t] === 1))).toBe(
      [
        'Your email?<|im_end|>',
        '<tool_call>\n{"name": "find_user_id_by_email", "arguments": {"email": "mia.garcia4516@example.com"}}\n</tool_call><|im_end|>',
        'Order #W1234567 will be cancelled. Confirm? (yes/no)<|im_end|>',
        'One moment.\n<tool_call>\n{"name": "cancel_pending_order", "arguments": {"order_id": "#W1234567", "reason": "no longer needed"}}\n</tool_call>\n<tool_call>\n{"name": "cancel_pending_order", "arguments": {"order_id":"#W7654321"}}\n</tool_call><|im_end|>',
        'Done. Anything else?<|im_end|>',
      ].join(''),
    );
  });
});

describe('chat JSONL', () => {
  const line = (messages: unknown, rest: object = {}) => JSON.stringify({ messages, ...rest });

  it('reads the messages of OpenAI clients', () => {
    const call = { id: 'call_1', type: 'function', function: { name: 'f', arguments: '{"a": 1}' } };
    const [c] = parseConversations(
      `\n${line([
        { role: 'user', content: [{ type: 'text', text: 'hi' }] },
        { role: 'assistant', content: null, tool_calls: [call], refusal: null },
        { role: 'tool', tool_call_id: 'call_1', name: 'f', content: '' },
      ])}\n`,
    );
    expect(c!.messages).toEqual([
      { role: 'user', content: 'hi' },
      { role: 'assistant', content: '', tool_calls: [call] },
      { role: 'tool', content: '', name: 'f', tool_call_id: 'call_1' },
    ]);
    expect(readConversation({ traj: [{ role: 'user', content: 'tau-bench' }], reward: 1 })).toEqual({
      messages: [{ role: 'user', content: 'tau-bench' }],
    });
    expect(parseConversations(`[${line([{ role: 'user', content: 'a' }])},\n${line([{ role: 'user', content: 'b' }])}]`)).toHaveLength(2);
  });

  it('drops thoughts without thinking', () => {
    const c: Conversation = {
      messages: [
        { role: 'user', content: 'hi' },
        { role: 'assistant', content: '<think>\nhm\n</think>\n\nHello' },
      ],
    };
    expect(joined(c)).toBe(`<|im_start|>user\nhi<|im_end|>\n${generationPrompt(QWEN)}Hello<|im_end|>\n`);
  });

  describe('with thinking', () => {
    const thoughtful: Conversation = {
      messages: [
        ...conversation.messages.slice(0, 2),
        { role: 'assistant', content: '<think>\nThey want a refund.\n</think>\n\nYour order id?' },
      ],
      tools,
    };
    const rendered = (c: Conversation) =>
      renderPieces(QWEN, c, true)
        .map(({ text }) => text)
        .join('');

    it("equals Qwen3's template with enable_thinking, in the last turn and before the next", () => {
      const qwen = qwenTokenizer().chatTemplate;
      expect(rendered(thoughtful)).toBe(jinja(qwen, thoughtful, { enable_thinking: true }));
      const start = { messages: conversation.messages.slice(0, 2), tools };
      expect(rendered(start) + generationPrompt(QWEN, true)).toBe(
        jinja(qwen, start, { enable_thinking: true, add_generation_prompt: true }),
      );
    });

    it.each([...variants, ['thoughts', thoughtful] as [string, Conversation]])('equals our Jinja template: %s', (_, c) => {
      expect(rendered(c)).toBe(jinja(CHAT_TEMPLATE, c, { enable_thinking: true }));
      expect(rendered(c) + generationPrompt(QWEN, true)).toBe(
        jinja(CHAT_TEMPLATE, c, { enable_thinking: true, add_generation_prompt: true }),
      );
    });

    it('trains on the thoughts, and on an empty think block of a turn without thoughts', () => {
      const sampled = renderPieces(
        QWEN,
        { messages: [...thoughtful.messages, { role: 'user', content: '#W1' }, { role: 'assistant', content: 'Done.' }] },
        true,
      ).flatMap((piece) => (piece.sampled ? [piece.text] : []));
      expect(sampled).toEqual([
        '<think>\nThey want a refund.\n</think>\n\nYour order id?<|im_end|>',
        '<think>\n\n</think>\n\nDone.<|im_end|>',
      ]);
    });

    it('reads thoughts from reasoning_content', () => {
      const { messages } = readConversation({ messages: [{ role: 'assistant', content: 'Hello', reasoning_content: 'hm' }] });
      expect(rendered({ messages })).toContain('<think>\nhm\n</think>\n\nHello');
      expect(rendered({ messages })).toBe(jinja(CHAT_TEMPLATE, { messages }, { enable_thinking: true }));
      expect(joined({ messages })).toBe(joined({ messages: [{ role: 'assistant', content: 'Hello' }] }));
    });
  });

  it.each([
    ['line 1: it is not JSON', '{'],
    ['line 1: messages is missing: expected a list of at least one message', '{}'],
    ['line 1: messages is []: expected a list of at least one message', line([])],
    ['line 1 is 5: expected an object', '5'],
    ['entry 1 is 5: expected an object', '[5]'],
    ['entry 1: it is not JSON', '[{'],
    ['line 1: messages[0].role is "human": expected "system", "user", "assistant", "tool"', line([{ role: 'human', content: '' }])],
    ['line 1: messages[0].tool_calls is "x": expected a list of tool calls', line([{ role: 'assistant', content: '', tool_calls: 'x' }])],
    [
      'line 1: messages[0].tool_calls is [{}]: expected no tool calls in a message of role "user"',
      line([{ role: 'user', content: '', tool_calls: [{}] }]),
    ],
    ['line 1: messages[0].tool_calls[0].name is missing: expected the name of a tool', line([{ role: 'assistant', tool_calls: [{}] }])],
    [
      'line 1: messages[0].tool_calls[0].function.arguments is "[1]": expected an object, or a JSON string of one',
      line([{ role: 'assistant', tool_calls: [{ function: { name: 'f', arguments: '[1]' } }] }]),
    ],
    [
      'line 1: messages[0].tool_calls[0].function.arguments is "{": expected an object, or a JSON string of one',
      line([{ role: 'assistant', tool_calls: [{ function: { name: 'f', arguments: '{' } }] }]),
    ],
    ['line 1: tools is {}: expected a list of function schemas', line([{ role: 'user', content: 'a' }], { tools: {} })],
    ['the file has no conversation', '\n \n'],
  ])('an error names the fault: %s', (message, jsonl) => {
    expect(() => parseConversations(jsonl)).toThrow(message);
  });
});

it("writes JSON as Python's json.dumps(ensure_ascii=False) does", () => {
  expect(toPythonJson({ a: [1, 2.5, -0.1], ü: 'é "q" \n\u2028', n: null, t: true, e: {}, l: [] })).toBe(
    '{"a": [1, 2.5, -0.1], "ü": "é \\"q\\" \\n\u2028", "n": null, "t": true, "e": {}, "l": []}',
  );
});

describe('recorded gpt-4o conversations', () => {
  const data = new URL('../../../../shared/data/', import.meta.url);
  const present = existsSync(data);
  if (!present) console.warn('SKIPPED: no recorded conversations at ../shared/data beside the repository');

  it.skipIf(!present)("render as Qwen3's template does, and their tokens equal those of the whole text", () => {
    const { tools_info } = JSON.parse(readFileSync(new URL('expected/tau1_airline.json', data), 'utf8')) as { tools_info: object[] };
    const conversations = parseConversations(readFileSync(new URL('recorded/tau1_airline_gpt-4o.json', data), 'utf8'));
    expect(conversations).toHaveLength(200);
    for (const { messages } of conversations.filter((_, i) => i % 20 === 0)) {
      const c = { messages, tools: tools_info };
      expect(joined(c).replaceAll(THINK, '')).toBe(jinja(qwenTokenizer().chatTemplate, c).replaceAll(THINK, ''));
      expect(renderConversation(qwenTokenizer(), c).tokens).toEqual(qwenTokenizer().encode(joined(c)));
    }
  });
});
