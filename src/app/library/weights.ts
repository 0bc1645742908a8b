/** @file Lists the weights that a visitor can choose, and finds those that fit a conversation's tokens. */
import type { EvaluatedModel } from '../../records/evaluation.ts';
import type { ModelRef, ModelRow } from '../../records/model.ts';
import type { RunRow } from '../../records/run.ts';
import { bundledModels, fetchBundledFile } from '../../exchange/bundled-models.ts';
import { knowsEnglish } from '../../training/pretrained.ts';
import { RECORDED, RECORDED_WEIGHTS } from './recorded-source.ts';

/** Name a model behind a server and a model in the tab in an address. No model has these names. */
export const SERVER = ':server';
export const TAB = ':tab';

/** Names weights in an address: by the model's name, or as `run@step`. */
export const refText = (model: EvaluatedModel): string =>
  model.kind === 'run' ? `${model.run}@${model.step}` : model.kind === 'model' ? model.name : `:${model.kind}`;

export function parseRef(text: string): ModelRef {
  const found = /^(.+)@(\d{1,9})$/.exec(text);
  return found ? { kind: 'run', run: found[1]!, step: Number(found[2]) } : { kind: 'model', name: text };
}

export interface Weights {
  ref: ModelRef;
  name: string;
  /** The model whose tokenizer these weights use: the name of a bundled model or the id of an imported model. */
  base: string;
  /** Whether the model understands more English than the scripted customer speaks. */
  english: boolean;
  /** The id of the run that trained these weights, if it is known. */
  run?: string;
}

/**
 * The weights of bundled models, imported models, and the checkpoints of each run, the newest checkpoint first.
 * @param runs the newest run first
 * @param checkpoints run and step of each stored checkpoint
 */
export function listWeights(runs: readonly RunRow[], checkpoints: readonly [string, number][], models: readonly ModelRow[]): Weights[] {
  const english = (base: string) => models.some(({ id, config }) => id === base && knowsEnglish(config));
  const model = (id: string, name: string, run?: string): Weights => ({
    ref: { kind: 'model', name: id },
    name,
    base: id,
    english: english(id),
    run,
  });
  const ofRuns = runs.flatMap(({ id, name, request }) => {
    const steps = checkpoints.flatMap(([run, step]) => (run === id ? [step] : []));
    return steps
      .sort((a, b) => b - a)
      .map((step): Weights => ({
        ref: { kind: 'run', run: id, step },
        name: `${name}@${step}`,
        base: request.model,
        english: english(request.model),
        run: id,
      }));
  });
  const bundled = bundledModels.map((name) => model(name, name, name === RECORDED_WEIGHTS ? RECORDED : undefined));
  return [...bundled, ...models.map(({ id, name, run }) => model(id, name, run)), ...ofRuns];
}

const TOKENIZER = 'tokenizer.json';

type FindModel = (id: string) => PromiseLike<ModelRow | undefined> | ModelRow | undefined;

/**
 * The tokenizer.json of a model. Resolves to undefined if the model is neither bundled nor stored.
 * @param model a bundled model's name or a stored model's id
 * @throws Error if the file cannot be fetched
 */
export async function tokenizerFile(model: string, find: FindModel): Promise<Blob | undefined> {
  if (bundledModels.includes(model)) return new Blob([await fetchBundledFile(model, TOKENIZER)]);
  return (await find(model))?.files[TOKENIZER];
}

/** The weights whose tokenizer equals the tokenizer of `base`. The weights of `base` itself come first. */
export async function fittingWeights(all: readonly Weights[], base: string, models: readonly ModelRow[]): Promise<Weights[]> {
  const find = (model: string) => models.find(({ id }) => id === model);
  const file = (model: string) => tokenizerFile(model, find).catch(() => undefined); // there is no network
  const own = await file(base);
  const fits = async (model: string) => model === base || (await sameText(own, await file(model)).catch(() => false)); // a file is unreadable
  const bases = [...new Set(all.map((weights) => weights.base))];
  const fitting = new Map(await Promise.all(bases.map(async (model) => [model, await fits(model)] as const)));
  const rank = ({ ref }: Weights) => Number(refText(ref) !== base);
  return all.filter((weights) => fitting.get(weights.base)).sort((a, b) => rank(a) - rank(b));
}

/** True if two files have the same content. Reads them only if their sizes are equal. */
async function sameText(a: Blob | undefined, b: Blob | undefined): Promise<boolean> {
  return a !== undefined && b !== undefined && a.size === b.size && (await a.text()) === (await b.text());
}
