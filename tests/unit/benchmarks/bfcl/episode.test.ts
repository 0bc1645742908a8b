/** BFCL's import, and its entries in the episode machine. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { zipSync } from 'fflate';
import { describe, expect, it, test } from 'vitest';
import { auditProblem } from '../../../../src/agent/audit-log.ts';
import { importBenchmark, importBenchmarks } from '../../../../src/benchmarks/import/import.ts';
import { multiTurn } from '../../../../src/benchmarks/bfcl/score.ts';
import type { BfclTask } from '../../../../src/benchmarks/bfcl/task.ts';
import { reportOf } from '../../../../src/evaluation/report.ts';
import { readTrajectory } from '../../../../src/exchange/trajectory-schema.ts';
import { bfclFolder, filesOf, hasBfcl } from '../../../support/bfcl-data.ts';
import { bfclFixture, fixtureFiles } from '../../../support/bfcl-fixture.ts';
import { bfclStage, written } from '../../../support/bfcl-play.ts';

const stage = async () => bfclStage(await importBenchmark(fixtureFiles()));

describe('an import', () => {
  it('reads the literals of the Python source, from a folder and from a zip', async () => {
    const prefixed = fixtureFiles().map(([path, bytes]) => [`gorilla/berkeley-function-call-leaderboard/${path}`, bytes] as const);
    for (const source of [fixtureFiles(), prefixed, zipSync(Object.fromEntries(prefixed))]) {
      const [imported, ...others] = await importBenchmarks(source);
      expect(others).toEqual([]);
      expect(imported).toMatchObject({
        benchmark: 'bfcl',
        domain: 'multiturn',
        policy: '',
        splits: { base: ['multi_turn_base_0', 'multi_turn_base_1'] },
      });
      expect(imported!.splits.all).toHaveLength(3);
      expect(imported!.tables.get('GorillaFileSystem')!.size).toBe(4);
    }
  });

  it('names a missing file, and a line that is wrong', async () => {
    const without = (part: string) =>
      fixtureFiles(Object.fromEntries(Object.entries(bfclFixture).filter(([path]) => !path.includes(part))));
    await expect(importBenchmark(without('possible_answer/BFCL_v4_multi_turn_base'))).rejects.toThrow(
      'there is no possible_answer/BFCL_v4_multi_turn_base.json',
    );
    await expect(importBenchmark(without('math_api'))).rejects.toThrow('there is no multi_turn_func_doc/math_api.json');
    await expect(importBenchmark(without('default_prompts'))).rejects.toThrow('there is no constants/default_prompts.py');
    const broken = (path: string, from: string, to: string) =>
      fixtureFiles({ ...bfclFixture, [path]: bfclFixture[path]!.replace(from, to) });
    const base = 'bfcl_eval/data/BFCL_v4_multi_turn_base.json';
    await expect(importBenchmark(broken(base, '"id"', 'id'))).rejects.toThrow(`${base}: line 1: it is not JSON`);
    await expect(importBenchmark(broken(base, '["TradingBot"]', '["Bank"]'))).rejects.toThrow(
      `${base}: line 2: involved_classes has "Bank"`,
    );
    await expect(importBenchmark(broken('bfcl_eval/constants/default_prompts.py', 'LIMIT = 20', 'LIMIT = 30'))).rejects.toThrow(
      'MAXIMUM_STEP_LIMIT: it is 30: expected 20, as in BFCL V3',
    );
    const source = 'bfcl_eval/eval_checker/multi_turn_eval/func_source_code/trading_bot.py';
    await expect(importBenchmark(broken(source, '"balance": 1.0', '"balance": open()'))).rejects.toThrow(
      `${source}: DEFAULT_STATE: it is no literal of Python`,
    );
  });

  it.each([
    [
      'possible_answer/BFCL_v4_multi_turn_base',
      '"ground_truth"',
      '"truth"',
      "line 1: a field is missing or has another type: 'ground_truth'",
    ],
    ['possible_answer/BFCL_v4_multi_turn_base', '"multi_turn_base_0"', '5', 'line 1: id is 5: expected a text'],
    ['possible_answer/BFCL_v4_multi_turn_base', '["fund_account(50)"]', '"ab"', 'line 2: ground_truth[0] is "ab": expected a list'],
    ['possible_answer/BFCL_v4_multi_turn_base', '"fund_account(50)"', '5', 'line 2: ground_truth[0][0] is 5: expected a text'],
    ['BFCL_v4_multi_turn_base', '\n', '\n\n{}\n', "line 3: a field is missing or has another type: 'id'"],
    [
      'BFCL_v4_multi_turn_base',
      '["GorillaFileSystem"]',
      '"GorillaFileSystem"',
      'line 1: involved_classes is "GorillaFileSystem": expected a list',
    ],
    ['BFCL_v4_multi_turn_base', '"Read a.txt."', '7', 'line 1: content is 7: expected a text'],
    ['BFCL_v4_multi_turn_miss_func', '["cat"]', '"cat"', 'line 1: missed_function.1 is "cat": expected a list'],
    ['BFCL_v4_multi_turn_miss_func', '{"1"', '{"3"', 'line 1: a key of missed_function is "3": expected a turn from 0 to 2'],
  ])('names the line of %s and the wrong field, with %s as %s', async (name, from, to, reason) => {
    const path = `bfcl_eval/data/${name}.json`;
    const files = fixtureFiles({ ...bfclFixture, [path]: bfclFixture[path]!.replace(from, to) });
    await expect(importBenchmark(files)).rejects.toThrow(`${path}: ${reason}`);
  });

  it('names a filler that a copy in JSON lacks', async () => {
    const literals = { 'bfcl_eval/api_tables.json': '{}', 'bfcl_eval/long_context.json': '{"WATCH_LIST_EXTENSION": []}' };
    await expect(importBenchmark(fixtureFiles({ ...bfclFixture, ...literals }))).rejects.toThrow(
      "bfcl_eval/long_context.json: a field is missing or has another type: 'TRANSACTION_HISTORY_EXTENSION'",
    );
  });
});

describe('an entry', () => {
  it('passes with the gold calls, one or several a turn, and fails with none', async () => {
    const { task, play } = await stage();
    const one = await task('multi_turn_base_0');
    const gold = (one.benchmark as BfclTask).gold;
    const together = await play(
      one,
      gold.map((calls) => [written(calls)]),
    );
    expect(together).toMatchObject({ reward: 1, termination: 'user_stop', toolCalls: { cat: 1, cd: 1, touch: 1 } });
    expect(auditProblem(together)).toBeNull();
    expect(
      (
        await play(
          one,
          gold.map((calls) => calls.map((call) => written([call]))),
        )
      ).reward,
    ).toBe(1);
    const empty = await play(one, []);
    expect(empty.reward).toBe(0);
    expect(empty.verdict!.reward_info!.info).toMatchObject({ turn: 0, error_type: 'multi_turn:empty_turn_model_response' });
    expect(readTrajectory(JSON.parse(JSON.stringify(together)), 'it', 'line 1').task.tools).toHaveLength(4);
  });

  it('says which state and which result differ', async () => {
    const { task, play } = await stage();
    const one = await task('multi_turn_base_0');
    const state = await play(one, [[written(["cat('a.txt')"])], [written(["touch('b.txt')"])]]);
    expect(state.verdict).toMatchObject({
      reward: 0,
      progress: 0.5,
      reward_info: { db_check: { db_match: false }, info: { turn: 1, attributes: ['root'] } },
      changes: [{ table: 'GorillaFileSystem', key: 'root' }],
      goal: [{ table: 'GorillaFileSystem', key: 'root' }],
    });
    const result = await play(one, [[written(['ls()'])], []]);
    expect(result.verdict!.reward_info).toMatchObject({
      db_check: { db_match: true },
      action_checks: [{ action: { name: 'cat', arguments: { file_name: 'a.txt' } }, action_match: false }],
      info: { turn: 0, error_type: 'multi_turn:execution_response_mismatch', missing_items: ['{"file_content": "one\\ntwo"}'] },
    });
  });

  it('keeps 50 apart from 50.0 in what the agent writes', async () => {
    const { task, play } = await stage();
    const one = await task('multi_turn_base_1');
    const pay = (amount: string) => [[`<tool_call>\n{"name": "fund_account", "arguments": {"amount": ${amount}}}\n</tool_call>`]];
    const texts = async (amount: string) =>
      (await play(one, pay(amount))).nodes.filter(({ role }) => role === 'tool').map(({ text }) => text);
    // 100.0 + 50 is a float in both cases, so both get the gold result. The state has the amount, where 50 == 50.0.
    expect(await texts('50')).toEqual(['{"status": "Account funded successfully", "new_balance": 150.0}']);
    expect((await play(one, pay('50.0'))).reward).toBe(1);
    expect((await play(one, pay('50.5'))).reward).toBe(0);
    expect((await play(one, pay('50.0'))).nodes.find(({ toolCall }) => toolCall)!.toolCall!.exact).toBe('{"amount": 50.0}');
    expect((await play(one, pay('12345678901234567890'))).nodes.find(({ toolCall }) => toolCall)!.toolCall!.exact).toBe(
      '{"amount": 12345678901234567890}',
    );
  });

  it('gives withheld functions at their turn, with a message of the user', async () => {
    const { task, play } = await stage();
    const one = await task('multi_turn_miss_func_0');
    expect(one.tools!.map((tool) => tool.function.name)).toEqual(['ls', 'cd', 'touch']);
    const played = await play(one, [[], [written(["cat('a.txt')"])], [written(['ls()'])]]);
    expect(played.reward).toBe(1);
    expect(played.nodes.filter(({ role }) => role === 'user').map(({ text }) => text)).toEqual([
      'Read a.txt.',
      'Here is more.',
      'List the files.',
      '###STOP###',
    ]);
    const at = played.nodes.findIndex(({ tools }) => tools);
    expect(played.nodes[at]!.tools!.map((tool) => tool.function.name)).toEqual(['cat']);
    expect(played.nodes.slice(0, at).filter(({ role }) => role === 'user')).toHaveLength(2);
  });

  it('ends after the 21st executed step of a turn, and judges a forced end in the last turn', async () => {
    const { task, play } = await stage();
    const one = await task('multi_turn_base_0');
    const steps = (count: number, call = 'ls()') => Array.from({ length: count }, () => written([call]));
    const forced = await play(one, [steps(30)]);
    expect(forced).toMatchObject({ termination: 'max_turns', reward: 0, toolCalls: { ls: 21 } });
    expect(forced.verdict!.reward_info!.info!.error_type).toBe('multi_turn:force_terminated');
    const last = [...steps(1, "cd('docs')"), ...steps(1, "touch('b.txt')"), ...steps(30)];
    expect(await play(one, [[written(["cat('a.txt')"])], last])).toMatchObject({ termination: 'max_turns', reward: 1 });
    expect(await play(one, [[...steps(19), written(["cat('a.txt')"])], last])).toMatchObject({ reward: 1 });
  });

  it('counts the turns before the first failure, also of an episode that was ended', async () => {
    const { task, play } = await stage();
    const [two, three] = [await task('multi_turn_base_0'), await task('multi_turn_miss_func_0')];
    const steps = Array.from({ length: 30 }, () => written(['ls()']));
    const cat = [written(["cat('a.txt')"])];
    const passed = async (own: typeof two, texts: string[][]) => {
      const { progress, reward_info } = (await play(own, texts)).verdict!;
      expect(reward_info!.info!.process).toBe(progress);
      return [reward_info!.info!.turns_passed, progress, reward_info!.info!.turn];
    };
    expect(await passed(two, [])).toEqual([0, 0, 0]);
    expect(await passed(two, [cat, []])).toEqual([1, 1 / 2, 1]);
    expect(await passed(two, [cat, [written(["cd('docs')", "touch('b.txt')"])]])).toEqual([2, 1, 1]);
    // The first turn has no gold calls. The episode ends in the second turn, after the right call.
    expect(await passed(three, [[], [...cat, ...steps]])).toEqual([1, 1 / 3, 1]);
    expect(await passed(three, [steps])).toEqual([0, 0, 0]);
    // The second turn failed before the episode was ended in the third one.
    expect(await passed(two, [steps])).toEqual([0, 0, 0]);
  });

  it('takes a text that is no call as the end of the turn', async () => {
    const { task, play } = await stage();
    const one = await task('multi_turn_base_0');
    const bad = await play(one, [['<tool_call>\n{"name": "cat"}\n</tool_call>']]);
    expect(bad).toMatchObject({ reward: 0, parseErrors: 0, toolCalls: {} });
    const thinking = `<think>\n${written(['ls()'])}\n</think>\n\n${written(["cat('a.txt')"])}`;
    expect((await play(one, [[thinking]])).toolCalls).toEqual({ cat: 1 });
  });

  it('is counted by its category in reports', async () => {
    const { tasks, play } = await stage();
    const played = [];
    for (const one of await tasks())
      played.push(
        await play(
          one,
          one.id.includes('base_0') ? [] : (one.benchmark as BfclTask).gold.map((calls) => (calls.length ? [written(calls)] : [])),
        ),
      );
    const report = reportOf(
      played.map((one, i) => ({ ...one, group: String(i) })),
      1,
      1,
    );
    const { by_intent } = report;
    expect(multiTurn(by_intent)).toBeNull();
    const accuracies = { base: 0.5, miss_func: 1, miss_param: 0, long_context: 0.25 };
    const groups = Object.fromEntries(Object.entries(accuracies).map(([name, pass_hat_1], i) => [name, { tasks: i + 1, pass_hat_1 }]));
    expect(multiTurn(groups)).toEqual({ name: 'Multi Turn', value: 0.4375 });
    expect(by_intent).toMatchObject({
      base: { tasks: 2, pass_hat_1: 0.5, process: 0.5 },
      miss_func: { tasks: 1, pass_hat_1: 1, process: 1 },
    });
    // 0, 1 and 3 turns passed before the first failure.
    expect(report.turns_before_failure!.value).toBeCloseTo(4 / 3, 12);
    expect(report.process!.value).toBeCloseTo(2 / 3, 12);
  });
});

if (!hasBfcl) console.warn(`SKIPPED: all entries of BFCL in the episode machine: ${bfclFolder} does not exist`);
test.skipIf(!hasBfcl)('800 entries: gold passes, nothing and a spoilt run fail', { timeout: 120_000 }, async () => {
  const files = filesOf(bfclFolder).map((path) => [path, readFileSync(join(bfclFolder, path))] as const);
  const { tasks, play } = bfclStage(await importBenchmark(files));
  const all = await tasks();
  expect(all).toHaveLength(800);
  const failed: string[] = [];
  for (const [i, task] of all.entries()) {
    const { gold } = task.benchmark as BfclTask;
    const run = (turns: string[][]) =>
      play(
        task,
        turns.map((calls) => (calls.length > 0 ? [written(calls)] : [])),
      );
    if ((await run(gold)).reward !== 1) failed.push(`${task.id} gold`);
    if ((await run(gold.map(() => []))).reward !== 0) failed.push(`${task.id} empty`);
    // Every third entry: the last turn with gold calls is left out.
    const last = gold.findLastIndex((calls) => calls.length > 0);
    if (i % 3 === 0 && (await run(gold.map((calls, turn) => (turn === last ? [] : calls)))).reward !== 0) failed.push(`${task.id} spoilt`);
  }
  expect(failed).toEqual([]);
});
