/** ACEBench's import, and its tasks in the episode machine, on the small fixture. */
import 'fake-indexeddb/auto';
import { zipSync } from 'fflate';
import { describe, expect, it, test } from 'vitest';
import { auditProblem } from '../../../../src/agent/audit-log.ts';
import { agentOf } from '../../../../src/benchmarks/acebench/score.ts';
import { BenchmarkDatabase } from '../../../../src/benchmarks/import/database.ts';
import { importBenchmark, importBenchmarks } from '../../../../src/benchmarks/import/import.ts';
import { readTrajectory } from '../../../../src/exchange/trajectory-schema.ts';
import { chatSession } from '../../../../src/users/chat-session.ts';
import { WorldBrowser } from '../../../../src/worlds/browser.ts';
import { aceFixture, aceFixtureFiles } from '../../../support/acebench-fixture.ts';
import { aceStage } from '../../../support/acebench-play.ts';

const stage = async () => aceStage(await importBenchmark(aceFixtureFiles()));

describe('an import', () => {
  it('reads the literals of the Python source, from a folder and from a zip', async () => {
    const prefixed = aceFixtureFiles().map(([path, bytes]) => [`ACEBench-main/${path}`, bytes] as const);
    for (const source of [aceFixtureFiles(), prefixed, zipSync(Object.fromEntries(prefixed))]) {
      const [imported, ...others] = await importBenchmarks(source);
      expect(others).toEqual([]);
      expect(imported).toMatchObject({
        benchmark: 'acebench',
        domain: 'agent',
        policy: '',
        splits: {
          en: ['en_agent_multi_turn_0', 'en_agent_multi_turn_1', 'en_agent_multi_step_0'],
          zh_multi_step: ['zh_agent_multi_step_0'],
        },
      });
      expect(Object.keys((imported!.database as { files: object }).files)).not.toContain('README.md');
      expect(imported!.tables.get('MessageApi (en)')!.get('max_capacity')).toBe(3);
    }
  });

  it('reads one language alone', async () => {
    const chinese = Object.fromEntries(Object.entries(aceFixture).filter(([path]) => !/data_en|scenariosen|prompt_en/.test(path)));
    expect(Object.keys((await importBenchmark(aceFixtureFiles(chinese))).splits)).toEqual(['zh', 'zh_multi_turn', 'zh_multi_step']);
  });

  it('names a missing file, and a line that is wrong', async () => {
    const without = (part: string) =>
      aceFixtureFiles(Object.fromEntries(Object.entries(aceFixture).filter(([path]) => !path.includes(part))));
    await expect(importBenchmark(without('possible_answer'))).rejects.toThrow(
      'there is no data_en/possible_answer/data_agent_multi_turn.json',
    );
    await expect(importBenchmark(without('scenariosen/travel'))).rejects.toThrow('there is no multi_turn/scenariosen/travel.py');
    await expect(importBenchmark(without('APIModel_user'))).rejects.toThrow('there are no prompts in model_inference');
    const broken = (path: string, from: string, to: string) =>
      aceFixtureFiles({ ...aceFixture, [path]: aceFixture[path]!.replace(from, to) });
    const turns = 'data_all/data_en/data_agent_multi_turn.json';
    await expect(importBenchmark(broken(turns, '"id"', 'id'))).rejects.toThrow(`${turns}: line 1: it is not JSON`);
    await expect(importBenchmark(broken(turns, '["Travel"]', '["Bank"]'))).rejects.toThrow(`${turns}: line 2: involved_classes has "Bank"`);
    await expect(importBenchmark(broken(turns, '"Book a flight."', '5'))).rejects.toThrow(
      `${turns}: line 2: question is 5: expected a text`,
    );
    const noObject = aceFixtureFiles({
      ...aceFixture,
      [turns]: aceFixture[turns]!.replace(/"initial_config":\{/, '"initial_config":[],"x":{'),
    });
    await expect(importBenchmark(noObject)).rejects.toThrow(`${turns}: line 1: initial_config is []: expected an object`);
    const answers = 'data_all/data_en/possible_answer/data_agent_multi_step.json';
    await expect(importBenchmark(broken(answers, '"Reminders":{}', '"Reminders":3'))).rejects.toThrow(
      /ground_truth is .*: expected a list of objects/,
    );
    const source = 'model_inference/multi_turn/scenarioszh/phone_platform/food_services.py';
    await expect(importBenchmark(broken(source, '10.0', 'open()'))).rejects.toThrow(
      `${source}: self.merchant_list: it is no literal of Python`,
    );
    const user = 'model_inference/multi_turn/APIModel_user.py';
    await expect(importBenchmark(broken(user, 'language == "en"', 'name'))).rejects.toThrow(`${user}: get_init_prompt: it has no message`);
  });
});

describe('a task', () => {
  it('has upstream’s prompts, of the agent and of the simulated user', async () => {
    const { task } = await stage();
    const one = await task('multi_turn_0');
    expect(one).toMatchObject({ id: 'acebench-agent/full/heldout/en_agent_multi_turn_0', policy: 'EN role.\nEN phone.' });
    expect(one.tools!.map((tool) => tool.function.parameters.type)).toEqual(['object', 'object']);
    const asked: unknown[] = [];
    const session = chatSession(one.scenario, undefined, async (messages) => {
      asked.push(...messages);
      return { text: 'Hi.', calls: [] };
    });
    await session.open();
    // The simulated user has the prompt of the rules; see `customerPrompt`.
    expect(asked[1]).toEqual({ role: 'user', content: 'What is it?' });
    expect(one.scenario.instruction).toBe('EN calls: Delete the first message.');
    expect((await task('zh_multi_turn_1')).scenario).toMatchObject({ instruction: 'ZH flies: Book a flight.', greeting: '有什么事？' });
  });

  it('passes with calls in brackets or in markup, alone or together, and fails with none', async () => {
    const { task, play } = await stage();
    const one = await task('multi_turn_0');
    const [wifi, deletion] = ['[turn_on_wifi()]', '[delete_message(message_id=1)]'];
    const marked =
      '<tool_call>\n{"name": "turn_on_wifi", "arguments": {}}\n</tool_call>\n<tool_call>\n{"name": "delete_message", "arguments": {"message_id": 1}}\n</tool_call>';
    for (const texts of [[wifi, deletion], ['[turn_on_wifi(), delete_message(message_id=1)]'], [marked]]) {
      const played = await play(one, texts);
      expect(played).toMatchObject({ reward: 1, termination: 'agent_stop', toolCalls: { turn_on_wifi: 1, delete_message: 1 } });
      expect(auditProblem(played)).toBeNull();
      expect(readTrajectory(JSON.parse(JSON.stringify(played)), 'it', 'line 1').task.policy).toBe('EN role.\nEN phone.');
    }
    const none = await play(one, []);
    expect(none).toMatchObject({ reward: 0, verdict: { reward_info: { info: { error_type: 'wrong number of class' } } } });
  });

  it('says which attribute differs', async () => {
    const { task, play } = await stage();
    const { verdict } = await play(await task('multi_turn_0'), ['[turn_on_wifi()]', '[delete_message(message_id=2)]']);
    expect(verdict).toMatchObject({
      reward: 0,
      progress: 0.5,
      changes: [
        { table: 'BaseApi', key: 'wifi', before: false, after: true },
        { table: 'MessageApi', key: 'inbox' },
      ],
      goal: [{ key: 'wifi' }, { key: 'inbox' }],
      reward_info: { db_check: { db_match: false }, info: { process: 0.5, error_type: 'class attributes wrong' } },
    });
  });

  it('runs a message as a whole: an error ends it', async () => {
    const { task, play } = await stage();
    const one = await task('multi_turn_0');
    const spoilt = await play(one, [
      '[turn_on_wifi(), no_such(x=1), delete_message(), delete_message(message_id=1)]',
      '[delete_message(message_id=2)]',
    ]);
    const results = spoilt.nodes.flatMap(({ role, text, toolResult }) => (role === 'tool' ? [{ text, error: toolResult!.error }] : []));
    const failed = { text: expect.stringMatching(/^\['E', 'r', 'r'/) as string, error: true };
    expect(results.slice(0, 4)).toEqual([failed, failed, failed, failed]);
    expect(results[4]).toEqual({ text: "{'status': True, 'message': 'Message ID 2 has been successfully deleted.'}", error: false });
    const step = await play(await task('multi_step_0'), ['no_such(), turn_on_wifi()']);
    expect(step).toMatchObject({ reward: 1, toolCalls: { no_such: 1, turn_on_wifi: 1 } });
  });

  it('keeps 1 apart from 1.0 in markup', async () => {
    const { task, play } = await stage();
    const message = (id: string) => [
      `<tool_call>\n{"name": "add_reminder", "arguments": {"title": ${id}, "description": "x", "time": "y"}}\n</tool_call>`,
    ];
    const said = async (id: string) =>
      (await play(await task('multi_step_0'), message(id))).nodes.find(({ role }) => role === 'tool')!.text;
    expect(await said('1.0')).toContain("Reminder '1.0' was successfully added.");
    expect(await said('1')).toContain("Reminder '1' was successfully added.");
  });

  it('ends after 40 messages, or with a stop word from the third message on', async () => {
    const { task, play } = await stage();
    const one = await task('multi_turn_0');
    const many = await play(
      one,
      Array.from({ length: 50 }, () => '[turn_on_wifi(), turn_on_wifi()]'),
    );
    expect(many).toMatchObject({ termination: 'max_turns', toolCalls: { turn_on_wifi: 40 } });
    const users = ['a', 'finish conversation', 'b', 'finish conversation'];
    const ended = await play(one, ['finish conversation', 'x', 'y', 'z'], users);
    expect(ended.termination).toBe('user_stop');
    expect(ended.nodes.filter(({ role }) => role === 'assistant')).toHaveLength(3);
  });

  it('answers what it cannot read in a multi-step task, and counts it as a milestone', async () => {
    const { task, play } = await stage();
    const one = await task('multi_step_0');
    const played = await play(one, ["[add_reminder(title='Ann's list', description='x', time='y')]", 'I am done.']);
    expect(played.nodes.filter(({ role }) => role === 'user').map(({ text }) => text)).toEqual([
      'Turn on the wifi.',
      'Please do not ask me any questions, use the known conditions to solve the problem',
      'Please do not ask me any questions, use the known conditions to solve the problem',
    ]);
    expect(played).toMatchObject({ reward: 0, verdict: { progress: 0.5 } });
  });
});

it('scores a language in which both kinds were played', () => {
  const group = (pass_hat_1: number) => ({ tasks: 1, pass_hat_1 });
  const english = { 'en multi_turn': group(0.7), 'en multi_step': group(0.2) };
  expect(agentOf(english)).toEqual({ name: 'Agent', value: 0.45 });
  expect(agentOf({ 'en multi_turn': group(1) })).toBeNull();
  expect(agentOf({ ...english, 'zh multi_turn': group(1), 'zh multi_step': group(1) })).toBeNull();
});

test('the page stores, lists and opens an import, and runs gold messages', async () => {
  const browser = new WorldBrowser(new BenchmarkDatabase('ace-page'), 'ace-worlds');
  const [stored] = await browser.importFiles(aceFixtureFiles());
  expect(stored).toMatchObject({ benchmark: 'acebench', domain: 'agent', tasks: 6 });
  expect((await browser.list()).at(-1)).toMatchObject({ name: 'acebench-agent', title: 'Agent, ACEBench Agent', tasks: 6 });
  const ref = { name: 'acebench-agent', split: '', seed: null, number: null, task: '' };
  expect((await browser.info(ref)).splits.map(({ name }) => name)).toEqual([
    'en',
    'en_multi_turn',
    'en_multi_step',
    'zh',
    'zh_multi_turn',
    'zh_multi_step',
  ]);
  // Of two lists, the one that reaches the end state is gold.
  for (const [id, calls] of [
    ['en_agent_multi_turn_0', 2],
    ['en_agent_multi_turn_1', 1],
    ['zh_agent_multi_step_0', 2],
  ] as const) {
    const run = await browser.runGold({ ...ref, task: `acebench-agent/full/heldout/${id}` });
    expect(run.verdict.reward, id).toBe(1);
    expect(run.calls).toHaveLength(calls);
  }
});
