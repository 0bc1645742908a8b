/**
 * Makes public/recorded/interaction.json, which has the evaluations of docs/results/customers.md, and prints the tables of that document.
 * Its inputs are folders that this command writes:
 * `./mua evaluate --model MODEL --user scripted --user learned --tasks 200 --seed SEED --out DIR`
 * Usage: npx tsx scripts/bundle-evaluations.mts NAME=DIR …
 */
import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { conditionsOf } from '../src/environments/conditions.ts';
import { reportOf } from '../src/evaluation/report.ts';
import { resultOf } from '../src/evaluation/trial-result.ts';
import type { EvaluationRow } from '../src/records/evaluation.ts';
import type { Trajectory } from '../src/records/trajectory.ts';
import type { UserConfig } from '../src/records/user.ts';
import { limitsFor } from '../src/training/presets.ts';
import { evaluationSettings } from '../src/training/evaluation-settings.ts';
import { interactionTables } from './interaction-table.mts';

const OUT = 'public/recorded/interaction.json';
const CUSTOMERS: Record<string, UserConfig> = {
  scripted: { mode: 'scripted' },
  learned: { mode: 'local', source: 'bundled', model: 'nano-customer', precision: 'fp32', device: 'wasm' },
};

const rows = process.argv.slice(2).flatMap((pair): EvaluationRow[] => {
  const [name, directory] = pair.split(/=(.*)/s);
  if (!name || !directory) throw new Error(`"${pair}": expected NAME=DIR`);
  const read = (file: string) => readFileSync(join(directory, file), 'utf8');
  const { state, settings } = JSON.parse(read('status.json'));
  if (state !== 'done') throw new Error(`${directory}: the evaluation is ${state}: expected done`);
  const { domain, level = 'nano', trials, temperature, tasks, user, seed } = settings.flags;
  const { customers } = JSON.parse(read('result.json')) as { customers: { seconds: number }[] };
  return (user as string[]).map((customer, i) => {
    const trajectories = read(`trajectories-${i + 1}.jsonl`)
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as Trajectory);
    const asked = { domain, level, split: 'heldout', tasks: Number(tasks), trials, temperature, seed, user: CUSTOMERS[customer]! } as const;
    return {
      id: `published-${name.replaceAll(' ', '-')}-${seed}-${customer}`,
      createdAt: Math.round(statSync(join(directory, 'result.json')).mtimeMs),
      run: '',
      model: { kind: 'model', name },
      name,
      settings: evaluationSettings({ ...asked, conditions: conditionsOf(limitsFor(domain, level), 'val') }),
      report: reportOf(trajectories, trials, customers[i]!.seconds),
      results: trajectories.map(resultOf).sort((a, b) => a.id.localeCompare(b.id, 'en', { numeric: true })),
      recorded: true,
    };
  });
});
writeFileSync(OUT, `[\n${rows.map((row) => JSON.stringify(row)).join(',\n')}\n]\n`);
console.log(`${OUT}: ${rows.length} evaluations, ${(statSync(OUT).size / 1024).toFixed(0)} KiB`);
console.log(interactionTables(rows).join('\n'));
