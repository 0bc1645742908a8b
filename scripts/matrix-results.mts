/**
 * @file Writes `docs/results/matrix.json` from the evaluations of `scripts/matrix.sh`. A cell has pass^1, or the reason why there is none: the
 * prompt is as long as the context that the model knows, or the cell was not run.
 *
 *     npx tsx scripts/matrix-results.mts --results matrix
 */
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { path } from '../src/base/message-path.ts';
import type { EvaluationReport } from '../src/records/evaluation.ts';
import type { Trajectory } from '../src/records/trajectory.ts';
import { type Cell, type Matrix, PLACES } from './matrix-table.ts';

const { values } = parseArgs({ options: { results: { type: 'string' } } });
if (!values.results) throw new Error('usage: npx tsx scripts/matrix-results.mts --results DIR');
const ROOT = fileURLToPath(new URL('..', import.meta.url));
const json = (file: string): unknown => JSON.parse(readFileSync(file, 'utf8'));

function cellOf(model: string, place: string): Cell {
  const folder = `${values.results}/${model}/${place}`;
  if (!existsSync(`${folder}/result.json`)) return { not_run: true };
  const report = json(`${folder}/result.json`) as EvaluationReport;
  const { max_position_embeddings: context } = json(`${ROOT}models/${model}/config.json`) as { max_position_embeddings: number };
  const line = readFileSync(`${folder}/trajectories-1.jsonl`, 'utf8').split('\n', 1)[0]!;
  const nodes = path(JSON.parse(line) as Trajectory);
  const first = nodes.findIndex(({ mask }) => mask.includes(1));
  const prompt = nodes.slice(0, first < 0 ? undefined : first).reduce((sum, { tokens }) => sum + tokens.length, 0);
  // If the agent wrote nothing, the prompt was cut where the conversation was full.
  if (prompt >= context) return { prompt, ...(first < 0 && { cut: true as const }), context };
  // The script plays one task of a benchmark, to measure its prompt.
  if (report.tasks < 2) return { not_run: true };
  const { value, low, high } = report.pass_hat[0]!;
  return { value, low, high, tasks: report.tasks };
}

const models = readdirSync(values.results, { withFileTypes: true }).filter((entry) => entry.isDirectory());
const matrix: Matrix = Object.fromEntries(
  models.map(({ name }) => [name, Object.fromEntries(PLACES.map(({ place }) => [place, cellOf(name, place)])) as Matrix[string]]),
);
writeFileSync(`${ROOT}docs/results/matrix.json`, `${JSON.stringify(matrix, null, 1)}\n`);
