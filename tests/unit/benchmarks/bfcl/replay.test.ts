/** `mua replay --rules bfcl`, on the small fixture. The expected texts are computed by hand. */
import { describe, expect, it } from 'vitest';
import { checkResponse } from '../../../../src/domains/multiturn/check.ts';
import { readBfcl } from '../../../../src/benchmarks/bfcl/data.ts';
import { replayBfcl } from '../../../../src/benchmarks/bfcl/replay.ts';
import { bfclFixture } from '../../../support/bfcl-fixture.ts';

async function replay(cases: unknown[], prompts = false) {
  const output = await replayBfcl({
    paths: Object.keys(bfclFixture),
    read: async (path) => bfclFixture[path]!,
    file: 'in.json',
    text: JSON.stringify({ cases }),
    prompts,
  });
  return { cases: [...output.cases] as Record<string, never>[], ...output.counts() };
}

describe('cases', () => {
  it('runs a response, and goes on after the turn that fails', async () => {
    const response = [[['ls()'], ["cat('b')"]], [["touch('b.txt')"]]];
    const { cases, calls, errors } = await replay([{ id: 'a', entry: 'multi_turn_base_0', response }]);
    expect({ calls, errors }).toEqual({ calls: 3, errors: 0 });
    expect(cases[0]).toMatchObject({
      id: 'a',
      results: [['{"current_directory_content": ["docs", "a.txt"]}', '{"error": "cat: \'b\': No such file or directory"}'], ['None']],
      verdict: {
        valid: false,
        error_type: 'multi_turn:execution_response_mismatch',
        error_message:
          'Model response execution results so far does not contain all the ground truth response execution results for turn 0.',
        missing_items: ['{"file_content": "one\\ntwo"}'],
      },
    });
    const [first, second] = cases[0]!.state_sha256_js as string[];
    expect(first).toMatch(/^[\da-f]{64}$/);
    expect(second).not.toBe(first);
  });

  it('runs calls on one class, with the config of an entry or with none', async () => {
    const calls = ['fund_account(50)', 'fund_account(0.5)', 'get_account_info()', 'nothing()'];
    const { cases, errors } = await replay([
      { id: 1, class: 'TradingBot', config_of: 'multi_turn_base_1', calls },
      { id: 2, class: 'TradingBot', config_of: null, calls: ['get_order_history()', 'trading_login("a", "b")', 'get_order_history()'] },
    ]);
    expect(errors).toBe(1);
    expect(cases[0]!.results).toEqual([
      '{"status": "Account funded successfully", "new_balance": 150.0}',
      '{"status": "Account funded successfully", "new_balance": 150.5}',
      '{"account_id": 7, "balance": 150.5, "binding_card": 9876543210123456}',
      "Error during execution: name 'nothing' is not defined",
    ]);
    expect((cases[1]!.results as string[]).at(-1)).toBe('{"history": [5]}');
  });

  it('renders the prompts of each kind of model', async () => {
    const response = [[], [["cat('a.txt')"]], [['ls()']]];
    const [one] = (await replay([{ id: 1, entry: 'multi_turn_miss_func_0', response }], true)).cases;
    const { qwen_fc, qwen_prompt, openai_fc, openai_prompt } = one!.prompts as Record<string, string[]>;
    // A query for each step, and one more at the end of each turn.
    expect([qwen_fc, qwen_prompt, openai_fc, openai_prompt].map((prompts) => prompts!.length)).toEqual([5, 5, 5, 5]);
    const ls =
      '{"name": "ls", "description": "Does ls. Note that the provided function is in Python 3 syntax.", "parameters": {"type": "dict", "properties": {}, "required": []}, "response": {"type": "dict", "properties": {}}}';
    expect(qwen_fc![0]).toContain(`<tools>\n${ls}\n`);
    expect(qwen_fc![0]).not.toContain('"cat"');
    expect(qwen_fc![0]!.endsWith('<|im_end|>\n<|im_start|>user\nRead a.txt.<|im_end|>\n<|im_start|>assistant\n')).toBe(true);
    // The withheld document has no hint, and is pasted as Python's repr.
    expect(qwen_fc![1]).toContain("<|im_start|>user\n[{'name': 'cat', 'description': 'Does cat.', ");
    expect(
      qwen_fc![2]!.endsWith(
        '"arguments": {"file_name": "a.txt"}}\n</tool_call><|im_end|>\n<|im_start|>user\n<tool_response>\n{"file_content": "one\\ntwo"}\n</tool_response><|im_end|>\n<|im_start|>assistant\n',
      ),
    ).toBe(true);
    expect(qwen_prompt![0]).toContain(
      '<|im_start|>system\nYou call.Call.\n\nWrite [f(a=1)].  Only that.\n\nGo on.\n\nAs json:\n[\n    {\n        "name": "ls",',
    );
    expect(qwen_prompt![0]!.split(' Note that the provided function is in Python 3 syntax.')).toHaveLength(4);
    expect(qwen_prompt![2]).toContain("<|im_start|>assistant\n[cat(file_name='a.txt')]<|im_end|>");
    const last = JSON.parse(openai_fc![4]!) as {
      messages: { role: string; content: string }[];
      tools: { function: { name: string; parameters: object } }[];
    };
    expect(last.tools.map((tool) => tool.function.name)).toEqual(['ls', 'cd', 'touch', 'cat']);
    expect(last.tools[1]!.function.parameters).toMatchObject({ type: 'object', properties: { folder: { type: 'string' } } });
    expect(last.messages.map(({ role }) => role)).toEqual([
      'user',
      'assistant',
      'user',
      'assistant',
      'tool',
      'assistant',
      'user',
      'assistant',
      'tool',
    ]);
    expect(last.messages[2]!.content).toBe('Here is more.');
    expect((JSON.parse(openai_prompt![2]!) as typeof last).messages.at(-1)!.content).toBe(
      `[{'role': 'tool', 'name': "cat(file_name='a.txt')", 'content': '{"file_content": "one\\\\ntwo"}'}]`,
    );
  });

  it('plays a script, and says when a call breaks the whole entry', async () => {
    const broken = [['<tool_call>\n{"name": "ls"}\n</tool_call>'], ['x'], ['x']];
    const steps = Array.from({ length: 25 }, () => '<tool_call>\n{"name": "ls", "arguments": {}}\n</tool_call>');
    const { cases } = await replay([
      { id: 1, entry: 'multi_turn_miss_func_0', kind: 'qwen_fc', script: broken },
      { id: 2, entry: 'multi_turn_base_0', kind: 'qwen_fc', script: [steps] },
    ]);
    expect(cases[0]!.verdict).toMatchObject({ valid: false, error_type: 'multi_turn:inference_error' });
    expect(cases[1]).toMatchObject({ steps_per_turn: [21], verdict: { error_type: 'multi_turn:force_terminated' } });
  });

  it('plays a script of OpenAI’s interface that is shorter than the entry', async () => {
    const call = { id: 'c', function: { name: 'cat', arguments: '{"file_name": "a.txt"}' } };
    const said = { role: 'assistant', content: "[cat(file_name='a.txt')]" };
    const { cases } = await replay([
      { id: 1, entry: 'multi_turn_base_0', kind: 'openai_fc', script: [[{ ...said, content: null, tool_calls: [call] }]] },
      { id: 2, entry: 'multi_turn_base_0', kind: 'openai_prompt', script: [[said]] },
    ]);
    // A query with the call and an empty answer in the first turn, and an empty answer in the second.
    for (const one of cases)
      expect(one).toMatchObject({
        response: [[["cat(file_name='a.txt')"]], []],
        steps_per_turn: [2, 1],
        verdict: { error_type: 'multi_turn:empty_turn_model_response' },
      });
  });

  it.each([
    [
      { id: 1, entry: 'x', response: [] },
      'in.json: cases[0].entry: it is "x": expected one of the 3 entries of the data, such as "multi_turn_base_0"',
    ],
    [{ id: 1, class: 'TradingBot', config_of: 'y', calls: [] }, 'in.json: cases[0].config_of: it is "y"'],
    [{ id: 1, class: 'Bank', config_of: null, calls: [] }, 'in.json: cases[0]'],
    [{ id: 1, entry: 'multi_turn_base_0', response: ['ls()'] }, 'in.json: cases[0].response[0]: Invalid input: expected array'],
    [
      { id: 1, entry: 'multi_turn_base_0', kind: 'openai_fc', script: [['x']] },
      'in.json: cases[0].script[0][0]: Invalid input: expected object',
    ],
    [
      { id: 1, entry: 'multi_turn_base_0', kind: 'qwen_fc', script: [[{ role: 'assistant', content: 'x' }]] },
      'in.json: cases[0].script[0][0]: Invalid input: expected string',
    ],
    [{ id: 1, entry: 'multi_turn_base_0', kind: 'qwen', script: [] }, 'in.json: cases[0].kind: expected qwen_fc, qwen_prompt, openai_fc'],
  ])('refuses %j', async (one, message) => {
    await expect(replay([one])).rejects.toThrow(message);
  });
});

describe('the checkers', () => {
  const verdict = async (gold: string[][], response: string[][][]) => {
    const data = await readBfcl(Object.keys(bfclFixture), async (path) => bfclFixture[path]!);
    return checkResponse(data, { ...data.entries.get('multi_turn_base_0')!, gold }, response).verdict;
  };

  it('needs each gold result as often as the gold has it in the turn, from any turn so far', async () => {
    expect(await verdict([['ls()', 'ls()']], [[['ls()']]])).toMatchObject({
      valid: false,
      missing_items: ['{"current_directory_content": ["docs", "a.txt"]}'],
    });
    expect(await verdict([['ls()', 'ls()']], [[['ls()'], ['ls()']]])).toEqual({ valid: true });
    expect(await verdict([['ls()'], ['ls()']], [[['ls()']], [['pwd()']]])).toEqual({ valid: true });
    expect(await verdict([['pwd()'], ['ls()']], [[['pwd()']], [['pwd()']]])).toMatchObject({
      error_type: 'multi_turn:execution_response_mismatch',
    });
  });

  it('checks nothing in a turn without gold, but keeps what happened there', async () => {
    expect(await verdict([[], ['ls()']], [[["touch('x')"]], [["rm('x')", 'ls()']]])).toEqual({
      valid: true,
      irrelevance_error: 'Model outputs valid function calls when it should not for turn 0.',
    });
    expect(await verdict([[], ['ls()']], [[["touch('x')"]], [['ls()']]])).toMatchObject({
      error_type: 'multi_turn:instance_state_mismatch',
      attributes: ['root'],
    });
    expect(await verdict([['ls()']], [[[]]])).toMatchObject({ error_type: 'multi_turn:empty_turn_model_response' });
    expect(await verdict([['ls()'], ['ls()']], [[['ls()']]])).toMatchObject({ error_type: 'multi_turn:force_terminated' });
  });

  it('ignores the order of calls, extra calls and failed calls', async () => {
    expect(
      await verdict(
        [["touch('x')", "touch('y')"]],
        [
          [
            ['nothing()', 'pwd()', "touch('y')"],
            ["touch('x')", "rm('z')"],
          ],
        ],
      ),
    ).toEqual({ valid: true });
  });
});
