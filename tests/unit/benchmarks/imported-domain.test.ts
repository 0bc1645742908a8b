import 'fake-indexeddb/auto';
import { Dexie } from 'dexie';
import { afterEach, expect, it } from 'vitest';
import { runEpisode } from '../../../src/agent/episode.ts';
import { toMessages } from '../../../src/agent/trajectory.ts';
import type { Benchmark, BenchmarkTask } from '../../../src/records/benchmark-task.ts';
import type { Json } from '../../../src/records/json.ts';
import type { Task } from '../../../src/records/task.ts';
import type { EndpointConfig } from '../../../src/records/user.ts';
import type { ImportedBenchmark, LoadBenchmark } from '../../../src/benchmarks/imported-benchmark.ts';
import type { ExactDomain } from '../../../src/domains/exact/types.ts';
import { exactDomain } from '../../support/exact-domains.ts';
import { importedDomain, importedDomains } from '../../../src/benchmarks/imported-domain.ts';
import { createEnvironments } from '../../../src/environments/index.ts';
import { benchmarkNamed } from '../../../src/benchmarks/named.ts';
import type { Tau1Task } from '../../../src/benchmarks/tau1/task.ts';
import type { Tau2Task } from '../../../src/benchmarks/tau2/task.ts';
import { tau2Prompt } from '../../../src/benchmarks/tau2/user-prompt.ts';
import { benchmarkLoader } from '../../../src/benchmarks/import/loader.ts';
import { BenchmarkDatabase } from '../../../src/benchmarks/import/database.ts';
import { customerQuality } from '../../../src/evaluation/customer-quality.ts';
import { resultOf } from '../../../src/evaluation/trial-result.ts';
import { MeteredUsers } from '../../../src/users/account.ts';
import { auditCustomer } from '../../../src/users/audit.ts';
import { EndpointUsers } from '../../../src/users/endpoint.ts';
import { STOP, type UserSimulator } from '../../../src/users/types.ts';
import { type ChatRequest, startChatServer } from '../../support/chat-server.ts';
import { stage } from '../../support/episodes.ts';
import { languageOf } from '../../../src/domains/languages.ts';
import { GENERATED_DOMAINS } from '../../../src/domains/registry.ts';

let close: (() => void) | undefined;
afterEach(() => close?.());

const call = (name: string, args: object = {}) => `<tool_call>\n${JSON.stringify({ name, arguments: args })}\n</tool_call>`;

const MOCK = {
  tasks: { task_1: { task_id: 'task_1', title: 'Tea', description: null, status: 'pending' } },
  users: { ada: { user_id: 'ada', name: 'Ada', tasks: ['task_1'] } },
};
const NOTIFICATIONS = { notifications: { notif_1: { notification_id: 'notif_1', message: 'Make tea.' } } };
const made = { id: 'c1', name: 'create_task', arguments: { user_id: 'ada', title: 'Cake' } };
const mockTasks: Tau2Task[] = [
  {
    id: 'dual',
    user_scenario: { persona: 'Brief.', instructions: { domain: 'mock', reason_for_call: 'You were told of a task.', unknown_info: null } },
    evaluation_criteria: {
      actions: [{ name: 'dismiss_notification', arguments: { notification_id: 'notif_1' }, requestor: 'user' }],
      env_assertions: [
        { env_type: 'assistant', func_name: 'assert_task_status', arguments: { task_id: 'task_1', expected_status: 'completed' } },
      ],
      communicate_info: ['1000 cups'],
      reward_basis: ['ENV_ASSERTION', 'ACTION', 'COMMUNICATE'],
    },
  },
  {
    id: 'resumed',
    user_scenario: { instructions: 'Have the cake task completed.' },
    initial_state: {
      message_history: [
        { role: 'user', content: 'I need a cake.' },
        { role: 'assistant', content: null, tool_calls: [made] },
        { role: 'tool', id: 'c1', content: '{"task_id": "task_2", "title": "Cake", "description": null, "status": "pending"}' },
        { role: 'assistant', content: 'There is a task now.' },
      ] as unknown as Json[],
    },
    evaluation_criteria: {
      actions: [{ name: 'update_task_status', arguments: { task_id: 'task_2', status: 'completed' } }],
      reward_basis: ['DB'],
    },
  },
  {
    id: 'judged',
    user_scenario: { instructions: 'Ask for task 1.' },
    evaluation_criteria: {
      actions: [],
      nl_assertions: ['The agent is polite.', 'The agent is brief.'],
      reward_basis: ['DB', 'NL_ASSERTION'],
    },
  },
];

const ADDRESS = { zip: '02101', city: 'Boston', address1: '1 Elm Street', address2: '', country: 'USA', state: 'MA' };
const SHOP = {
  products: {},
  users: {
    ada: { name: { first_name: 'Ada', last_name: 'Brown' }, address: ADDRESS, email: 'ada@example.com', payment_methods: {}, orders: [] },
  },
  orders: {},
};
const shopTasks: Tau1Task[] = [
  { id: 'test/0', user_id: 'ada', instruction: 'You are Ada Brown. You want to know your city.', actions: [], outputs: ['Boston'] },
];

let stores = 0;

function open(benchmark: Benchmark, domain: ExactDomain['name'], database: Json, userDatabase: Json | undefined, tasks: BenchmarkTask[]) {
  const tables = exactDomain(domain, benchmark).load(structuredClone(database), structuredClone(userDatabase));
  const imported: ImportedBenchmark = {
    benchmark,
    domain,
    database,
    tables,
    tasks,
    splits: { test: tasks.map(({ id }) => id) },
    absent: {},
    policy: 'Be kind.',
  };
  const load: LoadBenchmark = async () => ({ id: `${benchmark}/${domain}/1`, imported });
  return createEnvironments({
    databaseName: `imported-${stores++}`,
    domains: [importedDomain(benchmarkNamed(benchmark), exactDomain(domain, benchmark), load)],
  });
}

async function play(environments: ReturnType<typeof open>, task: Task, agent: string[], users: UserSimulator) {
  const domain = await environments.domain(task.domain, task.level);
  const { options } = stage({ agent, user: [], task, domain, users, limits: { max_model_len: 16384 }, maxModelLen: 16384 });
  return runEpisode({ ...options, environments });
}

const query = (domain: string) => ({ domain, level: 'full', split: 'heldout', seed: 0, count: 10 }) as const;

it('plays an imported tau2 task with dual control, and scores it by its own criteria', async () => {
  const environments = open('tau2', 'mock', MOCK, NOTIFICATIONS, mockTasks);
  const [task] = await environments.tasks(query('tau2-mock'));
  expect(task).toMatchObject({
    id: 'tau2-mock/full/heldout/dual',
    world: 'tau2/mock/1',
    noop: false,
    scenario: { instruction: 'Brief.\n\nreason for call: You were told of a task.', benchmark: 'tau2' },
  });
  const use = (name: string, args: object = {}) => ({
    content: null,
    tool_calls: [{ id: name, type: 'function', function: { name, arguments: JSON.stringify(args) } }],
  });
  const script = (said: string) => ({
    agent: [call('update_task_status', { task_id: 'task_1', status: 'completed' }), `${said}<|im_end|>`],
    user: [
      use('check_notifications'),
      { content: 'Task 1 is done.' },
      use('dismiss_notification', { notification_id: 'notif_1' }),
      { content: STOP },
    ],
  });
  const silent = script('Done.');
  const other = await startChatServer(silent.user);
  // Two of three criteria are met.
  expect(await play(environments, task!, silent.agent, new EndpointUsers({ baseUrl: other.url, model: 'm' }))).toMatchObject({
    ending: 'user_stop',
    reward: 0,
    verdict: {
      progress: 2 / 3,
      reward_info: {
        reward: 0,
        reward_breakdown: { ENV_ASSERTION: 1, ACTION: 1, COMMUNICATE: 0 },
        communicate_checks: [{ info: '1000 cups', met: false }],
      },
    },
  });
  other.close();
  const { agent, user } = script('That makes 1,000 cups.');
  const server = await startChatServer(user);
  close = server.close;
  const trajectory = await play(environments, task!, agent, new EndpointUsers({ baseUrl: server.url, model: 'm' }));
  expect(trajectory).toMatchObject({
    ending: 'user_stop',
    reward: 1,
    userCalls: [{ call: { name: 'check_notifications' } }, { call: { name: 'dismiss_notification' } }],
  });
  expect(trajectory.userCalls![0]!.text).toContain('Make tea.');
  expect(JSON.stringify(toMessages(trajectory))).not.toContain('notification');
  expect(JSON.stringify(server.requests)).not.toContain('update_task_status');
  // The benchmark's rules give the customer its prompt, with the part about the customer's tools.
  expect(server.requests[0]!.messages[0]!.content).toBe(tau2Prompt(task!.scenario.instruction, true));
});

it('continues a conversation that has a history', async () => {
  const environments = open('tau2', 'mock', MOCK, NOTIFICATIONS, mockTasks);
  const [, task] = await environments.tasks(query('tau2-mock'));
  const server = await startChatServer([{ content: 'Complete it.' }, { content: STOP }]);
  close = server.close;
  const trajectory = await play(
    environments,
    task!,
    [call('update_task_status', { task_id: 'task_2', status: 'completed' }), 'Done.<|im_end|>'],
    new EndpointUsers({ baseUrl: server.url, model: 'm' }),
  );
  expect(trajectory).toMatchObject({ ending: 'user_stop', reward: 1 });
  expect(toMessages(trajectory).messages.map(({ role }) => role)).toEqual([
    'system',
    'user',
    'assistant',
    'tool',
    'assistant',
    'user',
    'assistant',
    'tool',
    'assistant',
    'user',
  ]);
  expect(server.requests[0]!.messages.slice(1)).toEqual([
    { role: 'assistant', content: 'I need a cake.' },
    { role: 'user', content: 'There is a task now.' },
  ]);
  const idle = await startChatServer([{ content: STOP }]);
  expect(await play(environments, task!, [], new EndpointUsers({ baseUrl: idle.url, model: 'm' }))).toMatchObject({
    ending: 'user_stop',
    reward: 0,
  });
  idle.close();
});

it('asks the judge about assertions in natural language, with the whole conversation', async () => {
  const environments = open('tau2', 'mock', MOCK, NOTIFICATIONS, mockTasks);
  const [, , task] = await environments.tasks(query('tau2-mock'));
  const agent = [call('get_users'), 'There is one.<|im_end|>'];
  const judged = async (answers: object[], config: Partial<EndpointConfig> = {}) => {
    const server = await startChatServer([{ content: 'What is there?' }, { content: STOP }, ...answers]);
    const trajectory = await play(
      environments,
      task!,
      agent,
      new EndpointUsers({ baseUrl: server.url, model: 'm', maxRetries: 1, ...config }, { backoffMs: 1 }),
    );
    server.close();
    return { trajectory, requests: server.requests };
  };
  const verdict = (...met: boolean[]) => ({
    content: `As JSON: {"results": ${JSON.stringify(met.map((value, i) => ({ statement: i + 1, reason: 'so', met: value })))}}`,
  });
  const good = await judged([verdict(true, true)], { judgeModel: 'j' });
  expect(good.trajectory).toMatchObject({
    reward: 1,
    verdict: { progress: 1, reward_info: { info: null, reward_breakdown: { DB: 1, NL_ASSERTION: 1 } } },
  });
  const [, , { model, messages }] = good.requests as [unknown, unknown, ChatRequest];
  expect(model).toBe('j');
  expect(messages[1]!.content).toMatch(
    /Customer: What is there\?\nAgent: <tool_call>[^]*get_users[^]*\nTool: [^]*ada[^]*\nAgent: There is one\.\nCustomer: ###STOP###\n\nStatements:\n1\. The agent is polite\.\n2\. The agent is brief\.$/,
  );
  expect((await judged([verdict(true, false)])).trajectory).toMatchObject({
    reward: 0,
    verdict: { progress: 2 / 3, reward_info: { nl_assertions: [{ met: true }, { nl_assertion: 'The agent is brief.', met: false }] } },
  });
  // An invalid answer is requested again. If the judge gives no valid answer, the episode has no score.
  expect((await judged([verdict(true), verdict(true, true)])).trajectory).toMatchObject({ reward: 1 });
  expect((await judged([verdict(true), { content: 'Both.' }])).trajectory).toMatchObject({
    reward: null,
    termination: 'user_error',
    error: 'the judge "m" did not answer with a verdict on 2 statements (after 2 attempts)',
  });
});

it('asks the judge about the faults of a customer that rules cannot find, if that is wanted', async () => {
  const environments = open('tau2', 'mock', MOCK, NOTIFICATIONS, mockTasks);
  const [, , given] = await environments.tasks(query('tau2-mock'));
  // Without statements of the benchmark, the judge has only the customer to judge.
  const task = { ...given!, benchmark: { ...given!.benchmark, evaluation_criteria: null } } as Task;
  const verdict = (...met: boolean[]) => ({ content: JSON.stringify({ results: met.map((value) => ({ met: value })) }) });
  const judged = async (answer: object, config: Partial<EndpointConfig> = { judgeCustomer: true, judgeModel: 'j' }) => {
    const server = await startChatServer([{ content: 'What is there?' }, { content: STOP }, answer]);
    const client = new EndpointUsers({ baseUrl: server.url, model: 'm', maxRetries: 0, ...config });
    const users = new MeteredUsers(client, {});
    const trajectory = await play(environments, task, [call('get_users'), 'There is one.<|im_end|>'], users);
    server.close();
    return {
      trajectory,
      requests: server.requests as ChatRequest[],
      result: resultOf(trajectory),
      audit: auditCustomer(trajectory, task, languageOf(task.domain)),
      users,
    };
  };

  const faulty = await judged(verdict(true, false, true));
  expect(faulty.requests).toHaveLength(3);
  expect(faulty.requests[2]!.model).toBe('j');
  expect(faulty.requests[2]!.messages[1]!.content).toMatch(
    /^Conversation:\nThe customer's instruction: [^]*Customer: What is there\?[^]*3\. The instruction says/,
  );
  expect(faulty.users.takeMetrics()).toMatchObject({ 'user/calls': 3 });
  const users = faulty.trajectory.nodes.filter(({ role }) => role === 'user').map(({ id }) => id);
  expect(faulty.audit.faults.filter(({ judge }) => judge)).toEqual([
    { kind: 'ended_too_early', message: users.at(-1), detail: 'The model j found this fault.', judge: 'j' },
    { kind: 'told_everything', message: users[0], detail: 'The model j found this fault.', judge: 'j' },
  ]);
  expect(faulty.audit).toMatchObject({
    skipped: [],
    judged: { model: 'j', checks: ['ended_too_early', 'contradicted', 'told_everything'] },
  });
  expect(faulty.result).toMatchObject({ judged: true, faults: expect.arrayContaining(['ended_too_early', 'told_everything']) });
  expect(customerQuality([faulty.result])).toMatchObject({ episodes: 1, judged: 1, faulty: 1 });

  const sound = await judged(verdict(false, false, false), { judgeCustomer: true });
  expect(sound.requests[2]!.model).toBe('m');
  expect(sound.audit.faults).toEqual([]);

  // If the judge fails, the episode still counts. Without the setting, no judge is asked.
  const silent = await judged({ content: 'All is well.' });
  expect(silent.trajectory).toMatchObject({ termination: 'user_stop', customerJudgement: { checked: [], found: [] } });
  expect(silent.trajectory.reward).not.toBeNull();
  expect(silent.audit.skipped[0]!.why).toContain('the judge "j" did not answer with a verdict on 3 statements');
  expect(silent.result.judged).toBeUndefined();
  const off = await judged(verdict(true, true, true), {});
  expect(off.requests).toHaveLength(2);
  expect(off.trajectory.customerJudgement).toBeUndefined();
});

it('reads the newest import of a domain from storage, once', async () => {
  const database = new BenchmarkDatabase('loader');
  const load = benchmarkLoader(database);
  await expect(load('tau1', 'retail')).rejects.toThrow("'tau1-retail' has not been imported");
  const shop = {
    benchmark: 'tau1',
    domain: 'retail',
    database: SHOP as Json,
    tables: new Map(),
    tasks: shopTasks,
    splits: { test: ['test/0'] },
    absent: {},
    policy: 'Be kind.',
  } satisfies ImportedBenchmark;
  const first = await database.store(shop);
  expect(await load('tau1', 'retail')).toMatchObject({ id: first.id, imported: { policy: 'Be kind.' } });
  expect((await load('tau1', 'retail')).imported).toBe((await load('tau1', 'retail')).imported);
  await new Promise((resolve) => setTimeout(resolve, 5));
  await database.store({ ...shop, policy: 'Be kinder.' });
  expect(await load('tau1', 'retail')).toMatchObject({ imported: { policy: 'Be kinder.' } });
  const environments = createEnvironments({
    databaseName: 'with-imports',
    domains: [...GENERATED_DOMAINS, ...importedDomains(load)],
  });
  const [task] = await environments.tasks(query('tau1-retail'));
  const episode = await environments.start(task!);
  expect(await environments.verify(episode, ['Boston'])).toMatchObject({ reward: 1 });
  await expect(environments.tasks(query('tau2-airline'))).rejects.toThrow("'tau2-airline' has not been imported");
  await expect(environments.start({ ...task!, world: first.id })).rejects.toThrow('is no longer imported');
  const copies = await new Dexie('with-imports').open();
  expect([await copies.table('worlds').count(), await copies.table('rows').count()]).toEqual([0, 0]);
  copies.close();
  await environments.close(episode);
});

it('plays an imported tau1 task, whose outputs must be said', async () => {
  const environments = open('tau1', 'retail', SHOP, undefined, shopTasks);
  const [task] = await environments.tasks(query('tau1-retail'));
  expect(task).toMatchObject({ noop: true, scenario: { benchmark: 'tau1' } });
  const users: UserSimulator = { session: () => ({ open: async () => 'Where do I live?', reply: async () => STOP }) };
  expect(await play(environments, task!, ['In Boston.<|im_end|>'], users)).toMatchObject({ termination: 'user_stop', reward: 1 });
  expect(await play(environments, task!, ['I do not know.<|im_end|>'], users)).toMatchObject({ termination: 'user_stop', reward: 0 });
  expect(await environments.tasks({ ...query('tau1-retail'), split: 'train' })).toEqual([]);
});

it('plays the selected tasks: a split by its name, or tasks by their ids', async () => {
  const environments = open('tau2', 'mock', MOCK, NOTIFICATIONS, mockTasks);
  const ask = async (select: { split: string } | { ids: string[] }, more = {}) =>
    (await environments.tasks({ ...query('tau2-mock'), select, ...more })).map(({ id }) => id);
  expect(await ask({ split: 'test' })).toEqual(['tau2-mock/full/test/dual', 'tau2-mock/full/test/resumed', 'tau2-mock/full/test/judged']);
  expect(await ask({ ids: ['resumed', 'dual', 'resumed'] })).toEqual(['tau2-mock/full/heldout/resumed', 'tau2-mock/full/heldout/dual']);
  expect(await ask({ split: 'test' }, { count: 1, from: 1 })).toEqual(['tau2-mock/full/test/resumed']);
  await expect(ask({ split: 'base' })).rejects.toThrow(
    expect.objectContaining({ name: 'InputError', message: "split: the mock data has no 'base'; it has test (3)" }),
  );
  await expect(ask({ split: 'constructor' })).rejects.toThrow("no 'constructor'");
  await expect(ask({ ids: ['dual', 'none'] })).rejects.toThrow(
    "task ids: 'none' is not among the 3 mock tasks of the data, such as 'dual'",
  );
  const shop = open('tau1', 'retail', SHOP, undefined, shopTasks);
  expect(await shop.tasks({ ...query('tau1-retail'), select: { ids: ['0'] } })).toMatchObject([{ id: 'tau1-retail/full/heldout/test/0' }]);
  await expect(
    createEnvironments({ databaseName: 'generated', domains: GENERATED_DOMAINS }).tasks({
      ...query('retail'),
      level: 'nano',
      select: { split: 'test' },
    }),
  ).rejects.toThrow("tasks of 'retail' are generated");
});

it('keeps the order of a row’s keys after a call', async () => {
  const environments = open('tau1', 'retail', SHOP, undefined, shopTasks);
  const [task] = await environments.tasks(query('tau1-retail'));
  const episode = await environments.start(task!);
  const look = { name: 'get_user_details', arguments: { user_id: 'ada' } };
  const before = await environments.call(episode, look);
  const changed = await environments.call(episode, { name: 'modify_user_address', arguments: { user_id: 'ada', ...ADDRESS } });
  expect(changed).toMatchObject({ error: false, changes: [] });
  expect(changed.text).not.toBe(before.text);
  expect((await environments.call(episode, look)).text).toBe(changed.text);
  expect((await environments.verify(episode, ['Boston'])).reward).toBe(1);
});
