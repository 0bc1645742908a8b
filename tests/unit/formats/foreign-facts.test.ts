/** Imported runs are shown as what their files say: rewards on their scale, parts, columns, endings, failures. */
import { expect, test } from 'vitest';
import { writesOf } from '../../../src/agent/trajectory.ts';
import { totalReward } from '../../../src/base/total-reward.ts';
import { readForeign } from '../../../src/formats/read-foreign.ts';
import { trajectoryLine } from '../../../src/formats/rollout-lines.ts';
import { type ReadOnlyRunOptions, readOnlyRun } from '../../../src/trainer/read-only-run.ts';

const read = (rows: readonly object[], file = 'run.jsonl') =>
  readForeign(file, new TextEncoder().encode(rows.map((row) => JSON.stringify(row)).join('\n')));
async function run(rows: readonly object[], options: Partial<ReadOnlyRunOptions> = {}) {
  const { rollouts, source, notes } = await read(rows);
  return { ...readOnlyRun(rollouts, { createdAt: 1, source, ...options }), notes };
}
const said = { prompt: [{ role: 'user', content: 'Cancel #W1' }], completion: [{ role: 'assistant', content: 'Done.' }] };
/** TRL with two reward functions: the reward is their sum. */
const SHAPED = [
  { step: 1, ...said, outcome_reward: 1, format_reward: 0.04, advantage: 0.7, level: 'easy', latency: 2 },
  { step: 1, ...said, outcome_reward: 0, format_reward: 0.3, advantage: -0.7, level: 'hard', latency: 4 },
  { step: 4, ...said, outcome_reward: 1, format_reward: 0.5, advantage: 0, level: 'hard', latency: 1 },
];

test('parts of the reward by name, their scale, and success by the part that is 0 or 1', async () => {
  const { run: row, trajectories, metrics } = await run(SHAPED);
  expect(trajectories.map((own) => [own.reward, own.foreign?.reward, totalReward(own), own.rewards])).toEqual([
    [1, 1.04, 1.04, { outcome_reward: 1, format_reward: 0.04 }],
    [0, 0.3, 0.3, { outcome_reward: 0, format_reward: 0.3 }],
    [1, 1.5, 1.5, { outcome_reward: 1, format_reward: 0.5 }],
  ]);
  expect(row.foreign).toEqual({ success: 'outcome_reward>=1' });
  expect(metrics.map((step) => step['critic/score/mean'])).toEqual([0.5, 1]);
  expect(metrics[0]!['critic/rewards/mean']).toBeCloseTo((1.04 + 0.3) / 2, 12);
  expect(metrics[0]!['reward/format_reward/mean']).toBeCloseTo(0.17, 12);
});

test('other columns are facets and metrics', async () => {
  const { trajectories, metrics, rollouts } = await run(SHAPED);
  expect(trajectories.map(({ foreign }) => foreign?.columns)).toEqual(SHAPED.map(({ level, latency }) => ({ level, latency })));
  expect(rollouts[0]!.foreign).toEqual(trajectories[0]!.foreign);
  expect(metrics.map((step) => step['column/latency/mean'])).toEqual([3, 1]);
});

test('the visitor’s rule decides, and none leaves the success open', async () => {
  expect((await run(SHAPED, { success: 'reward >= 1.1' })).trajectories.map(({ reward }) => reward)).toEqual([0, 0, 1]);
  expect((await run(SHAPED, { success: 'level=hard' })).trajectories.map(({ reward }) => reward)).toEqual([0, 1, 1]);
  const { run: row, trajectories, metrics } = await run(SHAPED, { success: null });
  expect(trajectories.map(({ reward }) => reward)).toEqual([null, null, null]);
  expect(row.foreign).toEqual({});
  expect(Object.keys(metrics[0]!).filter((name) => /score|correct|wrong|valid/.test(name))).toEqual([]);
  expect(metrics[0]!['rollout/dropped']).toBe(0);
});

test('columns of texts are judged by what they say; an empty one says nothing', async () => {
  const rows = ['True', 'false', '', '1', '0.0', 'maybe'].map((passed) => ({ ...said, reward: 0.5, passed }));
  const judged = async (success: string) => (await run(rows, { success })).trajectories.map(({ reward }) => reward);
  expect(await judged('passed=true')).toEqual([1, 0, null, 1, 0, 0]);
  expect(await judged('passed=0')).toEqual([0, 1, null, 0, 1, 0]);
  expect(await judged('passed=maybe')).toEqual([0, 0, null, 0, 0, 1]);
});

test.each([
  ['reward', /expected NAME>=VALUE/],
  ['>=1', /expected NAME>=VALUE/],
  ['outcome>=1', /expected one of the names "reward, .*outcome_reward/],
  ['reward>=high', /expected a number after >=/],
])('the rule %j is refused', async (success, words) => {
  await expect(run(SHAPED, { success })).rejects.toThrow(words);
});

test('a reward without a clear outcome suggests no rule; 0 and 1 do', async () => {
  const scored = (values: unknown[]) => values.map((reward) => ({ ...said, reward }));
  expect((await run(scored([0.2, 0.9, 1]))).run.foreign).toEqual({});
  expect((await run(scored([0, 1]))).run.foreign).toEqual({ success: 'reward>=1' });
  expect((await run(scored([-1, 1]).map((row, i) => ({ ...row, acc: i === 1 })))).run.foreign).toEqual({ success: 'acc>=1' });
  expect((await run([{ ...said }, { ...said }])).run.foreign).toEqual({});
});

test('parts that add up to the reward are its parts, others are columns', async () => {
  const parts = { ...said, reward: 1.5, rewards: { correct: 1, style: 0.5 } };
  const weighted = { ...said, reward: 2.5, correct_reward: 1, style_reward: 0.5 };
  expect((await run([parts])).trajectories[0]).toMatchObject({ rewards: { correct: 1, style: 0.5 }, foreign: { reward: 1.5 } });
  const { trajectories, notes } = await run([weighted]);
  expect(trajectories[0]!.rewards).toBeUndefined();
  expect(trajectories[0]!.foreign).toEqual({ reward: 2.5, columns: { correct_reward: 1, style_reward: 0.5 } });
  expect(notes.join()).toContain('do not add up to the reward');
});

test('two objects of a row with a field of the same name keep both values, and a part of the reward keeps its name', async () => {
  const told = { info: { style: 7, level: 'easy' }, rewards: { correct: 1, style: 0.5 }, task_info: { level: 'hard' } };
  const { trajectories } = await run([{ ...said, reward: 1.5, ...told }]);
  expect(trajectories[0]).toMatchObject({ rewards: { correct: 1, style: 0.5 }, foreign: { reward: 1.5 } });
  expect(trajectories[0]!.foreign!.columns).toEqual({ 'info.style': 7, level: 'easy', 'task_info.level': 'hard' });
});

test('a note says that a row has more columns than are kept', async () => {
  const columns = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, i) => [`c${i}`, i]));
  const kept = await run([{ ...said, reward: 1, ...columns(60) }]);
  const cut = await run([{ ...said, reward: 1, ...columns(61) }]);
  expect([kept.notes, cut.notes]).toEqual([[], ['only the first 60 of the other columns are kept (first in line 1)']]);
  expect(cut.trajectories[0]!.foreign).toEqual({ reward: 1, columns: columns(60) });
});

test('verl’s dictionary of scores: the score is the reward, the rest are columns', async () => {
  const { trajectories } = await run([
    { input: 'user\nHi\nassistant\n', output: 'Ho', score: { score: 0.5, acc: true, pred: 'Ho' }, step: 2 },
  ]);
  expect(trajectories[0]!.foreign).toEqual({ reward: 0.5, columns: { acc: true, pred: 'Ho' } });
  expect(trajectories[0]!.reward).toBe(1);
});

test('infrastructure failures are left out of the mean, and shown with their ending', async () => {
  const { trajectories, rollouts, metrics } = await run([
    { ...said, reward: 1, stop_condition: 'no_tools_called' },
    { ...said, reward: 0, stop_condition: 'max_turns_reached' },
    { ...said, reward: 0, stop_condition: 'infrastructure_error' },
    { ...said, reward: 0, error: 'the server was gone' },
  ]);
  expect(trajectories.map(({ reward }) => reward)).toEqual([1, 0, null, null]);
  expect(trajectories.map(({ error }) => error)).toEqual([undefined, undefined, 'infrastructure_error', 'the server was gone']);
  expect(trajectories.map(({ termination }) => termination)).toEqual(['unknown', 'max_turns', 'aborted', 'aborted']);
  expect(rollouts.map(({ ending }) => ending)).toEqual(['no_tools_called', 'max_turns_reached', 'infrastructure_error', undefined]);
  expect(metrics[0]).toMatchObject({ 'critic/score/mean': 0.5, 'critic/rewards/mean': 0.5, 'rollout/dropped': 2 });
});

test('writes are the calls of the tools that the visitor names; without a list they are not known', async () => {
  const call = (name: string) => ({ role: 'assistant', content: '', tool_calls: [{ function: { name, arguments: {} } }] });
  const messages = [
    { role: 'user', content: 'Refund it' },
    call('get_order'),
    { role: 'tool', content: '{}' },
    call('refund_order'),
    { role: 'tool', content: 'ok' },
  ];
  const named = await run([{ messages, reward: 1 }], { writes: ['refund_order'] });
  expect(writesOf(named.trajectories[0]!)).toBe(1);
  expect(named.metrics[0]!['writes/mean']).toBe(1);
  expect(named.run.foreign?.writes).toEqual(['refund_order']);
  expect((await run([{ messages, reward: 1 }])).metrics[0]).not.toHaveProperty('writes/mean');
});

test('the run has no setting, preset or audit that the file lacks', async () => {
  const { run: row, metrics } = await run(SHAPED);
  expect(Object.keys(row.config).sort()).toEqual(['domain', 'level', 'n', 'seed', 'total_training_steps', 'train_batch_size']);
  expect(row.request).toMatchObject({ preset: '', model: 'TRL', overrides: {} });
  expect(Object.keys(metrics[0]!).filter((name) => /violations|handover|unknown|diversity|writes/.test(name))).toEqual([]);
});

test('written and read again: rewards, parts, columns and endings stay', async () => {
  const rows = SHAPED.map((row) => ({ ...row, stop_condition: 'no_tools_called' }));
  const first = await run(rows);
  const lines = first.trajectories.map((own, i) => trajectoryLine(own, first.rollouts[i]));
  const second = await run(lines as object[]);
  const facts = ({ trajectories }: typeof first) =>
    trajectories.map(({ reward, rewards, foreign, ending }) => ({ reward, rewards, foreign, ending }));
  expect(facts(second)).toEqual(facts(first));
});
