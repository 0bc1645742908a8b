/** @file Weights as the page names them, and which of them read the tokens of a conversation. */
import type { ModelRef } from '../../evaluation/types.ts';
import type { RunDatabase } from '../../storage/database.ts';
import { bundledModels } from '../../training/bundled-models.ts';
import { RECORDED, RECORDED_WEIGHTS } from './recorded.ts';
import { tokenizerFile } from './tokenizer-file.ts';

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
  const file = (model: string) => tokenizerFile(db, model).catch(() => undefined); // no network
  const own = await file(base);
  const fits = async (model: string) => model === base || (await sameText(own, await file(model)).catch(() => false)); // a file that cannot be read
  const models = [...new Set(all.map((weights) => weights.base))];
  const fitting = new Map(await Promise.all(models.map(async (model) => [model, await fits(model)] as const)));
  const rank = ({ ref }: Weights) => Number(refText(ref) !== base);
  return all.filter((weights) => fitting.get(weights.base)).sort((a, b) => rank(a) - rank(b));
}

/** Reads large files only where their sizes are one. */
async function sameText(a: Blob | undefined, b: Blob | undefined): Promise<boolean> {
  return a !== undefined && b !== undefined && a.size === b.size && (await a.text()) === (await b.text());
}
