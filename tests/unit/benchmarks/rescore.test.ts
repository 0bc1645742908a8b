/** Rewards and re-scoring on small data. `rewards-reference.test.ts` compares them with the original code. */
import { expect, test } from 'vitest';
import type { EvaluationCriteria } from '../../../src/records/benchmark-task.ts';
import type { Tau1Task } from '../../../src/benchmarks/tau1/task.ts';
import type { Tau2Task } from '../../../src/benchmarks/tau2/task.ts';
import type { Json } from '../../../src/records/json.ts';
import type { ImportedBenchmark } from '../../../src/benchmarks/imported-benchmark.ts';
import { exactDomain } from '../../support/exact-domains.ts';
import { StateHasher } from '../../../src/domains/exact/run.ts';
import { canonicalJson } from '../../../src/base/json.ts';
import { Overlay, World } from '../../../src/environments/overlay.ts';
import { sha256 } from '../../../src/base/sha256.ts';
import type { Conversation, ConversationCall, Turn } from '../../../src/benchmarks/recorded-conversation.ts';
import { sameObservation } from '../../../src/benchmarks/same-observation.ts';
import { readCases, replayCases } from '../../../src/benchmarks/replay-cases.ts';
import { shareOfCriteria, tau1RewardInfo, tau2RewardInfo } from '../../../src/benchmarks/tau/reward-info.ts';
import { rescore } from '../../../src/benchmarks/rescore.ts';
import { MUA_RL_EMPTY_OUTPUT, TAU_BENCH, tau1Reward } from '../../../src/benchmarks/tau1/reward.ts';
import { actionMatches } from '../../../src/domains/exact/criteria.ts';
import { tau2Reward } from '../../../src/benchmarks/tau2/reward.ts';
import { importBenchmark } from '../../../src/benchmarks/import/import.ts';
import { readResults } from '../../../src/benchmarks/recorded-results.ts';
import { cancelCall, files, tau1Retail, tau2Mock, tau2Retail, tau2Telecom } from '../../support/benchmark-data.ts';

const tau1 = (await importBenchmark(files(tau1Retail))) as ImportedBenchmark<Tau1Task>;
const retail = (await importBenchmark(files(tau2Retail))) as ImportedBenchmark<Tau2Task>;
const mock = (await importBenchmark(files(tau2Mock))) as ImportedBenchmark<Tau2Task>;
const telecom = (await importBenchmark(files(tau2Telecom))) as ImportedBenchmark<Tau2Task>;

const parts = (data: ImportedBenchmark) => [exactDomain(data.domain, data.benchmark), new World('w', data.tables)] as const;
const said = (text: string): Turn => ({ kind: 'said', role: 'assistant', text });
const called = (call: ConversationCall): Turn => ({ kind: 'called', call });
const talk = (turns: Turn[], ended = true): Conversation => ({ turns, ended });
const transfer = { name: 'transfer_to_human_agents', arguments: { summary: 's' } };

test('tau1: the reward needs the database, the outputs and a proper end', () => {
  const [task, other] = tau1.tasks as [Tau1Task, Tau1Task];
  const reward = (turns: Turn[], ended = true, rules = TAU_BENCH) => tau1Reward(...parts(tau1), task, talk(turns, ended), rules);
  expect(reward([called(cancelCall), said('You get $10.5 back.')])).toMatchObject({
    reward: 1,
    r_actions: true,
    outputs: { '10.5': true },
    rows: [],
  });
  expect(reward([called(cancelCall), said('You get $1,0.5 back.')])).toMatchObject({ reward: 1 }); // commas in messages are ignored
  expect(reward([called(cancelCall), { kind: 'said', role: 'user', text: '10.5?' }])).toMatchObject({
    reward: 0,
    r_actions: true,
    outputs: { '10.5': false },
  });
  expect(reward([called(cancelCall), said('10.5')], false)).toMatchObject({ reward: 0, ended: false });
  expect(reward([called(cancelCall)], false, MUA_RL_EMPTY_OUTPUT)).toMatchObject({ reward: 1, outputs: null });
  expect(reward([said('10.5')])).toMatchObject({
    reward: 0,
    rows: [
      { table: 'orders', key: '#W1' },
      { table: 'users', key: 'ada_1' },
    ],
  });
  expect(
    reward([called({ name: 'cancel_pending_order', arguments: { order_id: '#W1', reason: 'no reason' } }), said('10.5')]),
  ).toMatchObject({ reward: 0 });
  // No action is right if the gold actions change nothing.
  expect(tau1Reward(...parts(tau1), other, talk([called(transfer)])).reward).toBe(1);
  expect(tau1Reward(...parts(tau1), other, talk([called(cancelCall), called(transfer)]))).toMatchObject({ reward: 0, asked_again: 1 });
  // The text of a gold action counts as the agent's message.
  expect(
    tau1Reward(
      ...parts(tau1),
      { ...task, actions: [...task.actions, { name: 'respond', kwargs: { content: 'It is 10.5.' } }] },
      talk([called(cancelCall)]),
    ).reward,
  ).toBe(1);
});

test('tau2: the reward is a product over the reward basis, and 0 without a proper end', async () => {
  const score = (criteria: EvaluationCriteria | null, turns: Turn[], ended = true, judge?: Parameters<typeof tau2Reward>[4]) =>
    tau2Reward(...parts(retail), { ...retail.tasks[0]!, evaluation_criteria: criteria }, talk(turns, ended), judge);
  const criteria: EvaluationCriteria = { actions: [{ ...cancelCall }], communicate_info: ['10.5'], nl_assertions: ['polite', 'brief'] };
  const good = [called(cancelCall), said('That is 10.5.')];
  expect(await score(criteria, good)).toMatchObject({ reward: 1, breakdown: { DB: 1, COMMUNICATE: 1 }, db_match: true });
  expect(await score(criteria, good, false)).toMatchObject({ reward: 0, breakdown: {}, db_match: true });
  expect(await score(criteria, [said('10.5')])).toMatchObject({
    reward: 0,
    breakdown: { DB: 0, COMMUNICATE: 1 },
    action_checks: [{ match: false }],
  });
  expect(await score({ ...criteria, reward_basis: ['ACTION'] }, [said('10.5')])).toMatchObject({ reward: 0, breakdown: { ACTION: 0 } });
  expect(await score({ ...criteria, reward_basis: [] }, [])).toMatchObject({ reward: 1 });
  expect(await score(null, [called(cancelCall)])).toMatchObject({ reward: 1, breakdown: {} });
  expect(await score({ communicate_info: [] }, [called(cancelCall)])).toMatchObject({ reward: 1, db_match: true }); // nothing to check
  expect(await score({ actions: [] }, [called(cancelCall)])).toMatchObject({ reward: 0, db_match: false }); // the task needs no action
  const judged = { ...criteria, reward_basis: ['DB', 'NL_ASSERTION'] as EvaluationCriteria['reward_basis'] };
  expect(await score(judged, good)).toMatchObject({ reward: null, breakdown: { DB: 1, NL_ASSERTION: null } });
  expect(await score(judged, [])).toMatchObject({ reward: 0 }); // The reward is 0 for every possible answer of a judge.
  const asked: (readonly string[])[] = [];
  const judge = (assertions: readonly string[]) => (asked.push(assertions), Promise.resolve(assertions.map((text) => text === 'polite')));
  expect(await score(judged, good, true, judge)).toMatchObject({
    reward: 0,
    breakdown: { NL_ASSERTION: 0 },
    nl_assertions: [{ met: true }, { met: false }],
  });
  expect(await score({ ...judged, nl_assertions: [] }, good, true, judge)).toMatchObject({ reward: 1 });
  expect(asked).toEqual([['polite', 'brief']]);
});

test('progress is the share of met criteria among those that count', async () => {
  const [domain, world] = parts(retail);
  const share = async (criteria: EvaluationCriteria | null, turns: Turn[]) => {
    const task = { ...retail.tasks[0]!, evaluation_criteria: criteria };
    return shareOfCriteria(tau2RewardInfo(task, await tau2Reward(domain, world, task, talk(turns))));
  };
  const criteria: EvaluationCriteria = {
    actions: [{ ...cancelCall }],
    communicate_info: ['10.5', 'gift card', 'mug'],
    nl_assertions: ['polite'],
    reward_basis: ['DB', 'COMMUNICATE', 'NL_ASSERTION'],
  };
  expect(await share(criteria, [called(cancelCall), said('10.5 for the mug')])).toBe(3 / 4); // nobody judged the politeness; actions don't count here
  expect(await share(criteria, [])).toBe(0);
  expect(await share({ ...criteria, reward_basis: ['ACTION', 'DB'] }, [called(cancelCall)])).toBe(1);
  expect(await share({ reward_basis: [] }, [])).toBe(1);
  const unjudged = tau2RewardInfo(
    { ...retail.tasks[0]!, evaluation_criteria: criteria },
    await tau2Reward(
      domain,
      world,
      { ...retail.tasks[0]!, evaluation_criteria: criteria },
      talk([called(cancelCall), said('10.5 gift card mug')]),
    ),
  );
  expect(unjudged).toMatchObject({
    reward: 1,
    reward_breakdown: { DB: 1, COMMUNICATE: 1 },
    nl_assertions: null,
    info: { unjudged_nl_assertions: ['polite'] },
  });
  const tau1Share = (turns: Turn[]) => shareOfCriteria(tau1RewardInfo(tau1Reward(...parts(tau1), tau1.tasks[0]!, talk(turns))));
  expect([tau1Share([called(cancelCall)]), tau1Share([said('10.5')]), tau1Share([called(cancelCall), said('10.5')])]).toEqual([
    1 / 2,
    1 / 2,
    1,
  ]);
});

test('tau2: assertions on both sides, from the task’s initial state', async () => {
  const task = mock.tasks[0]!;
  const calls: ConversationCall[] = [
    { name: 'dismiss_notification', arguments: { notification_id: 'n1' }, requestor: 'user' },
    { name: 'update_task_status', arguments: { task_id: 'task_1', status: 'completed' } },
  ];
  // The gold actions leave the notification unread: the user's database differs, although the assertion asks for it.
  expect(await tau2Reward(...parts(mock), task, talk(calls.map(called)))).toMatchObject({
    reward: 0,
    breakdown: { DB: 0, ACTION: 1, ENV_ASSERTION: 1 },
    rows: [{ table: 'notifications', key: 'n1' }],
  });
  expect(await tau2Reward(...parts(mock), task, talk([called(calls[1]!)]))).toMatchObject({
    reward: 0,
    breakdown: { DB: 1, ACTION: 1, ENV_ASSERTION: 0 },
  });
  const broken = {
    ...task,
    evaluation_criteria: {
      env_assertions: [{ env_type: 'user' as const, func_name: 'assert_luck', arguments: {} }],
      reward_basis: ['ENV_ASSERTION' as const],
    },
  };
  expect(await tau2Reward(...parts(mock), broken, talk([]))).toMatchObject({
    reward: 0,
    env_assertions: [{ met: false, error: expect.stringContaining('assert_luck') as string }],
  });
});

test('tau2: which arguments of an action are compared', () => {
  const gold = { name: 'f', arguments: { a: 1, b: [2] } };
  const match = (args: Record<string, Json>, compare_args?: string[]) =>
    actionMatches({ ...gold, compare_args }, { name: 'f', arguments: args });
  expect([match({ a: 1, b: [2] }), match({ a: 1 }), match({})]).toEqual([true, true, true]); // Quirk: too few arguments pass.
  expect([match({ a: 1, b: [2], c: 3 }), match({ a: 2 })]).toEqual([false, false]);
  expect([match({ a: 9 }, []), match({ a: 1, b: 0 }, ['a']), match({ b: [2] }, ['a']), match({ a: 1 }, ['z'])]).toEqual([
    true,
    true,
    false,
    true,
  ]);
  expect(actionMatches(gold, { name: 'g', arguments: {} })).toBe(false);
  expect(actionMatches({ ...gold, requestor: 'user' }, { name: 'f', arguments: gold.arguments, requestor: 'assistant' })).toBe(true);
});

test('observations: numbers are compared as numbers, all else exactly', () => {
  expect(sameObservation('{"a": 247.0, "b": "4.0"}', '{"a": 247, "b": "4.0"}')).toBe(true);
  expect(sameObservation('{"b":"4.0","a":1}', '{"b": "4.0", "a": 1}')).toBe(true);
  expect(sameObservation('{"a": "247.0"}', '{"a": "247"}')).toBe(false);
  expect(sameObservation('{"a": 1, "b": 2}', '{"b": 2, "a": 1}')).toBe(false);
  expect(sameObservation('Paid 40.0 USD', 'Paid 40 USD')).toBe(true);
  expect(sameObservation('Order not found', 'order not found')).toBe(false);
});

const tau1Run = (over: Record<string, unknown> = {}) => ({
  task_id: 0,
  trial: 0,
  reward: 1,
  info: {
    task: { actions: tau1.tasks[0]!.actions, outputs: ['10.5'], instruction: tau1.tasks[0]!.instruction },
    reward_info: { info: { r_outputs: 1 } },
  },
  traj: [
    { role: 'system', content: 'policy' },
    { role: 'user', content: 'Cancel.' },
    {
      role: 'assistant',
      content: null,
      tool_calls: [
        { function: { name: cancelCall.name, arguments: JSON.stringify(cancelCall.arguments) } },
        { function: { name: 'never_run', arguments: '{}' } },
      ],
    },
    { role: 'tool', name: cancelCall.name, content: 'as it was' },
    { role: 'assistant', content: 'You get 10.5.' },
    { role: 'user', content: '###STOP###' },
  ],
  ...over,
});

test('tau1 results: our rewards, the recorded rewards, and the differences', async () => {
  const gold = [{ name: 'cancel_pending_order', kwargs: { order_id: '#W1', reason: 'ordered by mistake' } }];
  const traj = tau1Run().traj;
  const runs = [
    tau1Run(),
    tau1Run({ trial: 1, reward: 0, info: { task: { ...tau1Run().info.task, actions: gold }, reward_info: { info: { r_outputs: 0 } } } }),
    tau1Run({ trial: 2, traj: traj.slice(0, 4) }),
    tau1Run({
      trial: 3,
      reward: null,
      info: null,
      traj: [{ role: 'assistant', tool_calls: [{ function: { name: 'f', arguments: '{' } }] }],
    }),
  ];
  const { runs: found, summary } = await rescore(tau1, await readResults('r.json', runs as unknown as Json, 'tau1'));
  expect(summary).toMatchObject({
    runs: 4,
    same: 1,
    different: 2,
    unrecorded: 1,
    calls: 3,
    observations_different: 3,
    mean_recorded: 2 / 3,
    mean: 0.5,
  });
  expect(found[0]).toMatchObject({
    task_id: '0',
    reward: 1,
    recorded_reward: 1,
    changed: null,
    differences: [{ call: 0, name: cancelCall.name, recorded: 'as it was' }],
  });
  expect(found[1]!.changed).toEqual({
    rules: [{ rule: 'r_outputs', recorded: 0, now: 1 }],
    actions: [],
    rows: [],
    gold: [{ index: 0, recorded: { name: gold[0]!.name, arguments: gold[0]!.kwargs }, now: cancelCall }],
  });
  expect(found[2]).toMatchObject({
    reward: 0,
    ended: false,
    changed: {
      rules: [
        { rule: 'r_outputs', recorded: 1, now: 0 },
        { rule: 'ended', recorded: null, now: 0 },
      ],
    },
  });
  expect(found[3]).toMatchObject({
    reward: 0,
    recorded_reward: null,
    changed: null,
    problems: ['traj[0]: the arguments of f are not a JSON object'],
  });
  const emptied = await rescore(tau1, await readResults('r.json', [runs[2]] as unknown as Json, 'tau1'), { variant: 'empty-output' });
  expect(emptied.runs[0]).toMatchObject({ reward: 1, parts: { r_actions: 1 } });
  await expect(rescore(tau1, await readResults('r.json', [tau1Run({ task_id: 7 })] as unknown as Json, 'tau1'))).rejects.toThrow(
    "the results are of task '7', which is not among the 2 retail tasks",
  );
});

test('tau2 results: recorded answers of the judge are used again', async () => {
  const polite = 'The agent is polite.';
  const simulation = (over: Record<string, unknown> = {}) => ({
    id: 's',
    task_id: '0',
    trial: 0,
    termination_reason: 'user_stop',
    messages: [
      { role: 'assistant', content: 'Hi! How can I help you today?' },
      { role: 'user', content: 'Cancel.' },
      { role: 'assistant', content: 'It is 10.5.', tool_calls: [{ id: 'c', ...cancelCall, requestor: 'assistant' }] },
      { role: 'tool', tool_messages: [{ role: 'tool', id: 'c', content: 'Error: no', requestor: 'assistant' }] },
      { role: 'user', content: '###STOP###' },
    ],
    reward_info: {
      reward: 1,
      reward_breakdown: { DB: 1, NL_ASSERTION: 1, COMMUNICATE: 1 },
      nl_assertions: [{ nl_assertion: polite, met: true }],
      action_checks: [{ action_match: true }],
    },
    ...over,
  });
  const simulations = [
    simulation(),
    simulation({ termination_reason: 'max_steps' }),
    simulation({ reward_info: { reward: 1 } }),
    simulation({ messages: [{ role: 'assistant', content: '10.5' }] }),
  ];
  const { runs, summary } = await rescore(
    retail,
    await readResults('r.json', { simulations, tasks: retail.tasks } as unknown as Json, 'tau2'),
  );
  expect(runs.map(({ reward }) => reward)).toEqual([1, 0, null, 0]);
  expect(summary).toMatchObject({ same: 1, different: 2, unjudged: 1 });
  expect(runs[0]).toMatchObject({ changed: null, differences: [{ name: cancelCall.name, recorded: 'Error: no' }] });
  expect(runs[1]!.changed!.rules).toContainEqual({ rule: 'ended', recorded: null, now: 0 });
  expect(runs[3]!.changed).toMatchObject({
    rules: [{ rule: 'DB', recorded: 1, now: 0 }],
    actions: [{ index: 0, name: cancelCall.name, recorded: true, now: false }],
    rows: [{ key: '#W1' }, { key: 'ada_1' }],
  });
  const strict = await rescore(retail, await readResults('r.json', { simulations } as unknown as Json, 'tau2'), {
    judge: (assertions) => Promise.resolve(assertions.map(() => false)),
  });
  expect(strict.runs.map(({ reward }) => reward)).toEqual([0, 0, 0, 0]);
});

test('results in another format are refused; the error names the path', async () => {
  await expect(readResults('r.json', { simulations: [] }, 'tau1')).rejects.toThrow(/^r.json: .*expected array/);
  await expect(readResults('r.json', [], 'tau2')).rejects.toThrow(/^r.json: .*expected object/);
  await expect(readResults('r.json', [{ task_id: 0, traj: [{ content: 'x' }] }], 'tau1')).rejects.toThrow(
    /^r.json: \[0\].traj\[0\].role: /,
  );
});

test('each case is replayed on its own copy', () => {
  const cases = readCases('in.json', {
    cases: [
      { id: 'a', calls: [{ ...cancelCall }, { ...cancelCall }] },
      { id: 'b', calls: [{ name: 'nothing', arguments: {} }] },
      { id: 3, calls: [] },
    ],
  } as unknown as Json);
  const [a, b, c] = replayCases(tau1, cases);
  const initial = sha256(canonicalJson(exactDomain('retail', 'tau1').dump(new Overlay(new World('w', tau1.tables)))));
  expect(a).toMatchObject({
    id: 'a',
    errors: [false, true],
    user_state_sha256: null,
    changed: [
      { table: 'orders', key: '#W1', before: { status: 'pending' }, after: { status: 'cancelled' } },
      { table: 'users', key: 'ada_1' },
    ],
  });
  expect(a!.state_sha256).not.toBe(initial);
  expect(b).toEqual({
    id: 'b',
    observations: ['Unknown action nothing'],
    errors: [true],
    state_sha256: initial,
    user_state_sha256: null,
    changed: [],
  });
  expect(c).toMatchObject({ id: 3, observations: [], state_sha256: initial });
});

test('hashes of both databases; the writes of a tool stay if only the synchronisation after it failed', async () => {
  const [domain, world] = parts(telecom);
  const rows = new Overlay(world);
  const initial_state = { initialization_data: { user_data: { surroundings: { phone_number: '555-9' } } } };
  expect(() => replayCases(telecom, readCases('in.json', { cases: [{ id: 0, calls: [], initial_state }] }), { file: 'in.json' })).toThrow(
    'in.json: cases[0].initial_state: Line with phone number 555-9 not found',
  );
  const [toggled] = replayCases(
    telecom,
    readCases('in.json', {
      cases: [
        {
          id: 0,
          calls: [
            { name: 'toggle_data', arguments: {}, requestor: 'user' },
            { name: 'toggle_data', arguments: {} },
          ],
        },
      ],
    }),
  );
  expect(toggled!.errors).toEqual([false, true]);
  expect(toggled!.changed).toMatchObject([{ table: '', key: 'device', before: { data_enabled: true }, after: { data_enabled: false } }]);
  const { agent, user } = new StateHasher(domain, world).hashes(rows);
  expect(agent).toBe(sha256(canonicalJson(domain.dump(rows))));
  expect(user).toBe(sha256(canonicalJson(domain.dumpUser(rows))));
  const lost = await importBenchmark(files({ ...tau2Telecom, 'user_db.toml': '[surroundings]\nphone_number = "555-9"\n' }));
  const [kept] = replayCases(lost, [{ id: 0, calls: [{ name: 'toggle_data', arguments: {}, requestor: 'user' }] }]);
  expect(kept).toMatchObject({
    observations: ['Error: Line with phone number 555-9 not found'],
    errors: [true],
    changed: [{ key: 'device', after: { data_enabled: false } }],
  });
  expect([toggled!.state_sha256 === agent, toggled!.user_state_sha256 === user]).toEqual([true, false]);
});

test('cases in another format are refused; the error names the path', () => {
  const read = (value: unknown) => readCases('in.json', value as Json);
  expect(() => read([])).toThrow(/^in.json: /);
  expect(() => read({ cases: [{ id: 'a', calls: [{ name: 'f' }] }] })).toThrow(/^in.json: cases\[0\].calls\[0\].arguments: /);
  expect(() => read({ cases: [{ id: 'a', calls: [{ name: 'f', arguments: {}, requestor: 'robot' }] }] })).toThrow(
    /^in.json: cases\[0\].calls\[0\].requestor: /,
  );
  expect(() => read({ cases: [{ id: 'a', calls: [], state: {} }] })).toThrow(/^in.json: cases\[0\]: /);
});
