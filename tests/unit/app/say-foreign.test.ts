/** What a visitor says of an imported run: stored, changed, exported and shown. */
import 'fake-indexeddb/auto';
import { render } from 'svelte/server';
import { expect, test } from 'vitest';
import { foreignCharts } from '../../../src/app/charts/foreign-charts.ts';
import { turnsOf } from '../../../src/app/conversation/aligned/acts.ts';
import GroupPicture from '../../../src/app/group/GroupPicture.svelte';
import { shadesOf } from '../../../src/app/grpo/act-tree.ts';
import { endingText, ruleLabel } from '../../../src/app/labels/labels.ts';
import { Library } from '../../../src/app/library/library.ts';
import { groupRollouts } from '../../../src/app/run-data/groups.ts';
import { RolloutIndex } from '../../../src/app/run-data/rollout-filter.ts';
import { readQuery } from '../../../src/app/routes/routes.ts';
import { readForeign } from '../../../src/formats/read-foreign.ts';
import { readRunBundle } from '../../../src/exchange/run-bundle.ts';
import { writeRunBundle } from '../../../src/exchange/write-run-bundle.ts';
import { RunDatabase } from '../../../src/storage/database.ts';
import { foreignOptions, trialOptions } from '../../../src/trainer/foreign-conversation.ts';
import { importedEvaluations } from '../../../src/trainer/imported-evaluation.ts';
import { readOnlyRun } from '../../../src/trainer/read-only-run.ts';
import Provided from '../../component/Provided.svelte';

const call = { role: 'assistant', content: '', tool_calls: [{ function: { name: 'refund_order', arguments: {} } }] };
const said = { prompt: [{ role: 'user', content: 'Refund #W1' }], completion: [call, { role: 'tool', content: 'ok' }] };
const ROWS = [
  { step: 1, ...said, accuracy_reward: 1, style_reward: 0.5, advantage: 1, level: 'easy' },
  { step: 1, ...said, accuracy_reward: 0, style_reward: 0.1, advantage: -1, level: 'hard', stop_condition: 'max_turns_reached' },
  { step: 4, ...said, accuracy_reward: 1, style_reward: 0.25, advantage: 0, level: 'hard' },
];

async function imported(name: string, success?: string | null) {
  const { rollouts, source } = await readForeign('trl.jsonl', new TextEncoder().encode(ROWS.map((row) => JSON.stringify(row)).join('\n')));
  const db = new RunDatabase(name);
  const library = new Library(db, []);
  const content = readOnlyRun(rollouts, { createdAt: 1, source, name: 'trl', ...(success !== undefined && { success }) });
  return { db, library, content, run: await library.storeRun(content) };
}

test('another rule changes outcomes, summaries and metrics, and a wrong rule changes nothing', async () => {
  const { library, run } = await imported('another-rule');
  const source = library.source(run);
  const state = async () => ({
    outcomes: (await source.rollouts(run)).map(({ reward }) => reward),
    scores: (await source.metrics(run)).map((values) => values['critic/score/mean']),
    said: (await source.run(run))!.foreign,
  });
  expect(await state()).toEqual({ outcomes: [1, 0, 1], scores: [0.5, 1], said: { success: 'accuracy_reward>=1' } });
  const words = { success: 'reward>=1.4', writes: ['refund_order'] };
  await library.sayForeign(run, words);
  const changed = { outcomes: [1, 0, 0], scores: [0.5, 0], said: words };
  expect(await state()).toEqual(changed);
  expect((await source.rollouts(run)).map(({ writes }) => writes)).toEqual([1, 1, 1]);
  await expect(library.sayForeign(run, { success: 'nothing>=1' })).rejects.toThrow('expected one of the names');
  expect(await state()).toEqual(changed);
  await library.sayForeign(run, { success: null });
  expect(await state()).toEqual({ outcomes: [null, null, null], scores: [undefined, undefined], said: {} });
});

test('a bundle keeps what was said, the parts, the columns and the endings', async () => {
  const { library, run, content } = await imported('bundle');
  const bundle = await writeRunBundle(await library.collectRun(run), { appVersion: '1' });
  const read = await readRunBundle(bundle);
  expect(read.run.foreign).toEqual({ success: 'accuracy_reward>=1' });
  expect(read.rollouts).toEqual(content.rollouts);
  expect(read.trajectories).toEqual(content.trajectories);
});

test('without a rule the rewards are still compared, and no sentence speaks of success', async () => {
  const { content } = await imported('no-rule', null);
  const [first, last] = groupRollouts(content.rollouts);
  expect([first!.outcome, first!.mean]).toEqual(['rewards differ', 0.8]);
  expect(last!.outcome).toBe('rewards equal');
  expect([...shadesOf(first!.rollouts).values()]).toEqual([1, 0]);
  const texts = foreignCharts({}).flatMap(({ title, help }) => [title, help]);
  expect(texts.filter((text) => /success|database|correct/i.test(text))).toEqual([]);
  expect(foreignCharts({ success: 'accuracy_reward>=1' })[1]!.help).toContain('accuracy_reward ≥ 1');
});

test('calls are calls until the visitor names the writes; an ending that is not known adds no move', async () => {
  const { content } = await imported('acts');
  const acts = (of: typeof content) => turnsOf(of.trajectories[0]!).turns.map(({ act, label }) => `${act} ${label}`);
  expect(acts(content)).toEqual(['call refund_order']);
  const { rollouts } = await readForeign('trl.jsonl', new TextEncoder().encode(JSON.stringify(ROWS[0])));
  expect(acts(readOnlyRun(rollouts, { createdAt: 1, source: 'TRL', writes: ['refund_order'] }))).toEqual(['write refund_order']);
  expect(acts(readOnlyRun(rollouts, { createdAt: 1, source: 'TRL', writes: ['other'] }))).toEqual(['look-up refund_order']);
  expect(content.rollouts.map(endingText)).toEqual(['not recorded', 'max_turns_reached', 'not recorded']);
});

test('columns and endings of the file are filters, and names of the rule are offered', async () => {
  const { content } = await imported('filters');
  const query = (of: Record<string, string>) => readQuery('rollouts', new URLSearchParams(of));
  const index = new RolloutIndex(content.rollouts);
  expect(index.filter(query({ column: 'level: hard' }), null).rows).toHaveLength(2);
  expect([...index.filter(query({}), null).counts.end]).toEqual([
    ['unknown', 2],
    ['max_turns_reached', 1],
  ]);
  expect(foreignOptions(content.rollouts)).toEqual({
    names: ['reward', 'accuracy_reward', 'style_reward', 'level'],
    tools: ['refund_order'],
  });
  expect(ruleLabel('reward>=1')).toBe('reward ≥ 1');
});

test('the legend of the colours names the scale that the colours have', async () => {
  const { content } = await imported('legend');
  const [group] = groupRollouts(content.rollouts);
  // An import of an earlier version has only the outcomes, which are 0 or 1.
  const [earlier] = groupRollouts(content.rollouts.map(({ foreign: _, ...own }) => own));
  expect([...shadesOf(earlier!.rollouts).values()]).toEqual([1, 0]);
  const pictureOf = (shown: typeof group) => {
    const props = { run: 'r', group: shown, columns: [], config: content.run.config, foreign: true, why: '', lit: [], onlit: () => {} };
    const app = { lessons: { focus: [], asks: null, lead: null } };
    return render(Provided as never, { props: { app, component: GroupPicture, props } as never }).body.replace(/\s+/g, ' ');
  };
  expect(pictureOf(group)).toContain('from the lowest to the highest of the group');
  expect(pictureOf(earlier)).toContain('from 0 to 1');
});

test('another rule changes the outcomes and pass^k of an evaluation, and a wrong rule changes nothing', async () => {
  const { rollouts, source } = await readForeign('trl.jsonl', new TextEncoder().encode(ROWS.map((row) => JSON.stringify(row)).join('\n')));
  const evaluations = importedEvaluations(rollouts, { createdAt: 1, source, name: 'trl' });
  const library = new Library(new RunDatabase('evaluation-rule'), []);
  await library.storeEvaluations(evaluations);
  const { id } = evaluations[0]!.row;
  const state = async () => {
    const { results, report, foreign } = (await library.evaluation(id))!;
    const trials = await library.trials(id);
    return [results.map(({ reward }) => reward), trials.map(({ reward }) => reward), report.pass_hat[0]!.value, foreign];
  };
  const sorted = await state();
  expect(sorted.slice(2)).toEqual([2 / 3, { success: 'accuracy_reward>=1', source }]);
  await library.sayForeignEvaluation(id, { success: 'reward>=1.4', writes: ['refund_order'] });
  // Only the first row has the rewards 1 and 0.5.
  const changed = await state();
  expect(changed.slice(2)).toEqual([1 / 3, { success: 'reward>=1.4', writes: ['refund_order'], source }]);
  expect([changed[0], changed[1]]).toEqual([
    [1, 0, 0],
    [1, 0, 0],
  ]);
  const { results } = (await library.evaluation(id))!;
  expect(results.map(({ writes }) => writes)).toEqual([1, 1, 1]);
  expect(results.map(({ card }) => card?.calls)).toEqual([{ refund_order: 1 }, { refund_order: 1 }, { refund_order: 1 }]);
  await expect(library.sayForeignEvaluation(id, { success: 'nothing>=1' })).rejects.toThrow('expected one of the names');
  expect(await state()).toEqual(changed);
});

test('a visitor is asked the same about the trials of an evaluation and about the rollouts of a run', async () => {
  const { library, run, content } = await imported('same-options');
  expect(trialOptions(content.trajectories)).toEqual(foreignOptions(await library.source(run).rollouts(run)));
  expect(trialOptions(content.trajectories).tools).toEqual(['refund_order']);
});
