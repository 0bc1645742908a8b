/** @file The evaluations of docs/results/customers.md, which come with the page. Their conversations do not. */
import type { EvaluationRow } from '../../records/evaluation.ts';

const FILE = 'recorded/interaction.json';
const PREFIX = 'published-';

export const isPublished = (id: string) => id.startsWith(PREFIX);

let rows: Promise<EvaluationRow[]> | undefined;

/** @throws Error if the file cannot be fetched; the next call tries again */
export function publishedEvaluations(): Promise<EvaluationRow[]> {
  rows ??= (async () => {
    const response = await fetch(FILE);
    if (!response.ok) throw new Error(`${FILE}: HTTP ${response.status}`);
    return (await response.json()) as EvaluationRow[];
  })();
  rows.catch(() => (rows = undefined));
  return rows;
}
