/** @file Weights as the page names them, and which of them read the tokens of a conversation. */
import type { ModelRef } from '../../evaluation/types.ts';
import type { RunDatabase } from '../../storage/database.ts';
import { bundledModels, fetchBundledFile } from '../../training/bundled-models.ts';
import { RECORDED, RECORDED_WEIGHTS } from './recorded.ts';

/** Weights in an address: a model's name, or `run@step`. */
export const refText = (model: ModelRef) => (model.kind === 'model' ? model.name : `${model.run}@${model.step}`);

export function parseRef(text: string): ModelRef {
  const found = /^(.+)@(\d{1,9})$/.exec(text);
  return found ? { kind: 'run', run: found[1]!, step: Number(found[2]) } : { kind: 'model', name: text };
}

export interface Weights {
  ref: ModelRef;
  name: string;
  /** The model, by its name or id, whose tokenizer they have. */
  base: string;
  /** The run they came out of, where that is known. */
  run?: string;
}

/** Bundled models, those brought to this browser, and checkpoints: of the newest run first, and of each the newest. */
export async function allWeights(db: RunDatabase): Promise<Weights[]> {
  const [runs, keys, models] = await Promise.all([db.runs.orderBy('createdAt').reverse().toArray(), db.checkpoints.toCollection().primaryKeys(), db.models.toArray()]);
  const model = (id: string, name: string, run?: string): Weights => ({ ref: { kind: 'model', name: id }, name, base: id, run });
  const checkpoints = runs.flatMap(({ id, name, request }) => {
    const steps = keys.flatMap(([run, step]) => (run === id ? [step] : []));
    return steps.sort((a, b) => b - a).map((step): Weights => ({ ref: { kind: 'run', run: id, step }, name: `${name}@${step}`, base: request.model, run: id }));
  });
  const bundled = bundledModels.map((name) => model(name, name, name === RECORDED_WEIGHTS ? RECORDED : undefined));
  return [...bundled, ...models.map(({ id, name, run }) => model(id, name, run)), ...checkpoints];
}

/** Those among all weights that have the tokenizer of `base`, itself first. */
export async function weightsFor(db: RunDatabase, base: string): Promise<Weights[]> {
  const all = await allWeights(db);
  const own = await tokenizerOf(db, base);
  const same = new Set([base]);
  for (const name of new Set(all.map((weights) => weights.base))) if (own !== null && name !== base && (await tokenizerOf(db, name)) === own) same.add(name);
  const fitting = all.filter((weights) => same.has(weights.base));
  return [...fitting.filter(({ ref }) => refText(ref) === base), ...fitting.filter(({ ref }) => refText(ref) !== base)];
}

/** Its file; null where it is not to be had. */
async function tokenizerOf(db: RunDatabase, model: string): Promise<string | null> {
  try {
    if (bundledModels.includes(model)) return new TextDecoder().decode(await fetchBundledFile(model, 'tokenizer.json'));
    return (await (await db.models.get(model))?.files['tokenizer.json']?.text()) ?? null;
  } catch {
    return null; // no network, or a file that cannot be read
  }
}
