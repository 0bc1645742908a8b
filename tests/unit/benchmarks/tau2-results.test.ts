/** Our episodes in tau2-bench's format, read back by our reader and scored again. */
import 'fake-indexeddb/auto';
import { expect, test } from 'vitest';
import { runEpisode } from '../../../src/agent/episode.ts';
import type { Tau2Task } from '../../../src/benchmarks/tau2/task.ts';
import type { Json } from '../../../src/records/json.ts';
import type { Trajectory } from '../../../src/records/trajectory.ts';
import type { ImportedBenchmark } from '../../../src/benchmarks/imported-benchmark.ts';
import { exactDomain } from '../../support/exact-domains.ts';
import { importedDomain } from '../../../src/benchmarks/imported-domain.ts';
import { createEnvironments } from '../../../src/environments/index.ts';
import { benchmarkNamed } from '../../../src/benchmarks/named.ts';
import { rescore } from '../../../src/benchmarks/rescore.ts';
import { readResults } from '../../../src/benchmarks/recorded-results.ts';
import { writeTau2Results } from '../../../src/benchmarks/tau2/write-results.ts';
import { STOP, type UserSimulator, type UserTools } from '../../../src/users/types.ts';
import { domain as desk, stage, task as deskTask } from '../../support/episodes.ts';

const call = (name: string, args: object = {}) => `<tool_call>\n${JSON.stringify({ name, arguments: args })}\n</tool_call>`;
const say = (text: string) => `${text}<|im_end|>`;
const DONE = call('update_task_status', { task_id: 'task_1', status: 'completed' });

const database = {
  tasks: { task_1: { task_id: 'task_1', title: 'Tea', description: null, status: 'pending' } },
  users: { ada: { user_id: 'ada', name: 'Ada', tasks: ['task_1'] } },
};
const userDatabase = { notifications: { notif_1: { notification_id: 'notif_1', message: 'Make tea.' } } };
const tasks: Tau2Task[] = [
  {
    id: 'dual',
    user_scenario: { persona: 'Brief.', instructions: 'Have the tea task done.' },
    evaluation_criteria: {
      actions: [{ action_id: 'd', name: 'dismiss_notification', arguments: { notification_id: 'notif_1' }, requestor: 'user' }],
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
        { role: 'assistant', content: null, tool_calls: [{ id: 'c1', name: 'create_task', arguments: { user_id: 'ada', title: 'Cake' } }] },
        { role: 'tool', id: 'c1', content: '{"task_id": "task_2", "title": "Cake", "description": null, "status": "pending"}' },
        { role: 'assistant', content: 'There is a task now.' },
      ] as unknown as Json[],
    },
    evaluation_criteria: {
      actions: [{ action_id: 'u', name: 'update_task_status', arguments: { task_id: 'task_2', status: 'completed' } }],
      reward_basis: ['DB'],
    },
  },
];
const mock = exactDomain('mock', 'tau2');
const imported = {
  benchmark: 'tau2',
  domain: 'mock',
  database,
  userDatabase,
  tables: mock.load(structuredClone(database), structuredClone(userDatabase)),
  tasks,
  splits: { test: tasks.map(({ id }) => id) },
  absent: {},
  policy: 'Be kind.',
} satisfies ImportedBenchmark;
const environments = createEnvironments({
  databaseName: 'tau2-results',
  domains: [importedDomain(benchmarkNamed('tau2'), mock, async () => ({ id: 'tau2/mock/1', imported }))],
});
const domain = await environments.domain('tau2-mock', 'full');
const [dual, resumed] = await environments.tasks({ domain: 'tau2-mock', level: 'full', split: 'heldout', seed: 0, count: 2 });

/** Says these lines. Before the line with the given index (0: the first message) it makes calls. */
const user = (lines: string[], calls: Record<number, { name: string; arguments: Record<string, Json> }[]> = {}): UserSimulator => ({
  session(_, __, tools?: UserTools) {
    let line = 0;
    const next = async () => {
      for (const made of calls[line] ?? []) await tools!.call([made]);
      return lines[line++]!;
    };
    return { open: next, reply: next };
  },
});

const limits = { maxSteps: 200, maxErrors: 10 };
const info = { domain, trials: 2, seed: 7, agent: 'nano-retail', user: null, temperature: 1, startedAt: Date.UTC(2026, 0, 2), limits };

async function play(
  index: number,
  task: typeof dual,
  agent: string[],
  users: UserSimulator,
  changes: Partial<Parameters<typeof stage>[0]> = {},
): Promise<Trajectory> {
  const { options } = stage({
    agent,
    user: [],
    task,
    domain,
    users,
    maxModelLen: 16384,
    ...changes,
    limits: { max_model_len: 16384, ...changes.limits },
  });
  return runEpisode({ ...options, environments, index });
}

const dismiss = { name: 'dismiss_notification', arguments: { notification_id: 'notif_1' } };

test('written results are read back with the same calls, texts and rewards', async () => {
  const trajectories = [
    await play(
      0,
      dual,
      [DONE, say('That makes 1,000 cups.')],
      user(['My tea?', STOP], {
        0: [{ name: 'check_notifications', arguments: {} }],
        1: [dismiss, { name: 'toggle_data', arguments: {} }],
      }),
    ),
    await play(1, dual, [DONE, say('Done.')], user(['My tea?', `Thanks. ${STOP}`], { 1: [dismiss] })),
    await play(
      0,
      resumed,
      [call('update_task_status', { task_id: 'task_2', status: 'completed' }), say('Done.')],
      user(['Complete it.', STOP]),
    ),
    // Malformed calls until the limit are not a proper end.
    await play(1, resumed, ['<tool_call>\n{"name": \n</tool_call>', call('get_users')], user(['Complete it.', STOP]), {
      rules: { maxSteps: 5 },
    }),
  ];
  const results = writeTau2Results(trajectories, info);
  expect(results).toMatchObject({
    timestamp: '2026-01-02T00:00:00.000Z',
    info: {
      num_trials: 2,
      max_steps: 200,
      environment_info: { domain_name: 'mock', policy: 'Be kind.' },
      user_info: { implementation: 'scripted', llm: null },
    },
  });
  expect(results.tasks).toEqual(tasks);
  expect(
    results.simulations.map(({ task_id, trial, termination_reason, reward_info }) => [
      task_id,
      trial,
      termination_reason,
      reward_info!.reward,
    ]),
  ).toEqual([
    ['dual', 0, 'user_stop', 1],
    ['dual', 1, 'user_stop', 0],
    ['resumed', 0, 'user_stop', 1],
    ['resumed', 1, 'max_steps', 0],
  ]);
  expect(results.simulations[1]!.reward_info).toMatchObject({ reward_breakdown: { ENV_ASSERTION: 1, ACTION: 1, COMMUNICATE: 0 } });
  expect(results.simulations[3]!.reward_info).toMatchObject({
    reward_basis: null,
    info: { note: 'the conversation was ended by max_turns' },
  });

  const runs = await readResults('ours.json', JSON.parse(JSON.stringify(results)) as Json, 'tau2');
  expect(runs.map(({ problems }) => problems)).toEqual([[], [], [], []]);
  expect(
    runs[0]!.conversation.turns.map((turn) =>
      turn.kind === 'said' ? `${turn.role}: ${turn.text}` : `${turn.call.requestor} ${turn.call.name}`,
    ),
  ).toEqual([
    'assistant: Hi! How can I help you today?',
    'user check_notifications',
    'user: My tea?',
    'assistant update_task_status',
    'assistant: That makes 1,000 cups.',
    'user dismiss_notification',
    'user toggle_data',
    `user: ${STOP}`,
  ]);
  // The history is complete and occurs once. Malformed calls are not messages.
  expect(runs[3]!.conversation.turns.map((turn) => (turn.kind === 'said' ? turn.text : turn.call.name))).toEqual([
    'I need a cake.',
    'create_task',
    'There is a task now.',
    'Complete it.',
    'get_users',
  ]);
  const { summary, runs: rescored } = await rescore(imported as ImportedBenchmark, runs);
  expect(summary).toMatchObject({ runs: 4, same: 4, different: 0, unjudged: 0, observations_different: 0 });
  expect(rescored.map(({ reward }) => reward)).toEqual([1, 0, 1, 0]);
});

test('episodes of other domains get tasks in tau2’s format; texts are kept, and a failed user gives no reward', async () => {
  const tau1 = { ...deskTask, benchmark: { id: 'test/3', user_id: 'u', instruction: 'Cancel.', actions: [], outputs: ['10'] } };
  const spoken = await runEpisode(
    stage({
      agent: ['<tool_call>oops</tool_call> Sorry'.concat('<|im_end|>'), say('Bye.')],
      user: ['Cancel.', 'What?', STOP],
      limits: { malformed_policy: 'as_text' },
      task: tau1,
    }).options,
  );
  const failed = await runEpisode(stage({ agent: [], user: [new Error('no network')] }).options);
  const { tasks: written, simulations } = writeTau2Results([spoken, failed], {
    ...info,
    domain: desk,
    user: 'gpt',
    limits: { maxSteps: Infinity, maxErrors: Infinity },
  });
  expect(written).toMatchObject([
    { id: 'test/3', evaluation_criteria: { communicate_info: ['10'], reward_basis: ['DB', 'COMMUNICATE'] } },
    {
      id: 'desk/nano/train/0/0',
      evaluation_criteria: { actions: [{ action_id: '0', requestor: 'assistant', name: 'cancel_pending_order' }], reward_basis: ['DB'] },
    },
  ] satisfies object[] as Partial<Tau2Task>[]);
  expect(simulations).toMatchObject([
    { termination_reason: 'user_stop', reward_info: { reward: 0, reward_basis: ['DB'] } },
    { termination_reason: 'user_error', reward_info: null },
  ]);
  const words = simulations[0]!.messages.map((message) => (message as { content: string | null }).content);
  expect(words.filter((text) => text?.includes('oops'))).toHaveLength(1);
  expect(JSON.parse(JSON.stringify(simulations[0]!.messages[1]))).toMatchObject({
    raw_data: { text: expect.stringContaining('<tool_call>') as string },
  });
});
