/**
 * @file The table of `scripts/cross-domain.sh`: for each arm its pass^1 in percent on both domains, as a mean over seeds with a 95 %
 * interval (Student's t over the seeds), and the difference from the cold start, paired by seed.
 *
 *     npx tsx scripts/cross-domain-table.mts --results cross-domain --seeds 50,51,52
 */
import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { overSeeds } from '../src/experiments/estimate.ts';
import type { EvaluationReport } from '../src/records/evaluation.ts';

const { values } = parseArgs({ options: { results: { type: 'string' }, seeds: { type: 'string' } } });
if (!values.results || !values.seeds) throw new Error('usage: npx tsx scripts/cross-domain-table.mts --results DIR --seeds 50,51,52');
const seeds = values.seeds.split(',');

const successes = (domain: string, arm: string): number[] =>
  seeds.map((seed) => {
    const report = JSON.parse(readFileSync(`${values.results}/on-${domain}/${arm}-${seed}/result.json`, 'utf8')) as EvaluationReport;
    return 100 * report.pass_hat[0]!.value;
  });
const shown = (of: number[]): string => {
  const { value, low, high } = overSeeds(of)!;
  return `${value.toFixed(1)} (${low.toFixed(1)} to ${high.toFixed(1)})`;
};

const DOMAINS = ['retail', 'telecom'];
console.log(`| arm | ${DOMAINS.map((domain) => `pass^1 on ${domain} | minus start`).join(' | ')} |\n|---|--:|--:|--:|--:|`);
for (const arm of ['start', 'grpo-retail', 'sft-retail', 'grpo-telecom', 'sft-telecom']) {
  const cells = DOMAINS.flatMap((domain) => {
    const start = successes(domain, 'start');
    const own = successes(domain, arm);
    return [shown(own), arm === 'start' ? '' : shown(own.map((value, i) => value - start[i]!))];
  });
  console.log(`| ${arm} | ${cells.join(' | ')} |`);
}
