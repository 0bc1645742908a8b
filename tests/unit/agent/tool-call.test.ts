import { describe, expect, it } from 'vitest';
import { parseTurn } from '../../../src/agent/tool-call.ts';

const tools = ['get_order_details', 'think'];
const call = { name: 'get_order_details', arguments: { order_id: '#W1' } };
const body = '{"name": "get_order_details", "arguments": {"order_id": "#W1"}}';

describe('parseTurn', () => {
  it.each([
    ['as Qwen writes it', `<tool_call>\n${body}\n</tool_call>`, ''],
    ['ended by <|im_end|>', `<tool_call>\n${body}\n</tool_call><|im_end|>`, ''],
    ['no line breaks', `<tool_call>${body}</tool_call>`, ''],
    ['text around it', `Let me look.\n<tool_call>\n${body}\n</tool_call> ok`, 'Let me look.'],
    ['two calls: the first', `<tool_call>${body}</tool_call>\n<tool_call>{"name": "think", "arguments": {}}</tool_call>`, ''],
    ['parameters for arguments', `<tool_call>${body.replace('arguments', 'parameters')}</tool_call>`, ''],
    ['arguments as a JSON string', `<tool_call>{"name": "get_order_details", "arguments": "{\\"order_id\\": \\"#W1\\"}"}</tool_call>`, ''],
    ['a list of one', `<tool_call>[${body}]</tool_call>`, ''],
    ['an OpenAI wrapper', `<tool_call>{"type": "function", "function": ${body}}</tool_call>`, ''],
    ['a thought before it', `<think>\nhm</think>\n<tool_call>${body}</tool_call>`, ''],
  ])('reads a call: %s', (_, text, content) => {
    expect(parseTurn(text, tools)).toEqual({ content, calls: [call] });
  });

  it('reads missing arguments as an empty object', () => {
    expect(parseTurn('<tool_call>{"name": "think"}</tool_call>', tools)).toEqual({
      content: '',
      calls: [{ name: 'think', arguments: {} }],
    });
  });

  it.each([
    ['bad JSON', '<tool_call>{"name": get}</tool_call>', 'the tool call is not valid JSON'],
    ['empty', '<tool_call>\n</tool_call>', 'the tool call is not valid JSON'],
    ['Python quotes', "<tool_call>{'name': 'think'}</tool_call>", 'the tool call is not valid JSON'],
    ['unknown tool', '<tool_call>{"name": "hack", "arguments": {}}</tool_call>', 'unknown tool "hack"'],
    ['a name of Object', '<tool_call>{"name": "constructor", "arguments": {}}</tool_call>', 'unknown tool "constructor"'],
    ['name missing', '<tool_call>{"arguments": {}}</tool_call>', 'the tool call\'s "name" is missing: expected the name of a tool'],
    ['name not a string', '<tool_call>{"name": 5}</tool_call>', 'the tool call\'s "name" is a number: expected the name of a tool'],
    [
      'arguments a list',
      '<tool_call>{"name": "think", "arguments": []}</tool_call>',
      'the tool call\'s "arguments" is a list: expected a JSON object',
    ],
    [
      'arguments a number',
      '<tool_call>{"name": "think", "arguments": 1}</tool_call>',
      'the tool call\'s "arguments" is a number: expected a JSON object',
    ],
    [
      'arguments a string of a list',
      '<tool_call>{"name": "think", "arguments": "[]"}</tool_call>',
      'the tool call\'s "arguments" is a list: expected a JSON object',
    ],
    [
      'arguments a broken string',
      '<tool_call>{"name": "think", "arguments": "{"}</tool_call>',
      'the tool call\'s "arguments" is not valid JSON',
    ],
    ['a string', '<tool_call>"think"</tool_call>', 'the tool call is a string: expected a JSON object with "name" and "arguments"'],
    ['an empty list', '<tool_call>[]</tool_call>', 'the tool call is a list: expected a JSON object with "name" and "arguments"'],
    ['end tag missing', `<tool_call>${body}<|im_end|>`, '<tool_call> without </tool_call>'],
    ['start tag missing', `${body}</tool_call>`, '</tool_call> without <tool_call> before it'],
    ['tags the wrong way round', `</tool_call>${body}<tool_call>`, '</tool_call> without <tool_call> before it'],
    ['a start tag in the call', `<tool_call><tool_call>${body}</tool_call>`, 'the tool call is not valid JSON'],
  ])('reports: %s', (_, text, error) => {
    const turn = parseTurn(text, tools);
    expect(turn.error).toBe(error);
    expect(turn.calls).toEqual([]);
  });

  it('keeps the text before broken markup', () => {
    expect(parseTurn('One moment. <tool_call>{', tools).content).toBe('One moment.');
  });

  it('reads other text as speech, without control tokens and thoughts', () => {
    expect(parseTurn('Your email?<|im_end|>', tools)).toEqual({ content: 'Your email?', calls: [] });
    expect(parseTurn('<think>secret</think>Hi<|endoftext|>', tools)).toEqual({ content: 'Hi', calls: [] });
    expect(parseTurn('Hi <think>never closed', tools)).toEqual({ content: 'Hi', calls: [] });
    expect(parseTurn('<|im_end|>', tools)).toEqual({ content: '', calls: [] });
  });
});
