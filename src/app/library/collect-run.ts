/** @file Collects everything that is stored of a run, for an export. */
import type { RunContent, SharedBranch } from '../../records/bundle.ts';
import type { EvaluationRow } from '../../records/evaluation.ts';
import { bundledModels } from '../../exchange/bundled-models.ts';
import { usedVocabulary } from '../../exchange/used-vocabulary.ts';
import { ScenarioDatabase } from '../../storage/own-scenarios.ts';
import type { RunDatabase } from '../../storage/database.ts';
import { playedDomains, sharedEvaluation } from './evaluation-row.ts';
import { originsIn, readOrigin } from './origin.ts';
import type { RunSource } from './source.ts';

/** Reads all parts of the run in one transaction, so they fit together even during training. @throws Error if the run is missing */
export async function collectRun(db: RunDatabase, source: RunSource, id: string): Promise<Omit<RunContent, 'model'>> {
  const { run, rows, ...content } = await source.atOnce(async () => {
    const [run, metrics, rollouts, trajectories, [rows, trials, branches]] = await Promise.all([
      source.run(id),
      source.metrics(id),
      source.rollouts(id),
      source.trajectories(id),
      source.evaluations(id).then(async (newestFirst) => {
        const rows = newestFirst.toReversed();
        const trials = await Promise.all(rows.map((row) => source.trials(row.id)));
        return [rows, trials.flat(), await branchesOf(db, id, rows)] as const;
      }),
    ]);
    return { run, metrics, rollouts, trajectories, rows, trials, branches };
  });
  if (!run) throw new Error(source.readOnly ? 'the recorded run could not be read' : `there is no run "${id}" in this browser`);
  const evaluations = rows.map(sharedEvaluation);
  const stored = await new ScenarioDatabase().scenarios.bulkGet(playedDomains(run, evaluations));
  const scenarios = stored.flatMap((row) => row?.text ?? []);
  return { run, ...content, evaluations, ...(scenarios.length > 0 && { scenarios }) };
}

/**
 * Adds the tokens of the conversations, unless every page has the run's model.
 * @param tokenizer the tokenizer.json of a model; undefined if the model is missing
 */
export async function withVocabulary(
  content: Omit<RunContent, 'model'>,
  tokenizer: (model: string) => Promise<Blob | undefined>,
): Promise<Omit<RunContent, 'model'>> {
  const { run, trajectories, trials, branches } = content;
  const { model } = run.request;
  const file = bundledModels.includes(model) ? undefined : await tokenizer(model);
  if (!file) return content;
  const conversations = [...trajectories, ...trials, ...branches.map(({ trajectory }) => trajectory)];
  return { ...content, run: { ...run, vocabulary: await usedVocabulary(JSON.parse(await file.text()), conversations) } };
}

/** The branches of the run's rollouts and of its evaluations' trials. */
async function branchesOf(db: RunDatabase, run: string, evaluations: readonly EvaluationRow[]): Promise<SharedBranch[]> {
  const places = [{ place: run }, ...evaluations.map(({ id }) => ({ place: id, evaluation: id }))];
  const found = places.map(async ({ place, ...parent }) => {
    const rows = await db.branches.where('origin').startsWith(originsIn(place)).sortBy('createdAt');
    return rows.map(({ id: _, origin, conversation: _training, ...branch }): SharedBranch => ({
      ...branch,
      ...parent,
      rollout: readOrigin(origin)!.id,
    }));
  });
  return (await Promise.all(found)).flat();
}
