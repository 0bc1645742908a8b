/** @file The table of docs/results/matched-controls.md, from the results of its experiments. A variant without all seeds is “not run”. */
import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { analyse, points } from '../src/experiments/analysis.ts';
import type { Estimate } from '../src/experiments/estimate.ts';
import { readExperiment } from '../src/experiments/file.ts';
import { pendingPairs } from '../src/experiments/plan.ts';
import { readToml } from '../src/experiments/read-toml.ts';
import type { Experiment, ExperimentRun } from '../src/records/experiment.ts';

const MEANING: Record<string, string> = {
  grpo: 'GRPO',
  rejection_sampling: 'imitates its successful rollouts',
  sft_on_the_runs_customers: 'imitates both demonstrators',
  sft_careful_only: 'imitates the one who asks',
  start: 'no training: the prompt alone',
  start_greedy: 'the same, greedy',
  guard: 'no training: a rule of three lines asks',
};
const NOT_RUN = 'not run';

interface Results {
  experiment: Experiment;
  runs: ExperimentRun[];
  /** Whether a variant has a result for each seed. */
  ran: (name: string) => boolean;
}

/** @param folder the folder with the definition and, after the experiment was run, the results */
function read(id: string, folder: string): Results {
  const experiment = readToml(readFileSync(`${folder}/${id}.toml`, 'utf8'), `${id}.toml`);
  const file = `${folder}/${id}.mua-experiment.json`;
  const { runs } = existsSync(file) ? readExperiment(readFileSync(file, 'utf8'), file) : { runs: [] };
  const pending = pendingPairs(experiment, runs);
  return { experiment, runs, ran: (name) => !pending.some(({ variant }) => variant === name) };
}

const FOLDER = fileURLToPath(new URL('../public/experiments', import.meta.url));
const interval = ({ value, low, high }: Estimate) => `${points(value)} (${points(low)} to ${points(high)})`;
const signed = (estimate: Estimate) => (estimate.value > 0 ? '+' : '') + interval(estimate);

/** For each arm of an experiment: its pass^1, and the difference from the baseline. */
function cells(id: string, folder: string): Map<string, string[]> {
  const { experiment, runs, ran } = read(id, folder);
  const { variants, comparisons } = analyse({ ...experiment, variants: experiment.variants.filter(({ name }) => ran(name)) }, runs);
  const arm = (name: string): string[] => {
    const share = variants.find((variant) => variant.name === name)?.figures.held_out;
    if (!share) return [NOT_RUN, ''];
    const { difference = null, verdict } = comparisons.find(({ variant }) => variant === name) ?? {};
    return [interval(share), difference ? signed(difference) + (verdict === 'not shown' ? '' : ', shown') : ''];
  };
  return new Map(experiment.variants.map(({ name }) => [name, arm(name)]));
}

/** The rows of a table of all arms. Each experiment has two columns. The first row is the head. @param ids level → id of an experiment */
export function controlRows(ids: Readonly<Record<string, string>>, folder = FOLDER): string[][] {
  const levels = Object.values(ids).map((id) => cells(id, folder));
  return [
    ['arm', 'what it is', ...Object.keys(ids).flatMap((level) => [`pass^1 at ${level}`, 'minus `grpo`'])],
    ...Object.entries(MEANING).map(([name, meaning]) => [`\`${name}\``, meaning, ...levels.flatMap((arms) => arms.get(name)!)]),
  ];
}
