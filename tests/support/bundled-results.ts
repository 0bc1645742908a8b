/**
 * @file Figures from the raw data of the bundled results, in arithmetic of its own: nothing here is imported from `src/`, so the tests can
 * compare the texts with it. Shares and differences are in percent and percentage points.
 */
import { readFileSync } from 'node:fs';
import { strFromU8, unzipSync } from 'fflate';

interface Run {
  variant: string;
  seed: number;
  tasks: string[];
  intents?: string[];
  evaluations: {
    step: number;
    success: (0 | 1 | null)[];
    greedy?: (0 | 1 | null)[];
    writes?: [number, number][];
    figures: Record<string, number>;
  }[];
  metricSteps: number[];
  metrics: Record<string, (number | null)[]>;
}

/** A mean with its interval. */
export interface Figure {
  value: number;
  low: number;
  high: number;
}

const json = (path: string): unknown => JSON.parse(readFileSync(path, 'utf8'));
const runs = new Map<string, Run[]>();

/** The runs of a variant, in the order of their seeds. */
export function runsOf(experiment: string, variant: string): Run[] {
  if (!runs.has(experiment)) runs.set(experiment, (json(`public/experiments/${experiment}.mua-experiment.json`) as { runs: Run[] }).runs);
  const found = runs.get(experiment)!.filter((run) => run.variant === variant);
  if (found.length === 0) throw new Error(`${experiment}: no run of ${variant}`);
  return found.toSorted((a, b) => a.seed - b.seed);
}

const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0);
export const mean = (values: readonly number[]) => sum(values) / values.length;
const deviation = (values: readonly number[]) =>
  Math.sqrt(values.reduce((sum, value) => sum + (value - mean(values)) ** 2, 0) / (values.length - 1));

/**
 * The 97.5 % quantile of Student's t: from printed tables for 1 to 9 degrees of freedom, else by the expansion of Abramowitz and Stegun
 * 26.7.5, whose error is below 1e-4 there.
 */
function t975(df: number): number {
  const printed = [12.7062, 4.30265, 3.18245, 2.77645, 2.57058, 2.44691, 2.36462, 2.306, 2.26216];
  const z = 1.959964;
  return (
    printed[df - 1] ??
    z +
      (z ** 3 + z) / (4 * df) +
      (5 * z ** 5 + 16 * z ** 3 + 3 * z) / (96 * df ** 2) +
      (3 * z ** 7 + 19 * z ** 5 + 17 * z ** 3 - 15 * z) / (384 * df ** 3)
  );
}

/** Student's t over one value a seed. */
export function overSeeds(values: readonly number[], [least, most] = [-Infinity, Infinity]): Figure {
  const reach = (t975(values.length - 1) * deviation(values)) / Math.sqrt(values.length);
  return { value: mean(values), low: Math.max(least!, mean(values) - reach), high: Math.min(most!, mean(values) + reach) };
}

/** Wilson's interval of the share of ones. */
function wilson(outcomes: readonly number[]): Figure {
  const [n, p, z] = [outcomes.length, mean(outcomes), 1.959964];
  const centre = (p + z ** 2 / (2 * n)) / (1 + z ** 2 / n);
  const reach = (z / (1 + z ** 2 / n)) * Math.sqrt((p * (1 - p)) / n + z ** 2 / (4 * n ** 2));
  return { value: 100 * p, low: 100 * (centre - reach), high: 100 * (centre + reach) };
}

/** The interval of Bonett and Price for paired outcomes, with Student's t: one gained and one lost pair are added. */
function paired(differences: readonly number[]): Figure {
  const n = differences.length;
  const gained = differences.filter((d) => d > 0).length + 1;
  const lost = differences.filter((d) => d < 0).length + 1;
  const centre = (gained - lost) / (n + 2);
  const reach = t975(n - 1) * Math.sqrt(((gained + lost) / (n + 2) - centre ** 2) / n);
  return {
    value: 100 * mean(differences),
    low: 100 * Math.max(-1, centre - reach),
    high: 100 * Math.min(1, centre + reach),
  };
}

/** Shares as percent. The multiplication comes last, as in the program: values such as 23.75 are rounded by their binary error. */
const percent = ({ value, low, high }: Figure): Figure => ({ value: 100 * value, low: 100 * low, high: 100 * high });
const wider = (a: Figure, b: Figure): Figure => ({ ...a, low: Math.min(a.low, b.low), high: Math.max(a.high, b.high) });
const outcomesAt = (run: Run, step: number) => run.evaluations.at(step)!.success as number[];

/** Outcomes of `a` minus those of `b`, by task. */
function differences(a: Run, stepA: number, b: Run, stepB: number): number[] {
  const base = new Map(b.tasks.map((task, i) => [task, outcomesAt(b, stepB)[i]!]));
  return a.tasks.map((task, i) => {
    if (!base.has(task)) throw new Error(`${a.variant}, seed ${a.seed}: ${b.variant} did not play ${task}`);
    return outcomesAt(a, stepA)[i]! - base.get(task)!;
  });
}

/** The two-sided p-value of Student's t: the tail of cos^(df − 1) between the angle of `t` and π/2, by Simpson's rule. */
function tTest(t: number, df: number): number {
  const area = (from: number) => {
    const [steps, width] = [2000, (Math.PI / 2 - from) / 2000];
    const at = (i: number) => Math.cos(from + i * width) ** (df - 1) * (i === 0 || i === steps ? 1 : i % 2 ? 4 : 2);
    return (Array.from({ length: steps + 1 }, (_, i) => at(i)).reduce((sum, value) => sum + value, 0) * width) / 3;
  };
  return area(Math.atan(Math.abs(t) / Math.sqrt(df))) / area(0);
}

/** The larger one of the p-values over seeds and over tasks of “no difference from `other`”. */
function pValue(bySeed: number[][]): number {
  const means = bySeed.map(mean);
  const d = bySeed.flat();
  const [gained, lost, n] = [d.filter((x) => x > 0).length + 1, d.filter((x) => x < 0).length + 1, d.length];
  const centre = (gained - lost) / (n + 2);
  const ofTasks = tTest(centre / Math.sqrt(((gained + lost) / (n + 2) - centre ** 2) / n), n - 1);
  const ofSeeds = mean(means) === 0 ? 1 : tTest((mean(means) * Math.sqrt(means.length)) / deviation(means), means.length - 1);
  return Math.max(ofTasks, ofSeeds);
}

/** The variants whose difference from `other` is shown: p is below 0.05 after Holm's correction for all of them. */
export const shown = (experiment: string, variants: readonly string[], other = 'grpo'): Set<string> =>
  holm(variants.map((name) => ({ name, p: pValue(versus(experiment, name, other)) })));
function holm(tests: readonly { name: string; p: number }[]): Set<string> {
  const sorted = tests.toSorted((a, b) => a.p - b.p);
  const failing = sorted.findIndex(({ p }, i) => p * (sorted.length - i) >= 0.05);
  return new Set(sorted.slice(0, failing < 0 ? sorted.length : failing).map(({ name }) => name));
}

/** The held-out pass^1 at evaluation `at`: by seed, and over the seeds. */
export const passBySeed = (experiment: string, variant: string, at = -1): number[] =>
  runsOf(experiment, variant).map((run) => 100 * mean(outcomesAt(run, at)));
export const pass = (experiment: string, variant: string, at = -1): Figure =>
  shareOf(runsOf(experiment, variant).map((run) => outcomesAt(run, at)));
/** The same for greedy decoding. */
export const greedy = (experiment: string, variant: string): Figure =>
  shareOf(runsOf(experiment, variant).map((run) => run.evaluations.at(-1)!.greedy as number[]));
const shareOf = (bySeed: readonly number[][]): Figure => wider(percent(overSeeds(bySeed.map(mean), [0, 1])), wilson(bySeed.flat()));

/** A difference over seeds, from the differences of the tasks of each seed. */
function overTasks(bySeed: number[][]): Figure {
  return wider(percent(overSeeds(bySeed.map(mean), [-1, 1])), paired(bySeed.flat()));
}

/** The change of pass^1 from the first to the last evaluation. */
export const gain = (experiment: string, variant: string): Figure =>
  overTasks(runsOf(experiment, variant).map((run) => differences(run, -1, run, 0)));
/** The same of each seed, with the interval over its tasks and the numbers of tasks gained and lost. */
export const gains = (experiment: string, variant: string): (Figure & { gained: number; lost: number })[] =>
  runsOf(experiment, variant).map((run) => counted(differences(run, -1, run, 0)));
/** The same for the tasks of all seeds together. */
export const gainOfAll = (experiment: string, variant: string) =>
  counted(runsOf(experiment, variant).flatMap((run) => differences(run, -1, run, 0)));
const counted = (values: number[]) => ({
  ...paired(values),
  gained: values.filter((d) => d > 0).length,
  lost: values.filter((d) => d < 0).length,
});
/** The last pass^1 of `variant` minus that of `other`. */
export const minus = (experiment: string, variant: string, other = 'grpo'): Figure => overTasks(versus(experiment, variant, other));
/** The same of each seed, and for the tasks of all seeds together. */
export const minusBySeed = (experiment: string, variant: string, other: string): Figure[] => versus(experiment, variant, other).map(paired);
export const minusOfAll = (experiment: string, variant: string, other: string): Figure => paired(versus(experiment, variant, other).flat());
const versus = (experiment: string, variant: string, other: string): number[][] =>
  runsOf(experiment, variant).map((run, i) => differences(run, -1, runsOf(experiment, other)[i]!, -1));
/** pass^1 of one seed, with Wilson's interval. */
export const passOfSeed = (experiment: string, variant: string, seed: number, at = -1): Figure =>
  wilson(
    outcomesAt(
      runsOf(experiment, variant).find((run) => run.seed === seed)!,
      at,
    ),
  );

/** The share of writes with a yes, by seed. */
export const confirmedBySeed = (experiment: string, variant: string, at = -1): number[] =>
  runsOf(experiment, variant).map((run) => 100 * run.evaluations.at(at)!.figures.confirmed_writes!);
export const confirmed = (experiment: string, variant: string, at = -1): Figure =>
  overSeeds(confirmedBySeed(experiment, variant, at), [0, 100]);
const shareAtEnd =
  (name: 'called_again' | 'offered_more') =>
  (experiment: string, variant: string): Figure =>
    overSeeds(
      runsOf(experiment, variant).map((run) => 100 * run.evaluations.at(-1)!.figures[name]!),
      [0, 100],
    );
/** The share of timeouts after which the agent calls again. */
export const calledAgain = shareAtEnd('called_again');
/** The share of reserved customers whom the agent asks for more. */
export const offeredMore = shareAtEnd('offered_more');
/** The places of the tasks of one domain, or of those with one intent, also where the wish is impossible. */
const placesOf = ({ tasks, intents }: Run, part: string) =>
  tasks.flatMap((task, i) => (task.startsWith(`${part}/`) || intents![i]!.startsWith(part) ? [i] : []));
/** The share of the writes with a yes, in the tasks with one intent, by seed. */
const askedBySeed = (experiment: string, variant: string, intent: string): number[] =>
  runsOf(experiment, variant).map((run) => {
    const writes = placesOf(run, intent).map((i) => run.evaluations.at(-1)!.writes![i]!);
    return (100 * sum(writes.map(([yes]) => yes))) / sum(writes.map(([, all]) => all));
  });
/** pass^1 in the tasks with one intent, and the share of their writes with a yes. */
export const intentFigures = (experiment: string, variant: string, intent: string): [success: Figure, asked: Figure] => [
  shareOf(runsOf(experiment, variant).map((run) => placesOf(run, intent).map((i) => outcomesAt(run, -1)[i]!))),
  overSeeds(askedBySeed(experiment, variant, intent), [0, 100]),
];
/** Outcomes of `variant` minus those of `other` in the tasks with one intent, for each seed. */
const versusIn = (experiment: string, variant: string, other: string, intent: string): number[][] =>
  versus(experiment, variant, other).map((tasks, seed) => placesOf(runsOf(experiment, variant)[seed]!, intent).map((i) => tasks[i]!));
/** The same figures of `variant` minus those of `other`. */
export function intentMinus(experiment: string, variant: string, other: string, intent: string): [success: Figure, asked: Figure] {
  const base = askedBySeed(experiment, other, intent);
  return [
    overTasks(versusIn(experiment, variant, other, intent)),
    overSeeds(
      askedBySeed(experiment, variant, intent).map((share, seed) => share - base[seed]!),
      [-100, 100],
    ),
  ];
}
/** Those of several pairs of a variant and an intent or a domain whose difference of pass^1 from `other` is shown, as `variant intent`. */
export const shownIntents = (experiment: string, pairs: readonly (readonly [variant: string, intent: string])[], other: string) =>
  holm(pairs.map(([variant, intent]) => ({ name: `${variant} ${intent}`, p: pValue(versusIn(experiment, variant, other, intent)) })));
export function confirmedGain(experiment: string, variant: string): Figure {
  const before = confirmedBySeed(experiment, variant, 0);
  return overSeeds(
    confirmedBySeed(experiment, variant).map((after, i) => after - before[i]!),
    [-100, 100],
  );
}

/** The mean of a metric over the steps `from` to `to`, by seed. */
export const metricBySeed = (experiment: string, variant: string, name: string, from: number, to: number): number[] =>
  runsOf(experiment, variant).map((run) =>
    mean(
      run.metrics[name]!.flatMap((value, i) => (value !== null && run.metricSteps[i]! >= from && run.metricSteps[i]! <= to ? value : [])),
    ),
  );

interface Evaluated {
  name: string;
  settings: { seed: number; user: { mode: string } };
  results: { reward: number | null }[];
}

const evaluated = json('public/recorded/interaction.json') as Evaluated[];

/** The rewards of weights in the evaluations of docs/results/customers.md, for seeds 42 to 44. */
function interactionRewards(name: string, customer: 'scripted' | 'local'): number[][] {
  return [42, 43, 44].map((seed) => {
    const found = evaluated.filter((row) => row.name === name && row.settings.seed === seed && row.settings.user.mode === customer);
    if (found.length !== 1) throw new Error(`${name}, seed ${seed}, ${customer}: ${found.length} evaluations`);
    return found[0]!.results.flatMap(({ reward }) => reward ?? []);
  });
}
/** Their pass^1, by seed; and that of seed 42 with Wilson's interval. */
export const interaction = (name: string, customer: 'scripted' | 'local'): number[] =>
  interactionRewards(name, customer).map((values) => 100 * mean(values));
export const interactionOf42 = (name: string): Figure => wilson(interactionRewards(name, 'scripted')[0]!);

interface RecordedTrial {
  evaluation: string;
  reward: number;
  task: { id: string; world: string; scenario: { identity: Record<string, string> } };
  nodes: { role: string; text: string; toolCall?: object; toolResult?: { changes: unknown[] } }[];
  violations: { rule: string }[];
}

/** The sums of values over the customers of trials: trials of one customer belong together. */
function byCustomer(trials: readonly RecordedTrial[], values: readonly number[]): { sum: number; of: number }[] {
  const customers = new Map<string, { sum: number; of: number }>();
  for (const [i, { task }] of trials.entries()) {
    const { email, ...facts } = task.scenario.identity;
    const key = [task.world, ...Object.values(Object.keys(facts).length > 0 ? facts : { email })].join('/');
    const { sum, of } = customers.get(key) ?? { sum: 0, of: 0 };
    customers.set(key, { sum: sum + values[i]!, of: of + 1 });
  }
  return [...customers.values()];
}

/** The ratio of sums, and its linearised standard error with Student's t, after two customers of mean size were added: one has `least`, one has 1. */
function overCustomers(trials: readonly RecordedTrial[], values: readonly number[], least: number): Figure {
  const units = byCustomer(trials, values);
  const size = values.length / units.length;
  const all = [...units, { sum: least * size, of: size }, { sum: size, of: size }];
  const centre = all.reduce((total, { sum }) => total + sum, 0) / all.reduce((total, { of }) => total + of, 0);
  const squares = all.reduce((total, { sum, of }) => total + ((sum - centre * of) / size) ** 2, 0);
  const reach = t975(units.length - 1) * Math.sqrt(squares / (units.length + 2) / units.length);
  return { value: 100 * mean(values), low: 100 * Math.max(least, centre - reach), high: 100 * Math.min(1, centre + reach) };
}

/** The share of writes with a yes, in percent. A write is a call that changed rows. */
function askedShare(trials: readonly RecordedTrial[]): number {
  const writes = trials.flatMap(({ nodes }) => nodes.filter(({ toolResult }) => toolResult && toolResult.changes.length > 0)).length;
  const unasked = trials.flatMap(({ violations }) => violations.filter(({ rule }) => rule === 'unconfirmed_write')).length;
  return 100 * (1 - unasked / writes);
}

/** The share of timeouts whose next turn of the agent is a call, in percent. */
function calledAgainShare(trials: readonly RecordedTrial[]): number {
  const next = trials.flatMap(({ nodes }) =>
    nodes.flatMap(({ role, text }, i) =>
      role === 'tool' && text === 'Error: timeout, perhaps not done'
        ? [nodes.slice(i + 1).find((node) => node.role === 'assistant')?.toolCall !== undefined]
        : [],
    ),
  );
  return 100 * mean(next.map(Number));
}

/** The figures of a recorded run, `public/recorded/NAME.mua.zip`, and of its evaluations before and after training. */
function recordedRun(name: string) {
  const zip = unzipSync(new Uint8Array(readFileSync(`public/recorded/${name}.mua.zip`)));
  const lines = (file: string): unknown[] =>
    strFromU8(zip[file]!)
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as unknown);
  const metrics = lines('metrics.jsonl') as Record<string, number>[];
  const all = lines('trials.jsonl') as RecordedTrial[];
  /** The trials of an evaluation, in the order of tasks. */
  const trials = (when: 'before' | 'after') =>
    all.filter(({ evaluation }) => evaluation.endsWith(`-${when}`)).toSorted((a, b) => a.task.id.localeCompare(b.task.id));
  const [before, after] = [trials('before'), trials('after')];
  const differences = after.map(({ reward }, i) => reward - before[i]!.reward);
  return {
    tasks: after.length,
    gained: differences.filter((d) => d > 0).length,
    lost: differences.filter((d) => d < 0).length,
    /** The change of pass^1 from `before` to `after`. */
    gain: overCustomers(after, differences, -1),
    pass: (when: 'before' | 'after') =>
      overCustomers(
        trials(when),
        trials(when).map(({ reward }) => reward),
        0,
      ),
    asked: (when: 'before' | 'after') => askedShare(trials(when)),
    calledAgain: (when: 'before' | 'after') => calledAgainShare(trials(when)),
    metric: (key: string, step: number) => metrics.find((values) => values.step === step)![key]!,
  };
}

export const recorded = recordedRun('run');
export const recordedTimeouts = recordedRun('timeouts');
