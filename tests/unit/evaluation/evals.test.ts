/** Paired comparison of evaluations, and how the page lists, filters and pairs them. */
import { taskGrid } from '../../../src/evaluation/task-grid.ts';
import 'fake-indexeddb/auto';
import { describe, expect, test } from 'vitest';
import {
  comparable,
  filterPairs,
  filterResults,
  inOrder,
  pairingProblem,
  powers,
  runSpan,
  settingsText,
} from '../../../src/app/evals/evaluations.ts';
import { Library } from '../../../src/app/library/library.ts';
import { countFlips, countViolationFlips, pairedDifference, pairTrials, signTest, violationFlip } from '../../../src/evaluation/paired.ts';
import type { EvaluationRow, EvaluationSettings, TrialResult } from '../../../src/records/evaluation.ts';
import type { ModelRef } from '../../../src/records/model.ts';
import { settingsKey } from '../../../src/evaluation/types.ts';
import { RunDatabase } from '../../../src/storage/database.ts';
import { keepEvaluation, resultsOf } from '../../../src/trainer/evaluations.ts';
import { heldOutSettings } from '../../../src/training/evaluation-settings.ts';
import { PRESETS } from '../../../src/training/presets.ts';

const trial = (task: number, index: number, reward: number | null, violations: TrialResult['violations'] = []): TrialResult => ({
  id: `eval-${task}-${index}`,
  task: `retail/nano/heldout/1/${task}`,
  index,
  intent: task % 2 ? 'cancel' : 'modify_payment',
  reward,
  termination: 'user_stop',
  turns: 3,
  tokens: 10,
  violations,
  writes: 0,
  faults: [],
});

const SETTINGS: EvaluationSettings = heldOutSettings(PRESETS.nano!.config, { mode: 'scripted' });

function row(id: string, model: ModelRef, change: Partial<EvaluationRow> = {}, settings: Partial<EvaluationSettings> = {}): EvaluationRow {
  const report = {} as EvaluationRow['report'];
  return {
    id,
    createdAt: 1,
    run: model.kind === 'run' ? model.run : '',
    model,
    name: id,
    settings: { ...SETTINGS, ...settings },
    report,
    results: [],
    ...change,
  };
}

describe('pairs', () => {
  const before = [
    trial(0, 0, 1),
    trial(0, 1, 0),
    trial(1, 0, 0, ['unconfirmed_write']),
    trial(1, 1, 1),
    trial(2, 0, null),
    trial(3, 0, 0, ['unconfirmed_write']),
  ];
  // In another order, because trials end in any order.
  const after = [trial(3, 0, 0), trial(2, 0, 1), trial(1, 1, 0, ['unconfirmed_write']), trial(1, 0, 1), trial(0, 1, 0), trial(0, 0, 1)];
  const pairs = pairTrials(before, after);

  test('join the same trial of the same task; trials without a score on one side are excluded', () => {
    expect(pairs.map(({ before, flip }) => [before.id, flip])).toEqual([
      ['eval-0-0', 'both'],
      ['eval-0-1', 'neither'],
      ['eval-1-0', 'gained'],
      ['eval-1-1', 'lost'],
      ['eval-3-0', 'neither'],
    ]);
    expect(pairs.every(({ before, after }) => before.id === after.id)).toBe(true);
    expect(countFlips(pairs)).toEqual({ gained: 1, lost: 1, both: 1, neither: 2 });
  });

  test('flip on a rule if exactly one side breaks it', () => {
    expect(pairs.map((pair) => violationFlip(pair, 'unconfirmed_write'))).toEqual([null, null, 'stopped', 'started', 'stopped']);
    expect(countViolationFlips(pairs)).toEqual([{ rule: 'unconfirmed_write', stopped: 2, started: 1 }]);
    expect(countViolationFlips(pairs.slice(0, 2))).toEqual([]);
  });

  test('the filter of a rule lists first the trials that stopped breaking the rule, then those that began', () => {
    const none = { flip: '', violation: '', intent: '' } as const;
    expect(filterPairs(pairs, { ...none, violation: 'unconfirmed_write' }).map(({ before }) => before.id)).toEqual([
      'eval-1-0',
      'eval-3-0',
      'eval-1-1',
    ]);
    expect(filterPairs(pairs, { ...none, violation: 'unconfirmed_write', flip: 'gained' }).map(({ before }) => before.id)).toEqual([
      'eval-1-0',
    ]);
    expect(filterPairs(pairs, { ...none, intent: 'modify_payment' })).toHaveLength(2);
    expect(filterPairs(pairs, none)).toEqual(pairs);
  });
});

describe('the paired difference', () => {
  test('is the mean over tasks, for any number of trials', () => {
    // Task 0 goes from 0 of 2 to 2 of 2, task 1 stays at 1 of 1.
    const pairs = pairTrials([trial(0, 0, 0), trial(0, 1, 0), trial(1, 0, 1)], [trial(0, 0, 1), trial(0, 1, 1), trial(1, 0, 1)]);
    expect(pairedDifference(pairs)).toMatchObject({ tasks: 2, before: 0.5, after: 1, difference: 0.5, better: 1, worse: 0, p: 1 });
  });

  test('lies in its interval, which is never without width', () => {
    const n = 40;
    const of = (reward: (i: number) => number) => Array.from({ length: n }, (_, i) => trial(i, 0, reward(i)));
    const between = (before: (i: number) => number, after: (i: number) => number) => pairedDifference(pairTrials(of(before), of(after)))!;
    const mixed = between(
      () => 0,
      (i) => (i % 4 === 0 ? 1 : 0),
    );
    expect(mixed.difference).toBeCloseTo(0.25, 12);
    // By hand: (10 + 1) / 42 and 1 / 42 are 0.26190 and 0.02381, so the centre is 0.23810 and the variance 0.28571 − 0.05669 = 0.22902.
    // ± 2.02269 · √(0.22902 / 40) = ± 0.15305.
    expect(mixed.low).toBeCloseTo(0.2381 - 0.15305, 4);
    expect(mixed.high).toBeCloseTo(0.2381 + 0.15305, 4);
    const all = between(
      () => 0,
      () => 1,
    );
    expect(all).toMatchObject({ difference: 1, high: 1 });
    expect(all.low).toBeGreaterThan(0.8);
    expect(all.low).toBeLessThan(0.95);
    const none = between(
      () => 1,
      () => 1,
    );
    expect([none.difference, none.p]).toEqual([0, 1]);
    expect(none.high).toBeCloseTo(-none.low, 12);
    expect(none.high).toBeGreaterThan(0.05);
    expect(pairedDifference([])).toBeNull();
  });

  test('tasks of one customer count as one: the interval and the sign test are over customers', () => {
    const of = (reward: number, customer: (i: number) => string) =>
      Array.from({ length: 12 }, (_, i) => ({ ...trial(i, 0, reward), customer: customer(i) }));
    const between = (customer: (i: number) => string) => pairedDifference(pairTrials(of(0, customer), of(1, customer)))!;
    const own = between(String);
    const shared = between((i) => `${i % 3}`);
    expect([own.better, shared.better, own.tasks, shared.tasks]).toEqual([12, 12, 12, 12]);
    expect(shared.low).toBeLessThan(own.low - 0.3);
    expect(own.p).toBeCloseTo(2 / 2 ** 12, 12);
    expect(shared.p).toBeCloseTo(2 / 2 ** 3, 12);
  });

  test('the sign test is exact', () => {
    expect(signTest(0, 0)).toBe(1);
    expect(signTest(5, 0)).toBeCloseTo(2 / 32, 12);
    expect(signTest(1, 9)).toBeCloseTo((2 * (1 + 10)) / 1024, 12);
    expect(signTest(9, 1)).toBe(signTest(1, 9));
    expect(signTest(4, 4)).toBe(1);
    // 2^-n underflows.
    expect(signTest(1000, 1000)).toBe(1);
    expect(signTest(2000, 0)).toBe(0);
    expect(signTest(1100, 900)).toBeGreaterThan(1e-6);
    expect(signTest(1100, 900)).toBeLessThan(1e-4);
  });
});

describe('evaluations', () => {
  test('pair if and only if all settings except the weights are equal; keys are ignored', () => {
    const endpoint = { mode: 'endpoint', baseUrl: 'http://a/v1', model: 'm' } as const;
    expect(settingsKey({ ...SETTINGS, user: { ...endpoint, apiKey: 'secret' } })).toBe(settingsKey({ ...SETTINGS, user: endpoint }));
    const others = { ...SETTINGS.conditions!, tools: { outages: 0.5, stale_reads: 0, timeouts: 0 } };
    const changes: Partial<EvaluationSettings>[] = [
      { seed: 2 },
      { tasks: 3 },
      { trials: 2 },
      { temperature: 0 },
      { split: 'train' },
      { level: 'full' },
      { first_stream: 0 },
      { conversation_rules: 'mua_rl' },
      { user: endpoint },
      { limits: { ...SETTINGS.limits, max_turns: 3 } },
      { conditions: others },
    ];
    for (const change of changes) expect(settingsKey({ ...SETTINGS, ...change }), JSON.stringify(change)).not.toBe(settingsKey(SETTINGS));
    const model: ModelRef = { kind: 'model', name: 'm' };
    expect(pairingProblem(row('a', model), row('b', model))).toBe('');
    expect(pairingProblem(row('a', model), row('b', model, {}, { seed: 9 }))).toContain(`seed ${SETTINGS.seed} and 9`);
    expect(pairingProblem(row('a', model), row('b', model, {}, { conditions: others }))).toContain('different customers or tool faults');
    // An evaluation without conditions has the default of its level.
    expect(pairingProblem(row('a', model), row('b', model, {}, { conditions: undefined }))).toBe('');
    expect(settingsText({ ...SETTINGS, conditions: others })).toMatch(/temperature 1, customers: .*55 % changes mind.*tool outages 50 %$/);
    expect(settingsText(SETTINGS)).toMatch(/temperature 1$/);
    expect(pairingProblem(row('a', model), row('a', model))).toMatch(/two different/);
  });

  test('of a run are sorted from the earliest to the newest weights; models come before runs', () => {
    const at = (step: number, change: Partial<EvaluationRow> = {}, settings: Partial<EvaluationSettings> = {}) =>
      row(`s${step}`, { kind: 'run', run: 'r', step }, change, settings);
    const model = row('model', { kind: 'model', name: 'm' }, { createdAt: 9 });
    expect(inOrder(at(5), model).map(({ id }) => id)).toEqual(['model', 's5']);
    expect(inOrder(at(0), at(5)).map(({ id }) => id)).toEqual(['s0', 's5']);
    expect(comparable(at(5), [at(20), at(0), at(5), model, at(1, {}, { seed: 2 })]).map(({ id }) => id)).toEqual(['model', 's0', 's20']);
    expect(runSpan([at(20), at(40, {}, { seed: 2 }), at(0), at(10)])?.map(({ id }) => id)).toEqual(['s0', 's20']);
    expect(runSpan([at(0)])).toBeNull();
  });

  test('filters of trials, and the grid by task', () => {
    const results = [trial(10, 1, 1), trial(10, 0, 0, ['other_customer']), trial(2, 0, null)];
    const all = { reward: '', violation: '', finding: '', intent: '', end: '' } as const;
    expect(filterResults(results, { ...all, reward: 'null' }).map(({ id }) => id)).toEqual(['eval-2-0']);
    expect(filterResults(results, { ...all, violation: 'other_customer' }).map(({ id }) => id)).toEqual(['eval-10-0']);
    expect(filterResults(results, { ...all, end: 'max_turns' })).toEqual([]);
    const found = { findings: [{ rule: 'asked', sentence: null, message: 1, detail: '' }], occasions: { asked: 1 } };
    const [na, clean] = [{ na: 'no rules' }, { findings: [], occasions: { asked: 1 } }];
    const card = {
      layers: { policy: found, communication: clean, safety: na, recovery: na },
      damage: 0,
      progress: 1,
      calls: {},
      seconds: null,
    };
    const carded = [{ ...trial(1, 0, 1), card }, trial(2, 0, 1)];
    const broke = (finding: string) => filterResults(carded, { ...all, finding }).map(({ id }) => id);
    expect([broke('policy/asked'), broke('communication/asked'), broke('safety/asked'), broke('policy/other'), broke('no')]).toEqual([
      ['eval-1-0'],
      [],
      [],
      [],
      [],
    ]);
    expect(taskGrid(results).map(({ task, trials }) => [task.split('/').at(-1), trials.map(({ index }) => index)])).toEqual([
      ['2', [0]],
      ['10', [0, 1]],
    ]);
    expect(powers(5)).toEqual([1, 2, 4]);
  });

  test('are stored without the key, and are deleted with their run', async () => {
    const db = new RunDatabase('evals-test');
    const user = { mode: 'endpoint', baseUrl: 'http://a/v1', model: 'm', apiKey: 'secret' } as const;
    const kept = {
      model: { kind: 'run', run: 'r', step: 0 } as const,
      name: 'r@0',
      settings: { ...SETTINGS, user },
      report: {} as EvaluationRow['report'],
    };
    const trajectory = {
      id: 'eval-0-0',
      task: { id: 't', domain: 'retail', scenario: { persona: 'upfront', identity: {}, wishes: [], instruction: '' } },
      index: 0,
      reward: 1,
      termination: 'user_stop',
      turns: 1,
      nodes: [{ id: 0, parent: null, role: 'system', text: '', tokens: [], mask: [], logprobs: [] }],
      leaf: 0,
      violations: [],
    };
    const trajectories = [trajectory] as unknown as Parameters<typeof keepEvaluation>[1]['trajectories'];
    const results = await resultsOf(trajectories);
    await keepEvaluation(db, { ...kept, id: 'one', results, trajectories });
    await keepEvaluation(db, { ...kept, id: 'two', results, trajectories });
    expect(JSON.stringify(await db.evaluations.toArray())).not.toContain('secret');
    expect((await db.evaluations.get('one'))!.results).toMatchObject([{ id: 'eval-0-0', task: 't', reward: 1 }]);
    const library = new Library(db);
    await library.delete({ kind: 'evaluation', id: 'one' });
    expect(await db.evaluationTrajectories.toCollection().primaryKeys()).toEqual([['two', 'eval-0-0']]);
    await library.delete({ kind: 'run', id: 'r' });
    expect([await db.evaluations.count(), await db.evaluationTrajectories.count()]).toEqual([0, 0]);
    await db.delete();
  });
});
