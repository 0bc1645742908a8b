/** @file Finds a stored conversation: a rollout of a run, a trial of an evaluation, or a branch. */
import type { BranchRow } from '../../records/branch.ts';
import type { EvaluationRow } from '../../records/evaluation.ts';
import type { GrpoConfig, RunRow } from '../../records/run.ts';
import type { Task } from '../../records/task.ts';
import type { Trajectory } from '../../records/trajectory.ts';
import { DEFAULT_PRESET, presetFor, PRESETS } from '../../training/presets.ts';
import { dateTime } from '../kit/format.ts';
import type { ConversationRoute } from '../routes/routes.ts';
import { BRANCHES, type Origin, readOrigin, writeOrigin } from './origin.ts';
import type { RunSource } from './source.ts';

export interface StoredConversation {
  trajectory: Trajectory;
  /** The run whose weights played the conversation; null if the library has no such run. */
  run: RunRow | null;
  /** The known settings of the conversation. */
  config: Partial<GrpoConfig>;
  /** The model whose tokenizer made the tokens: the name of a bundled model or the id of an imported model. */
  model: string;
  /** The route of the page that shows every token of the conversation. */
  route: ConversationRoute;
  label: string;
  /** The `origin` of the conversation's branches. For a branch, it is the branch's own origin, so that its siblings are found. */
  origin: string;
  /** The conversation that a branch continues. Null if the branch began with a task or its parent is deleted. */
  branchedOff: StoredConversation | null;
}

/** The part of the Library that a search for a conversation needs. */
interface Shelf {
  source(run: string): RunSource;
  run(id: string): Promise<RunRow | undefined>;
  evaluation(id: string): Promise<EvaluationRow | undefined>;
  trial(evaluation: string, id: string): Promise<Trajectory | undefined>;
  branch(id: string): Promise<BranchRow | undefined>;
}

/** @throws Error that says what is missing */
export async function findConversation(library: Shelf, { place, id }: Origin): Promise<StoredConversation> {
  if (place === BRANCHES) return findBranch(library, id);
  const origin = writeOrigin({ place, id });
  const [run, trajectory] = await Promise.all([library.run(place), library.source(place).trajectory(place, id)]);
  if (run && trajectory) {
    return {
      trajectory,
      run,
      config: run.config,
      model: run.request.model,
      route: { name: 'rollout', run: place, id },
      label: `${run.name}, rollout ${id}`,
      origin,
      branchedOff: null,
    };
  }
  const [evaluation, trial] = await Promise.all([library.evaluation(place), library.trial(place, id)]);
  if (evaluation && trial) {
    const { model, settings } = evaluation;
    const played = model.kind === 'run' ? ((await library.run(model.run)) ?? null) : null;
    const { temperature, top_p, top_k, conversation_rules } = settings;
    return {
      trajectory: trial,
      run: played,
      config: { ...played?.config, ...settings.limits, temperature, top_p, top_k, conversation_rules },
      model: model.kind === 'model' ? model.name : (played?.request.model ?? presetModel(trial.task)),
      route: { name: 'trial', evaluation: place, id },
      label: `Evaluation of ${evaluation.name}`,
      origin,
      branchedOff: null,
    };
  }
  throw new Error(
    run || evaluation ? 'the words of this conversation are not stored any more' : 'there is no such run or evaluation in this browser',
  );
}

async function findBranch(library: Shelf, id: string): Promise<StoredConversation> {
  const row = await library.branch(id);
  if (!row) throw new Error('there is no such branch in this browser');
  const origin = readOrigin(row.origin);
  const parent = origin && (await findConversation(library, origin).catch(() => null));
  return {
    trajectory: row.trajectory,
    run: parent?.run ?? null,
    config: parent?.config ?? {},
    model: parent?.model ?? presetModel(row.trajectory.task),
    route: { name: 'branch', id },
    label: `Played ${dateTime(row.createdAt)}`,
    origin: row.origin,
    branchedOff: parent,
  };
}

/** The model of the preset whose domain and level a task has. */
export function presetModel({ domain, level }: Pick<Task, 'domain' | 'level'>): string {
  return PRESETS[presetFor(domain, level) ?? DEFAULT_PRESET]!.model;
}
