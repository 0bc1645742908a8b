/** @file What a page of play needs: the task with its tools, the conversation to branch off, and the models that may answer. */
import type { Trajectory } from '../../agent/types.ts';
import type { Task } from '../../environments/types.ts';
import type { ModelRef } from '../../evaluation/types.ts';
import type { RunDatabase, RunRow } from '../../storage/database.ts';
import { DEFAULT_PRESET, limitsFor, PRESETS } from '../../training/presets.ts';
import type { GrpoConfig } from '../../training/types.ts';
import { BRANCHES, parseFrom, worldOf, writeFrom } from '../logic/play-origin.ts';
import { RECORDED, recordedRun } from '../logic/recorded.ts';
import { href } from '../logic/routes.ts';
import { askWorlds } from '../worlds/connect.ts';
import type { Setting } from './game.svelte.ts';

/** Names the weights before training where a query names a run. */
const BASE = 'base';

export interface ModelChoice {
  value: string;
  name: string;
  /** As the query names it. */
  run: string;
  step: number | null;
  ref: ModelRef;
}

export interface Loaded {
  setting: Setting;
  /** Never empty. */
  models: ModelChoice[];
  originalHref: string | null;
  originalName: string;
}

interface Origin {
  trajectory: Trajectory;
  /** Its run, where it has one. */
  run: RunRow | null;
  /** As branches of it are filed. */
  name: string;
  href: string | null;
  label: string;
}

/** @throws with what is missing: the rollout, its words, or the task */
export async function loadSetting(db: RunDatabase, task: string, from: string): Promise<Loaded> {
  const place = from === '' ? null : parseFrom(from);
  if (from !== '' && !place) throw new Error(`from is "${from.slice(0, 80)}": expected run/rollout@message`);
  const origin = place && (await loadOrigin(db, place.run, place.rollout));
  const found = origin?.trajectory.task ?? (await freshTask(task));
  const { tools, userTools } = await askWorlds((browser) => browser.info(worldOf(found.id)));
  // The settings of a run that was imported may be fewer.
  const config: GrpoConfig = { ...limitsFor(found.domain, found.level), ...origin?.run?.config };
  return {
    setting: {
      task: found, tools, userTools: userTools.length > 0, config,
      original: origin && place && { trajectory: origin.trajectory, node: place.node },
      origin: origin?.name ?? `task:${found.id}`,
    },
    models: await modelChoices(db, origin?.run ?? null, found),
    originalHref: origin?.href ?? null,
    originalName: origin?.label ?? '',
  };
}

async function loadOrigin(db: RunDatabase, run: string, rollout: string): Promise<Origin> {
  if (run === BRANCHES) {
    const row = await db.branches.get(rollout);
    if (!row) throw new Error('there is no such branch in this browser');
    const parent = parseFrom(`${row.origin}@0`);
    const played = parent && (await runOf(db, parent.run));
    const back = parent && played ? href({ name: 'rollout', run: parent.run, id: parent.rollout }) : href({ name: 'play', domain: row.trajectory.task.domain, task: row.trajectory.task.id });
    return { trajectory: row.trajectory, run: played, name: row.origin, href: back, label: parent ? `Rollout ${parent.rollout}` : 'The task from its beginning' };
  }
  const [row, trajectory] = run === RECORDED ? await recorded(rollout) : [await runOf(db, run), await db.trajectories.get([run, rollout])];
  const name = `${run}/${rollout}`;
  if (trajectory) return { trajectory, run: row, name, href: href({ name: 'rollout', run, id: rollout }), label: `${row?.name ?? run}, rollout ${rollout}` };
  const evaluated = await db.evaluationTrajectories.get([run, rollout]);
  if (evaluated) return { trajectory: evaluated, run: null, name, href: href({ name: 'eval', id: run }), label: 'The evaluation' };
  throw new Error(row ? 'the words of this rollout are not stored any more' : 'there is no such run in this browser');
}

const runOf = async (db: RunDatabase, run: string): Promise<RunRow | null> => (run === RECORDED ? ((await recordedRun())?.run ?? null) : ((await db.runs.get(run)) ?? null));

async function recorded(rollout: string): Promise<[RunRow | null, Trajectory | undefined]> {
  const run = await recordedRun();
  return [run?.run ?? null, run?.trajectories.get(rollout)];
}

async function freshTask(task: string): Promise<Task> {
  const found = await askWorlds((browser) => browser.task(worldOf(task)));
  if (!found) throw new Error(`there is no task "${task.slice(0, 200)}"`);
  return found.task;
}

/** The newest checkpoint of the conversation's own run first, then what it began with, then all other checkpoints. */
async function modelChoices(db: RunDatabase, run: RunRow | null, { domain, level }: Task): Promise<ModelChoice[]> {
  const preset = Object.values(PRESETS).find(({ config }) => config.domain === domain && config.level === level) ?? PRESETS[DEFAULT_PRESET]!;
  const base = run?.request.model ?? preset.model;
  const [keys, runs] = await Promise.all([db.checkpoints.toCollection().primaryKeys(), db.runs.toArray()]);
  const names = new Map(runs.map(({ id, name }) => [id, name]));
  const checkpoints = keys
    .filter(([id]) => names.has(id))
    .map(([id, step]): ModelChoice => ({ value: writeFrom({ run: id, rollout: 'step', node: step }), name: `${names.get(id)!}@${step}`, run: id, step, ref: { kind: 'run', run: id, step } }))
    .sort((a, b) => Number(b.run === run?.id) - Number(a.run === run?.id) || b.step! - a.step!);
  const own = checkpoints.filter((choice) => choice.run === run?.id);
  const start: ModelChoice = { value: '', name: `${base}, before training`, run: BASE, step: null, ref: { kind: 'model', name: base } };
  return [...own, start, ...checkpoints.filter((choice) => !own.includes(choice))];
}
