/** @file Finds a conversation wherever it is kept: with a run, in the recorded one, with an evaluation, among the branches. */
import type { Trajectory } from '../../agent/types.ts';
import type { Task } from '../../environments/types.ts';
import type { RunDatabase, RunRow } from '../../storage/database.ts';
import { readOrigin, writeOrigin } from '../../storage/origin.ts';
import { DEFAULT_PRESET, PRESETS } from '../../training/presets.ts';
import type { GrpoConfig } from '../../training/types.ts';
import { dateTime } from './format.ts';
import { BRANCHES } from './play-origin.ts';
import { RECORDED, recordedRun } from './recorded.ts';
import type { ConversationRoute } from './routes.ts';
import { findEvaluation, findTrial } from './stored-evaluations.ts';

export interface StoredConversation {
  trajectory: Trajectory;
  /** Whose weights played it, where that is a run of this browser. */
  run: RunRow | null;
  /** What it was played with, as far as it is known. */
  config: Partial<GrpoConfig>;
  /** Whose tokenizer made its tokens: a bundled model's name or a stored one's id. */
  model: string;
  /** The page that shows every token of it. */
  route: ConversationRoute;
  label: string;
  /** As its branches are filed; a branch is filed with its own siblings. */
  origin: string;
  /** Of a branch, what it branched off; null where it began anew or that is gone. */
  branchedOff: StoredConversation | null;
}

/**
 * `place`: a run's id, `recorded`, an evaluation's id or `branches`; `id`: of the conversation there.
 * @throws with what is missing
 */
export async function findConversation(db: RunDatabase, place: string, id: string): Promise<StoredConversation> {
  if (place === BRANCHES) return findBranch(db, id);
  const origin = writeOrigin({ place, id });
  const recorded = place === RECORDED ? await recordedRun() : null;
  const run = await findRun(db, place);
  const trajectory = recorded ? recorded.trajectories.get(id) : await db.trajectories.get([place, id]);
  if (run && trajectory) {
    return { trajectory, run, config: run.config, model: run.request.model, route: { name: 'rollout', run: place, id }, label: `${run.name}, rollout ${id}`, origin, branchedOff: null };
  }
  const [evaluation, trial] = await Promise.all([findEvaluation(db, place), findTrial(db, place, id)]);
  if (evaluation && trial) {
    const { model, settings } = evaluation;
    const played = model.kind === 'run' ? await findRun(db, model.run) : null;
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
  throw new Error(run || evaluation ? 'the words of this conversation are not stored any more' : 'there is no such run or evaluation in this browser');
}

const findRun = async (db: RunDatabase, id: string): Promise<RunRow | null> => (id === RECORDED ? (await recordedRun())?.run : await db.runs.get(id)) ?? null;

async function findBranch(db: RunDatabase, id: string): Promise<StoredConversation> {
  const row = await db.branches.get(id);
  if (!row) throw new Error('there is no such branch in this browser');
  const parent = await findOrigin(db, row.origin);
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

async function findOrigin(db: RunDatabase, origin: string): Promise<StoredConversation | null> {
  const found = readOrigin(origin);
  return found && findConversation(db, found.place, found.id).catch(() => null);
}

/** The model that a task of no run is played with. */
export function presetModel({ domain, level }: Pick<Task, 'domain' | 'level'>): string {
  const preset = Object.values(PRESETS).find(({ config }) => config.domain === domain && config.level === level);
  return (preset ?? PRESETS[DEFAULT_PRESET]!).model;
}
