/** @file Weights as the page names them, and those that read the tokens of a conversation. */
import type { ModelRef } from '../../evaluation/types.ts';
import type { RunDatabase } from '../../storage/database.ts';

/** Weights in an address: a model's name, or `run@step`. */
export const refText = (model: ModelRef) => (model.kind === 'model' ? model.name : `${model.run}@${model.step}`);

export function parseRef(text: string): ModelRef {
  const found = /^(.+)@(\d{1,9})$/.exec(text);
  return found ? { kind: 'run', run: found[1]!, step: Number(found[2]) } : { kind: 'model', name: text };
}

export interface Weights {
  ref: ModelRef;
  name: string;
}

/**
 * Weights with the tokenizer of `base`, a model's name or id: its own, checkpoints of runs that began with it, the newest run
 * first, and what came with such a run's file.
 */
export async function weightsFor(db: RunDatabase, base: string): Promise<Weights[]> {
  const [runs, keys, models] = await Promise.all([db.runs.orderBy('createdAt').reverse().toArray(), db.checkpoints.toCollection().primaryKeys(), db.models.toArray()]);
  const own = runs.filter(({ request }) => request.model === base);
  const checkpoints = own.flatMap(({ id, name }) => {
    const steps = keys.flatMap(([run, step]) => (run === id ? [step] : []));
    return steps.sort((a, b) => b - a).map((step): Weights => ({ ref: { kind: 'run', run: id, step }, name: `${name}@${step}` }));
  });
  const brought = models.filter(({ id, run }) => id === base || own.some((row) => row.id === run)).map(({ id, name }): Weights => ({ ref: { kind: 'model', name: id }, name }));
  const bundled = brought.some(({ ref }) => refText(ref) === base) ? [] : [{ ref: { kind: 'model', name: base } as const, name: base }];
  return [...bundled, ...brought, ...checkpoints];
}
