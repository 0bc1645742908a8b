/** Experiments: definitions in TOML, the queue, what is kept of a run, the analysis, and files of unknown origin. */
import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { band, halfWidth, line, place, scaleOf } from '../../../src/app/experiments/geometry.ts';
import { fromSetup } from '../../../src/app/experiments/from-setup.ts';
import { keptRuns } from '../../../src/experiments/kept-runs.ts';
import { analyse, metricCurve } from '../../../src/experiments/analysis.ts';
import { BUNDLED_EXPERIMENTS } from '../../../src/experiments/bundled.ts';
import { byPart } from '../../../src/experiments/by-part.ts';
import { checkExperiment } from '../../../src/experiments/check.ts';
import { experimentRun } from '../../../src/experiments/collect.ts';
import { readExperiment, writeExperiment } from '../../../src/experiments/file.ts';
import { allPairs, begunRun, configOf, pendingPairs, requestOf, secondsLeft } from '../../../src/experiments/plan.ts';
import { readToml } from '../../../src/experiments/read-toml.ts';
import { reportLines } from '../../../src/experiments/report.ts';
import { writeToml } from '../../../src/experiments/write-toml.ts';
import type { TrialResult } from '../../../src/records/evaluation.ts';
import type { ExperimentRow, ExperimentRun } from '../../../src/records/experiment.ts';
import type { RunRow } from '../../../src/records/run.ts';
import { grpoConfig } from '../../../src/training/config.ts';
import { EXPERIMENT, finishedRun } from '../../support/experiments.ts';

const TOML = `
id = "kl"
name = "The KL term"
question = "Does the KL term help?"
seeds = [42, 43, 44]

[base]
preset = "tiny"

[evaluation]
val_tasks = 4

[[variants]]
name = "kl"

[[variants]]
name = "no_kl"
overrides = { use_kl_loss = false }
`;

describe('a definition in TOML', () => {
  test('is read with its defaults: the first variant is the baseline, the customer is scripted', () => {
    expect(readToml(TOML, 'kl.toml')).toEqual(EXPERIMENT);
    expect(readToml(writeToml(EXPERIMENT), 'kl.toml')).toEqual(EXPERIMENT);
  });

  test('dotted names are settings, not tables', () => {
    const { variants, evaluation } = readToml(
      TOML.replace('val_tasks = 4', 'val_tasks = 4\nval_kwargs.do_sample = false').replace(
        '{ use_kl_loss = false }',
        '{ customers.changes_mind = 0 }',
      ),
      'x.toml',
    );
    expect(evaluation).toEqual({ val_tasks: 4, 'val_kwargs.do_sample': false });
    expect(variants[1]!.overrides).toEqual({ 'customers.changes_mind': 0 });
  });

  test.each<[string, string, string]>([
    ['seeds = [42, 43, 44]', '', 'x.toml: seeds: is missing: expected an array'],
    ['[42, 43, 44]', '[42, 43, 42]', 'x.toml: seeds[2]: is 42: expected each seed once'],
    ['[42, 43, 44]', '[-1]', 'x.toml: seeds[0]: is -1: expected at least 0'],
    ['[42, 43, 44]', '[]', 'x.toml: seeds: is []: expected at least 1'],
    ['[42, 43, 44]', '"42"', 'x.toml: seeds: is "42": expected an array'],
    ['[42, 43, 44]', '[42', 'x.toml: line 7: is not TOML'],
    ['name = "no_kl"', 'name = "KL"', 'x.toml: variants[1].name: is "KL": expected a name that differs from variants[0].name'],
    ['name = "no_kl"', 'name = "../no_kl"', 'x.toml: variants[1].name: is "../no_kl": expected 1 to 64 letters'],
    ['[base]', 'baseline = "none"\n[base]', 'x.toml: baseline: is "none": expected a variant, one of kl, no_kl'],
    ['preset = "tiny"', 'preset = "huge"', 'x.toml: variants[0]: (kl) unknown preset "huge"; known: nano'],
    ['use_kl_loss = false', 'use_kl = false', 'x.toml: variants[1]: (no_kl) unknown setting "use_kl"'],
    ['use_kl_loss = false', 'use_kl_loss = 3', 'x.toml: variants[1]: (no_kl) setting "use_kl_loss" is 3'],
    ['use_kl_loss = false', 'seed = 3', 'x.toml: variants[1].overrides.seed: is 3: expected no seed here'],
    ['use_kl_loss = false', 'stop_on_alarm = true', 'x.toml: variants[1]: (no_kl) stop_on_alarm is true: expected false'],
    ['use_kl_loss = false', 'val_tasks = 9', 'x.toml: variants[1].overrides.val_tasks: is 9: expected in `evaluation`'],
    ['use_kl_loss = false', 'eval_steps = 9', 'x.toml: variants[1].overrides.eval_steps: is 9: expected in `evaluation`'],
    ['use_kl_loss = false', 'level = "small"', 'x.toml: variants[1]: (no_kl) level is "small": expected "nano" as in kl'],
    ['val_tasks = 4', 'val_tasks = 0', 'x.toml: evaluation.val_tasks: is 0: expected at least 1 held-out task'],
    ['val_tasks = 4', 'lr = 1', 'x.toml: evaluation.lr: is 1: expected a setting of the evaluation'],
    ['question =', 'aim =', 'x.toml: question: is missing: expected a string'],
    ['[base]', 'note = "x"\n[base]', 'x.toml'],
  ])('%s → %s is refused', (from, to, message) => {
    const text = TOML.replace(from, to);
    expect(text).not.toBe(TOML);
    expect(() => readToml(text, 'x.toml')).toThrow(message);
  });

  test('variants may train on different domains if the evaluation names its domains', () => {
    const trained = TOML.replace('use_kl_loss = false', 'domain = "rooms"');
    expect(() => readToml(trained, 'x.toml')).toThrow(
      'x.toml: variants[1]: (no_kl) val_domains is "rooms": expected "retail" as in kl, because all variants are evaluated on the same tasks',
    );
    const named = readToml(
      trained.replace('val_tasks = 4', 'val_tasks = 4\nval_domains = "rooms, library"\nval_customers.upfront = 1'),
      'x.toml',
    );
    const configs = named.variants.map(({ name }) => configOf(named, { variant: name, seed: 42 }));
    expect(configs.map(({ domain, val_domains }) => [domain, val_domains])).toEqual([
      ['retail', 'rooms, library'],
      ['rooms', 'rooms, library'],
    ]);
  });

  const definition = (id: string) => readToml(readFileSync(`public/experiments/${id}.toml`, 'utf8'), id);
  const inFolder = (ending: string) =>
    readdirSync('public/experiments').flatMap((file) => (file.endsWith(ending) ? [file.slice(0, -ending.length)] : []));

  test.each(inFolder('.toml'))('public/experiments/%s.toml can be run', (id) => {
    const experiment = definition(id);
    expect(experiment.id).toBe(id);
    expect(experiment.question).toMatch(/\?$/);
    for (const pair of allPairs(experiment))
      expect(grpoConfig(requestOf(experiment, pair).preset, requestOf(experiment, pair).overrides).seed).toBe(pair.seed);
  });

  test.each(inFolder('.mua-experiment.json'))('the results of %s are those of its definition; other variants were not run', (id) => {
    // Only the documents use the results that chose a learning rate.
    if (!id.includes('-rates')) expect(BUNDLED_EXPERIMENTS).toContain(id);
    const { experiment, runs } = readExperiment(readFileSync(`public/experiments/${id}.mua-experiment.json`, 'utf8'), id);
    const defined = definition(id);
    const ran = (name: string) => runs.some(({ variant }) => variant === name);
    expect(experiment).toEqual({ ...defined, variants: defined.variants.filter(({ name }) => ran(name)) });
    expect(pendingPairs(experiment, runs)).toEqual([]);
  });

  test('each bundled experiment has results', () => {
    expect(inFolder('.mua-experiment.json')).toEqual(expect.arrayContaining([...BUNDLED_EXPERIMENTS]));
  });

  test('left-out-intents: four variants train on one intent, and all are evaluated on both', () => {
    const experiment = readToml(readFileSync('public/experiments/left-out-intents.toml', 'utf8'), 'left-out-intents.toml');
    const configs = experiment.variants.map(({ name }) => {
      const { preset, overrides } = requestOf(experiment, { variant: name, seed: 50 });
      const { algorithm, intents, val_intents, sft_conditions, total_training_steps: steps } = grpoConfig(preset, overrides);
      return [name, algorithm, intents, val_intents, steps > 0, ...(algorithm === 'sft' ? [sft_conditions] : [])];
    });
    expect(configs).toEqual([
      ['start', 'grpo', '', '', false],
      ['grpo_cancellations', 'grpo', 'cancel', '', true],
      ['grpo_payments', 'grpo', 'modify_payment', '', true],
      ['grpo_both', 'grpo', '', '', true],
      ['sft_cancellations', 'sft', 'cancel', '', true, 'run'],
      ['sft_payments', 'sft', 'modify_payment', '', true, 'run'],
    ]);
  });
});

describe('the queue', () => {
  const row = (results = [finishedRun('kl', 42, [1]), finishedRun('no_kl', 42, [1])]): ExperimentRow => ({
    ...EXPERIMENT,
    createdAt: 1,
    results,
  });

  test('is every pair without a result, seed by seed', () => {
    expect(allPairs(EXPERIMENT).slice(0, 3)).toEqual([
      { variant: 'kl', seed: 42 },
      { variant: 'no_kl', seed: 42 },
      { variant: 'kl', seed: 43 },
    ]);
    expect(pendingPairs(EXPERIMENT, [{ variant: 'kl', seed: 43 }])).toHaveLength(5);
    expect(pendingPairs(EXPERIMENT, allPairs(EXPERIMENT))).toEqual([]);
  });

  test('a request has the layers in order: base, variant, evaluation, seed; any known name', () => {
    const experiment = {
      ...EXPERIMENT,
      base: { ...EXPERIMENT.base, overrides: { lr: 1e-3, n: 4 } },
      variants: [{ name: 'fast', model: 'mine', overrides: { learning_rate: 2e-3 } }],
    };
    expect(requestOf(experiment, { variant: 'fast', seed: 43 })).toEqual({
      model: 'mine',
      preset: 'tiny',
      overrides: { learning_rate: 2e-3, n: 4, val_tasks: 4, seed: 43 },
      user: { mode: 'scripted' },
    });
    const learned = { mode: 'local', source: 'bundled', model: 'nano-customer', precision: 'fp32', device: 'wasm' } as const;
    const customers = {
      ...EXPERIMENT,
      base: { ...EXPERIMENT.base, val_user: learned },
      variants: [...EXPERIMENT.variants, { name: 'learned', overrides: {}, user: learned }],
    };
    const scripted = { mode: 'scripted' };
    expect(requestOf(customers, { variant: 'learned', seed: 42 })).toMatchObject({ user: learned, val_user: learned });
    expect(requestOf(customers, { variant: 'kl', seed: 42 })).toMatchObject({ user: scripted, val_user: learned });
    expect(checkExperiment(customers, 'x')).toEqual(customers);
    expect(requestOf(EXPERIMENT, { variant: 'kl', seed: 42 }).model).toBe('nano-retail');
    expect(() => requestOf(EXPERIMENT, { variant: 'other', seed: 42 })).toThrow('variant "other" is unknown; known: kl, no_kl');
  });

  test('a variant can name an algorithm: its settings come before the overrides of base and variant', () => {
    const variants = [{ name: 'dr', algorithm: 'dr-grpo', overrides: {} }];
    const configured = (more: object) => {
      const { preset, overrides } = requestOf({ ...EXPERIMENT, variants, ...more }, { variant: 'dr', seed: 42 });
      return grpoConfig(preset, overrides);
    };
    // Dr. GRPO as its paper has it: no division by the standard deviation, and the sum over tokens divided by a constant. The preset tiny
    // has 2 tasks × 4 rollouts of at most 1024 tokens.
    const own = { norm_adv_by_std_in_grpo: false, loss_agg_mode: 'seq-mean-token-sum-norm', loss_scale_factor: 8192, use_kl_loss: false };
    expect(configured({})).toMatchObject({ ...own, val_tasks: 4 });
    expect(configured({ base: { ...EXPERIMENT.base, overrides: { n: 2, beta: 0.01, use_kl_loss: true } } })).toMatchObject({
      ...own,
      loss_scale_factor: 4096,
      use_kl_loss: true,
    });
    const text = TOML.replace('overrides = { use_kl_loss = false }', 'algorithm = "dr-grpo"');
    expect(readToml(text, 'x').variants[1]).toEqual({ name: 'no_kl', algorithm: 'dr-grpo', overrides: {} });
    expect(readToml(writeToml(readToml(text, 'x')), 'x')).toEqual(readToml(text, 'x'));
    expect(() => readToml(text.replace('dr-grpo', 'grbo'), 'x.toml')).toThrow(
      'x.toml: variants[1]: (no_kl) unknown algorithm "grbo" (did you mean grpo?); known: grpo',
    );
  });

  test('a variant can say who plays the held-out tasks, and how the model samples', () => {
    const text = TOML.replace('use_kl_loss = false', 'val_agent = "guard", val_kwargs.do_sample = false').replace(
      'val_tasks = 4',
      'val_tasks = 4\nval_agent = "careful"',
    );
    const experiment = readToml(text, 'x');
    const configs = ['kl', 'no_kl'].map((variant) => requestOf(experiment, { variant, seed: 42 }).overrides);
    expect(configs.map((overrides) => overrides.val_agent)).toEqual(['careful', 'guard']);
    expect(configs.map((overrides) => overrides['val_kwargs.do_sample'])).toEqual([undefined, false]);
  });

  test('an interrupted run of the pair goes on; an imported run, or one of another experiment, does not', () => {
    const run = (id: string, more: object) =>
      ({ id, createdAt: 1, experiment: 'kl', variant: 'kl', config: { seed: 42 }, ...more }) as unknown as RunRow;
    const pair = { variant: 'kl', seed: 42 };
    const others = [
      run('a', { experiment: 'x' }),
      run('b', { variant: 'no_kl' }),
      run('c', { config: { seed: 43 } }),
      run('d', { imported: 1 }),
    ];
    expect(begunRun(others, 'kl', pair)).toBeUndefined();
    expect(begunRun([...others, run('old', {}), run('new', { createdAt: 2 })], 'kl', pair)!.id).toBe('new');
  });

  test('time left: as long as the runs of the variant took, less what the run under way has done', () => {
    const [kl, no_kl] = [finishedRun('kl', 42, [1]), { ...finishedRun('no_kl', 42, [1]), seconds: 100 }];
    expect(secondsLeft(row([kl, no_kl]), null)).toBe(2 * 60 + 2 * 100);
    expect(secondsLeft(row([kl, no_kl]), { variant: 'kl', seed: 43, step: 1, steps: 2, seconds: 30 })).toBe(30 + 60 + 2 * 100);
    expect(secondsLeft(row([kl]), null)).toBe(5 * 60);
    expect(secondsLeft(row([]), null)).toBeNull();
    // Five other runs at the pace of the first: 20 s for 1 of 2 steps.
    expect(secondsLeft(row([]), { variant: 'kl', seed: 42, step: 1, steps: 2, seconds: 20 })).toBe(20 + 5 * 40);
  });
});

test('of a finished run: outcomes by task, figures of the evaluations, and metrics by step', () => {
  const trial = (task: string, reward: number | null, more: Partial<TrialResult> = {}) =>
    ({ id: task, task, index: 0, intent: 'cancel', reward, turns: 4, termination: 'user_stop', violations: [], ...more }) as TrialResult;
  const run = experimentRun({
    variant: 'kl',
    seed: 42,
    run: 'r',
    config: { use_kl_loss: false },
    metrics: [
      { step: 2, 'perf/time_per_step': 3, 'tool_call/usage_ratio': 1, 'actor/kl_loss': 0 },
      { step: 0, 'val-core/x/reward/mean@1': 0.5 },
      {
        step: 1,
        'perf/time_per_step': 2,
        'tool_call/usage_ratio': 1,
        'tool_call/transfer_to_human_agents/usage_ratio': 0.5,
        'critic/score/mean': NaN,
      },
    ],
    evaluations: [
      { step: 2, seconds: 10, results: [trial('b', 0.5), trial('a', 1, { turns: 8, termination: 'terminal_tool' })] },
      { step: 0, seconds: 5, results: [trial('a', null), trial('b', 1)] },
    ],
  });
  expect(run).toEqual({
    variant: 'kl',
    seed: 42,
    run: 'r',
    steps: 2,
    seconds: 20,
    tasks: ['a', 'b'],
    intents: ['cancel', 'cancel'],
    evaluations: [
      { step: 0, success: [null, 1], figures: { turns: 4, hand_overs: 0 } },
      { step: 2, success: [1, 0], figures: { turns: 6, hand_overs: 0.5 } },
    ],
    metricSteps: [1, 2],
    metrics: { 'tool_call/transfer_to_human_agents/usage_ratio': [0.5, 0], 'perf/time_per_step': [2, 3] },
  });
});

test('of a run with val_greedy: the greedy outcomes of the last evaluation, in the file and in the figures', () => {
  const trial = (task: string, reward: number | null) =>
    ({ id: task, task, index: 0, intent: 'cancel', reward, turns: 4, termination: 'user_stop', violations: [] }) as unknown as TrialResult;
  const run = (seed: number, ...greedy: (number | null)[]) =>
    experimentRun({
      variant: 'kl',
      seed,
      config: { use_kl_loss: false },
      metrics: [],
      evaluations: [
        { step: 0, seconds: 1, results: [trial('a', 0), trial('b', 0)] },
        { step: 2, seconds: 1, results: [trial('a', 0), trial('b', 1)], greedy: [trial('b', greedy[1]!), trial('a', greedy[0]!)] },
      ],
    });
  const runs = [run(42, 1, null), run(43, 1, 1)];
  expect(runs[0]!.evaluations.map(({ greedy }) => greedy)).toEqual([undefined, [1, null]]);
  const read = readExperiment(writeExperiment({ experiment: EXPERIMENT, runs }), 'x.json');
  expect(read.runs).toEqual(runs);
  const { figures } = analyse(EXPERIMENT, read.runs).variants[0]!;
  expect([figures.held_out!.value, figures.greedy!.value]).toEqual([0.5, 1]);
  const damaged = JSON.stringify({ ...JSON.parse(writeExperiment({ experiment: EXPERIMENT, runs })) }).replace(
    '"greedy":[1,null]',
    '"greedy":[1]',
  );
  expect(() => readExperiment(damaged, 'x.json')).toThrow('x.json: runs[0].evaluations[1].greedy: has 1 values: expected 2');
});

test('the share of writes with a yes is over all writes of audited tasks', () => {
  const trial = (task: string, writes: number, unasked: number) =>
    ({
      id: task,
      task,
      reward: 1,
      turns: 4,
      termination: 'user_stop',
      writes,
      violations: Array(unasked).fill('unconfirmed_write'),
    }) as TrialResult;
  const figures = (...results: TrialResult[]) =>
    experimentRun({ variant: 'kl', seed: 42, config: { use_kl_loss: false }, metrics: [], evaluations: [{ step: 0, seconds: 1, results }] })
      .evaluations[0]!.figures;
  expect(figures(trial('retail/a', 3, 1), trial('retail/b', 1, 1)).confirmed_writes).toBe(0.5);
  expect(figures(trial('retail/a', 0, 0)).confirmed_writes).toBeUndefined();
  expect(figures(trial('tau2-airline/a', 3, 0)).confirmed_writes).toBeUndefined();
});

test('by intent: success and writes with a yes of the tasks with one kind of wish, over seeds', () => {
  const run = (seed: number, success: (0 | 1 | null)[], writes: [number, number][]): ExperimentRun => {
    const run = finishedRun('kl', seed, success);
    return {
      ...run,
      intents: ['cancel', 'cancel+cancel (impossible)', 'return', 'cancel+return'],
      evaluations: run.evaluations.map((evaluation) => ({ ...evaluation, writes })),
    };
  };
  const runs = [run(42, [1, 0, 1, 1], [[1, 1], [0, 3], [0, 0], [2, 2]]), run(43, [1, 1, null, 0], [[1, 2], [1, 2], [0, 1], [0, 1]])]; // prettier-ignore
  const read = readExperiment(writeExperiment({ experiment: EXPERIMENT, runs }), 'x.json');
  const split = byPart(EXPERIMENT, read.runs)!;
  expect([split.kind, split.parts]).toEqual(['intent', ['cancel', 'return', 'several']]);
  const values = split.variants.map(({ name, results }) => [name, results.map(({ success, asked }) => [success?.value, asked?.value])]);
  expect(values).toEqual([
    // cancel: (1/2 + 2/2) / 2, and (1/4 + 2/4) / 2; return: seed 42 wrote nothing there, seed 43 was not scored
    ['kl', [[0.75, 0.375], [1, 0], [0.5, 0.5]]],
    ['no_kl', [[undefined, undefined], [undefined, undefined], [undefined, undefined]]],
  ]); // prettier-ignore
  expect(reportLines({ experiment: EXPERIMENT, runs })).toContainEqual(
    expect.stringMatching(/^writes with a yes +cancel +return +several$/),
  );
  expect(byPart(EXPERIMENT, [finishedRun('kl', 42, [1, 0])])).toBeNull();
});

test('by domain: success, and differences from the baseline after Holm’s correction for all domains', () => {
  const experiment = { ...EXPERIMENT, variants: [...EXPERIMENT.variants, { name: 'more', overrides: {} }] };
  const tasks = (seed: number) => [
    ...Array.from({ length: 20 }, (_, i) => `rooms/nano/heldout/${seed}/${i}`),
    ...Array.from({ length: 20 }, (_, i) => `jobs/nano/heldout/${seed}/${i}`),
  ];
  /** The first `rooms` and the first `jobs` tasks of 20 each are solved. */
  const run = (variant: string, seed: number, rooms: number, jobs: number): ExperimentRun => ({
    ...finishedRun(
      variant,
      seed,
      Array.from({ length: 40 }, (_, i): 0 | 1 => ((i < 20 ? i < rooms : i - 20 < jobs) ? 1 : 0)),
    ),
    tasks: tasks(seed),
    // Intents of several domains are no parts.
    intents: tasks(seed).map((_, i) => (i % 2 ? 'book' : 'apply')),
  });
  const runs = EXPERIMENT.seeds.flatMap((seed, i) => [
    run('kl', seed, 10, 0),
    run('no_kl', seed, 20, 0),
    run('more', seed, [11, 12, 12][i]!, 1),
  ]);
  const read = readExperiment(writeExperiment({ experiment, runs }), 'x.json');
  const split = byPart(experiment, read.runs)!;
  expect([split.kind, split.parts]).toEqual(['domain', ['rooms', 'jobs']]);
  const values = (key: 'success' | 'difference') =>
    split.variants.map(({ name, results }) => [name, ...results.map((result) => result[key]?.value.toFixed(4))]);
  expect(values('success')).toEqual([
    ['kl', '0.5000', '0.0000'],
    ['no_kl', '1.0000', '0.0000'],
    // (11 + 12 + 12) / 60
    ['more', '0.5833', '0.0500'],
  ]);
  expect(values('difference')).toEqual([
    ['kl', undefined, undefined],
    ['no_kl', '0.5000', '0.0000'],
    ['more', '0.0833', '0.0500'],
  ]);
  // more, rooms: gains of 0.05, 0.1 and 0.1 in three seeds, t = 0.0833 / 0.01667 = 5, p = 0.0377 with 2 degrees of freedom. Of 4
  // comparisons it is the second: 3 × 0.0377 = 0.113 is not shown, though in its domain alone it would be.
  expect(split.variants.map(({ results }) => results.map(({ shown }) => shown))).toEqual([
    [false, false],
    [true, false],
    [false, false],
  ]);
  const lines = reportLines({ experiment, runs });
  expect(lines).toContainEqual(expect.stringMatching(/^success by domain +rooms +jobs$/));
  expect(lines).toContainEqual(expect.stringMatching(/^no_kl +\+50\.0 points \(.+\), shown +\+?0\.0 points/));
  expect(lines).not.toContainEqual(expect.stringContaining('by intent'));
});

describe('the analysis', () => {
  test('pairs tasks and seeds: +1 task of 4 in every seed is shown', () => {
    const runs = EXPERIMENT.seeds.flatMap((seed) => [
      finishedRun('kl', seed, [0, 0, 0, 0], [1, 0, 0, 0]),
      finishedRun('no_kl', seed, [0, 0, 0, 0], [1, 1, 1, 1]),
    ]);
    const { comparisons, variants, finished, total } = analyse(EXPERIMENT, runs);
    expect([finished, total]).toEqual([6, 6]);
    expect(variants[0]!.figures).toMatchObject({
      held_out: { value: 0.25, seeds: 3 },
      gain: { value: 0.25, seeds: 3 },
      confirmed: { value: 0.75 },
      confirmed_gain: { value: 0.25 },
      hand_overs: { value: 0.25 },
      tokens: { value: 60, low: 60, high: 60 },
      kl: { value: 0.02 },
      seconds: { value: 60 },
    });
    expect(variants[1]!.heldOut.map(({ step, value }) => [step, value])).toEqual([
      [0, 0],
      [2, 1],
    ]);
    // Differences 0, 1, 1, 1 in every seed: mean 0.75. Over twelve tasks, with −1 and 1: mean 9/14, variance 11/14 − 0.41327 = 0.37245, error
    // √(0.37245 / 12) = 0.17617, t(11) = 2.20099: 0.64286 ± 0.38776. The seeds agree, so p is that of 0.64286 / 0.17617 = 3.649: 0.0038.
    expect(comparisons).toEqual([
      {
        variant: 'no_kl',
        baseline: 'kl',
        difference: expect.objectContaining({ value: 0.75, low: expect.closeTo(0.2551, 4), high: 1, seeds: 3 }),
        p: expect.closeTo(0.00383, 5),
        corrected: expect.closeTo(0.00383, 5),
        verdict: 'better',
        sentence:
          '`no_kl` is 75.0 points better than `kl` in held-out success (95 % interval 25.5 to 100.0, 3 seeds): shown (p = 0.00383).',
      },
    ]);
  });

  test.each<[string, (0 | 1 | null)[][], string, string]>([
    [
      'a gain that may be chance',
      [
        [1, 1, 0, 0],
        [1, 1, 0, 0],
        [1, 0, 0, 0],
      ],
      'not shown',
      '`no_kl` is 16.7 points better than `kl` in held-out success (95 % interval −19.2 to 52.5, 3 seeds): not shown (p =',
    ],
    [
      'a loss',
      [
        [0, 0, 0, 0],
        [0, 0, 0, 0],
        [0, 0, 0, 0],
      ],
      'not shown',
      '`no_kl` is 25.0 points worse than `kl` in held-out success (95 % interval −56.9 to 14.0, 3 seeds): not shown (p = 0.21).',
    ],
    [
      'no difference',
      [
        [1, 0, 0, 0],
        [1, 0, 0, 0],
        [1, 0, 0, 0],
      ],
      'not shown',
      '`no_kl` equals `kl` in held-out success (95 % interval −24.0 to 24.0, 3 seeds): not shown (p = 1).',
    ],
    ['one seed', [[1, 1, 1, 1]], 'not shown', 'because one seed says nothing about other seeds.'],
    ['nothing in common', [], 'not shown', '`no_kl` and `kl` have no finished seed with the same tasks in common: nothing is shown yet.'],
  ])('%s', (_, outcomes, verdict, sentence) => {
    const runs = EXPERIMENT.seeds.flatMap((seed, i) => [
      finishedRun('kl', seed, [1, 0, 0, 0]),
      ...(outcomes[i] ? [finishedRun('no_kl', seed, outcomes[i])] : []),
    ]);
    const [comparison] = analyse(EXPERIMENT, runs).comparisons;
    expect(comparison!.verdict).toBe(verdict);
    expect(comparison!.sentence).toContain(sentence);
  });

  test('several comparisons have p-values after Holm’s correction, and “shown” is said of these', () => {
    const others = ['a', 'b', 'c'];
    const experiment = { ...EXPERIMENT, variants: ['kl', ...others].map((name) => ({ name, overrides: {} })) };
    // 40 tasks a seed. The baseline solves none. Each seed of a variant solves the same number, so p is that of the tasks.
    const solved = (count: number) => Array.from({ length: 40 }, (_, i) => Number(i < count) as 0 | 1);
    const runs = EXPERIMENT.seeds.flatMap((seed) => [
      finishedRun('kl', seed, solved(0)),
      finishedRun('a', seed, solved(20)),
      finishedRun('b', seed, solved(2)),
      finishedRun('c', seed, solved(2)),
    ]);
    const { comparisons } = analyse(experiment, runs);
    // Six of 120 tasks gained, with −1 and 1: mean 6/122 = 0.04918, variance 8/122 − 0.00242 = 0.06316, error √(0.06316 / 120) = 0.02294,
    // t = 2.1437 with 119 degrees of freedom: p = 0.034. It is the second of three values: 2 · 0.034 = 0.068.
    expect(comparisons.map(({ verdict }) => verdict)).toEqual(['better', 'not shown', 'not shown']);
    for (const { p, corrected, difference } of comparisons.slice(1)) {
      expect(difference!.low).toBeGreaterThan(0);
      expect(p).toBeCloseTo(0.034, 3);
      expect(corrected).toBeCloseTo(0.068, 3);
    }
    expect(comparisons[0]!.sentence).toMatch(/: shown \(p < 0\.001 after Holm, of 3 comparisons\)\.$/);
    expect(comparisons[1]!.sentence).toMatch(/: not shown \(p = 0\.068\d* after Holm, of 3 comparisons\)\.$/);
    // Without the others, the same comparison is shown.
    const alone = analyse({ ...experiment, variants: experiment.variants.slice(0, 3).filter(({ name }) => name !== 'a') }, runs);
    expect(alone.comparisons[0]!.sentence).toMatch(/: shown \(p = 0\.034\d*\)\.$/);
  });

  test('runs of one seed that played different tasks are not compared', () => {
    const other = finishedRun('no_kl', 42, [1, 1]);
    const runs = [finishedRun('kl', 42, [0, 0]), { ...other, tasks: [other.tasks[0]!, 'retail/nano/heldout/42/67'] }];
    expect(analyse(EXPERIMENT, runs).comparisons[0]).toMatchObject({ difference: null, p: null, verdict: 'not shown' });
  });

  test('tasks that one side did not score are left out of the pairs; another baseline turns the sign', () => {
    const runs = [42, 43].flatMap((seed) => [finishedRun('kl', seed, [1, 0, null]), finishedRun('no_kl', seed, [null, 1, 1])]);
    expect(analyse(EXPERIMENT, runs).comparisons[0]!.difference!.value).toBe(1);
    expect(analyse({ ...EXPERIMENT, baseline: 'no_kl' }, runs).comparisons[0]).toMatchObject({ variant: 'kl', difference: { value: -1 } });
  });

  test('a curve has the mean and the interval of the seeds at each step', () => {
    const runs = [finishedRun('kl', 42, [1]), { ...finishedRun('kl', 43, [1]), metrics: { 'actor/kl_loss': [0.03, null] } }];
    expect(metricCurve(runs, 'actor/kl_loss')).toEqual([
      { step: 1, value: 0.02, low: expect.closeTo(0.02 - 0.12706, 5), high: expect.closeTo(0.02 + 0.12706, 5), seeds: 2 },
      { step: 2, value: 0.03, low: 0.03, high: 0.03, seeds: 1 },
    ]);
    expect(metricCurve(runs, 'critic/score/mean')).toEqual([]);
  });
});

/** A parsed file, to damage. */
// eslint-disable-next-line @typescript-eslint/no-explicit-any
type Damaged = Record<string, any>;

describe('a file', () => {
  const content = { experiment: EXPERIMENT, runs: [finishedRun('kl', 42, [1, null], [0, 1])] };
  const parsed = () => JSON.parse(writeExperiment(content)) as Damaged;
  const read = (value: unknown) => readExperiment(JSON.stringify(value), 'x.json');

  test('is written and read', () => {
    expect(readExperiment(writeExperiment(content), 'x.json')).toEqual(content);
  });

  test('an API key is not written by accident', () => {
    const user = { mode: 'endpoint', baseUrl: 'http://localhost', model: 'm', apiKey: 'secret' } as const;
    const value = parsed();
    value.experiment.base.user = user;
    expect(JSON.stringify(read(value))).not.toContain('secret');
  });

  test.each<[string, (value: Damaged) => void, string]>([
    ['another format', (v) => (v.format = 'zip'), 'x.json: format: is "zip": expected "mua-experiment"'],
    ['a later version', (v) => (v.version = 2), 'x.json: version: is 2: expected 1'],
    ['no experiment', (v) => delete v.experiment, 'x.json'],
    ['an experiment without variants', (v) => (v.experiment.variants = []), 'x.json: variants: is []: expected at least 1'],
    [
      'too many variants',
      (v) => (v.experiment.variants = Array.from({ length: 41 }, (_, i) => ({ name: `v${i}` }))),
      'x.json: variants: is',
    ],
    ['too many runs', (v) => (v.runs = Array.from({ length: 4001 }, () => null)), 'x.json: runs: is'],
    ['runs that are no list', (v) => (v.runs = { length: 1e9 }), 'x.json: runs: is {"length":1000000000}: expected an array'],
    ['a run that is null', (v) => (v.runs = [null]), 'x.json: runs[0]: is null: expected an object'],
    ['an unknown variant', (v) => (v.runs[0].variant = 'x'), 'x.json: runs[0].variant: is "x": expected a variant of the experiment'],
    ['an unknown seed', (v) => (v.runs[0].seed = 1), 'x.json: runs[0].seed: is 1: expected one of 42, 43, 44'],
    ['a repeated run', (v) => v.runs.push(v.runs[0]), 'x.json: runs[1]: repeats variant "kl" with seed 42'],
    [
      'outcomes that are no outcomes',
      (v) => (v.runs[0].evaluations[0].success = [0.5, 1]),
      'x.json: runs[0], evaluations[0].success[0]: is 0.5',
    ],
    [
      'missing outcomes',
      (v) => (v.runs[0].evaluations[0].success = [1]),
      'x.json: runs[0].evaluations[0].success: has 1 values: expected 2',
    ],
    ['too many tasks', (v) => (v.runs[0].tasks = Array.from({ length: 10_001 }, String)), 'x.json: runs[0], tasks: is'],
    ['repeated tasks', (v) => (v.runs[0].tasks = ['a', 'a']), 'x.json: runs[0].tasks: repeat a task'],
    [
      'a column that is too short',
      (v) => (v.runs[0].metrics['actor/kl_loss'] = [1]),
      'x.json: runs[0].metrics.actor/kl_loss: has 1 values: expected 2',
    ],
    ['a text in a column', (v) => (v.runs[0].metrics['actor/kl_loss'] = ['1', 2]), 'x.json: runs[0]'],
    ['steps that fall', (v) => (v.runs[0].metricSteps = [2, 1]), 'x.json: runs[0].metricSteps: do not rise'],
    ['evaluations that fall', (v) => v.runs[0].evaluations.reverse(), 'x.json: runs[0].evaluations: do not rise'],
    ['a negative time', (v) => (v.runs[0].seconds = -1), 'x.json: runs[0], seconds: is -1: expected at least 0'],
  ])('with %s is refused', (_, change, message) => {
    const value = parsed();
    change(value);
    expect(() => read(value)).toThrow(message);
  });

  test('that is no JSON, or too large, is refused', () => {
    expect(() => readExperiment('{', 'x.json')).toThrow('x.json: is not JSON');
    expect(() => readExperiment(' '.repeat(2 ** 26 + 1), 'x.json')).toThrow('expected at most 67108864');
    expect(() => readToml('#'.repeat(200_001), 'x.toml')).toThrow('expected at most 200000');
  });

  test('names such as __proto__ change nothing', () => {
    const text = writeExperiment(content).replace('"actor/kl_loss":[0.01,0.03]', '"__proto__":[0.01,0.03],"constructor":[1,2]');
    const { runs } = readExperiment(text, 'x.json');
    expect(({} as Record<string, unknown>)['0']).toBeUndefined();
    expect(analyse(EXPERIMENT, runs).variants[0]!.figures.kl).toBeNull();
  });
});

test('the report of the command line: a line for each variant, and its conclusions', () => {
  const runs = [42, 43].flatMap((seed) => [finishedRun('kl', seed, [1, 0]), finishedRun('no_kl', seed, [1, 0])]);
  expect(reportLines({ experiment: EXPERIMENT, runs: runs.slice(0, 3) })).toEqual([
    'The KL term: Does the KL term help?',
    '3 of 6 runs are finished. Means over seeds with 95 % intervals. A difference is shown if p is below 0.05 after Holm’s correction for all comparisons of the table.',
    '',
    expect.stringMatching(/^variant {8}seeds {3}Held-out success \(pass\^1\) {2}Writes with a yes, held-out {2}Hand-overs, held-out/),
    expect.stringMatching(/^kl \(baseline\) {2}2 of 3 {2}50\.0 % \(15\.0 to 85\.0\)/),
    expect.stringMatching(/^no_kl {10}1 of 3 {2}50\.0 % \(9\.5 to 90\.5\)/),
    '',
    '`no_kl` equals `kl` in held-out success (95 % interval −100.0 to 100.0, 1 seed): not shown, because one seed says nothing about other seeds.',
  ]);
});

test('an experiment can name a LoRA adapter, and a variant another one', () => {
  const text = TOML.replace('[base]', '[base]\nlora = "../cold-start"').replace('name = "no_kl"', 'name = "no_kl"\nlora = "other"');
  const experiment = readToml(text, 'x');
  const adapters = ['kl', 'no_kl'].map((variant) => requestOf(experiment, { variant, seed: 42 }).lora);
  expect(adapters).toEqual(['../cold-start', 'other']);
  expect(readToml(writeToml(experiment), 'x')).toEqual(experiment);
  expect(() => keptRuns(experiment, EXPERIMENT, [finishedRun('kl', 42, [1])])).toThrow(
    'variant "kl" with seed 42 was trained with other settings',
  );
});

test('a folder of the command line goes on with more seeds, and refuses other settings', () => {
  const runs = [finishedRun('kl', 42, [1]), finishedRun('no_kl', 42, [1])];
  expect(keptRuns({ ...EXPERIMENT, seeds: [42, 50] }, EXPERIMENT, runs)).toEqual(runs);
  expect(keptRuns({ ...EXPERIMENT, seeds: [50] }, EXPERIMENT, runs)).toEqual([]);
  const changed = { ...EXPERIMENT, base: { ...EXPERIMENT.base, overrides: { lr: 1e-3 } } };
  expect(() => keptRuns(changed, EXPERIMENT, runs)).toThrow('variant "kl" with seed 42 was trained with other settings');
  // A setting that is written out but has the preset's value is no change.
  const same = { ...EXPERIMENT, base: { ...EXPERIMENT.base, overrides: { use_kl_loss: true } } };
  expect(keptRuns({ ...same, variants: EXPERIMENT.variants }, EXPERIMENT, runs)).toHaveLength(2);
});

test('the current Setup as an experiment: its changes against the preset, on the same held-out tasks', () => {
  const experiment = fromSetup('tiny', 'nano-retail', 7, {
    lr: '0.001',
    use_kl_loss: 'false',
    val_tasks: '9',
    loss_agg_mode: 'grpo',
    level: 'small',
  });
  expect(experiment).toMatchObject({
    base: { preset: 'tiny', overrides: { level: 'small' } },
    variants: [{ name: 'preset' }, { name: 'changed', overrides: { lr: 0.001, use_kl_loss: false, loss_agg_mode: 'grpo' } }],
    seeds: [7, 8, 9],
    evaluation: { val_tasks: 9 },
  });
  expect(experiment.base.model).toBeUndefined();
  expect(readToml(writeToml(experiment), 'x')).toEqual(checkExperiment(experiment, 'x'));
});

test('plots: an axis of differences around 0, curves and bands', () => {
  expect(halfWidth([null])).toBe(0.1);
  expect(halfWidth([{ value: 0, low: -0.32, high: 0.1, seeds: 3 }])).toBe(0.35);
  expect([-0.2, 0, 0.1, 9].map((value) => place(value, 0.2))).toEqual([0, 50, 75, 100]);
  const curve = [
    { step: 0, value: 0.5, low: 0.25, high: 0.75, seeds: 2 },
    { step: 10, value: 1, low: 0.5, high: 3, seeds: 2 },
  ];
  const scale = scaleOf([curve]);
  expect(scale).toEqual({ steps: 10, low: 0, high: 2 });
  expect(line(curve, scale)).toBe('0,135 400,90');
  expect(band(curve, scale)).toBe('0,112.5 400,0 400,135 0,157.5');
  expect(band([{ ...curve[0]!, seeds: 1 }], scale)).toBe('');
});

test('a run of an experiment is evaluated before training, also with a preset that is not', () => {
  const { base } = EXPERIMENT;
  const pair = { variant: EXPERIMENT.variants[0]!.name, seed: EXPERIMENT.seeds[0]! };
  const before = (more: object) => configOf({ ...EXPERIMENT, base: { ...base, ...more } }, pair).val_before_train;
  expect(before({ preset: 'smollm2' })).toBe(true);
  expect(before({ preset: 'smollm2', overrides: { val_before_train: false } })).toBe(false);
});
