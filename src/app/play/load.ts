/** @file What a page of play needs: the task with its tools, the conversation to branch off, and the models that may answer. */
import type { Task } from '../../environments/types.ts';
import type { ModelRef } from '../../evaluation/types.ts';
import type { RunDatabase } from '../../storage/database.ts';
import { limitsFor } from '../../training/presets.ts';
import type { GrpoConfig } from '../../training/types.ts';
import { readOrigin } from '../../storage/origin.ts';
import { BRANCHES, parseFrom, worldOf, writeFrom } from '../logic/play-origin.ts';
import { allWeights, refText, type Weights, weightsFor } from '../logic/model-choices.ts';
import { href } from '../logic/routes.ts';
import { findConversation, presetModel } from '../logic/stored-conversation.ts';
import { askWorlds } from '../worlds/connect.ts';
import type { Setting } from './game.svelte.ts';

export interface ModelChoice {
  value: string;
  name: string;
  /** As the query names it: a run, or a model. */
  run: string;
  step: number | null;
  ref: ModelRef;
}

export interface Loaded {
  setting: Setting;
  /** Never empty. */
  models: ModelChoice[];
  original: WayBack | null;
}

/** From a branch to what it branched off, from anything else to itself. */
export interface WayBack {
  href: string;
  name: string;
  /** As a query names the whole of it; '' for the beginning of a task. */
  from: string;
}

/** @throws with what is missing: the rollout, its words, or the task */
export async function loadSetting(db: RunDatabase, task: string, from: string): Promise<Loaded> {
  const place = from === '' ? null : parseFrom(from);
  if (from !== '' && !place) throw new Error(`from is "${from.slice(0, 80)}": expected place/id@message`);
  const conversation = place && (await findConversation(db, place.place, place.id));
  const parent = place?.place === BRANCHES ? conversation!.branchedOff : conversation;
  const found = conversation?.trajectory.task ?? (await freshTask(task));
  const base = conversation?.model ?? presetModel(found);
  const { tools, userTools } = await askWorlds((browser) => browser.info(worldOf(found.id)));
  // The settings of a run that was imported may be fewer.
  const config: GrpoConfig = { ...limitsFor(found.domain, found.level), ...conversation?.config };
  return {
    setting: {
      task: found, tools, userTools: userTools.length > 0, config,
      start: conversation && { ...place, trajectory: conversation.trajectory },
      parent: parent?.trajectory ?? null,
      origin: conversation?.origin ?? `task:${found.id}`,
    },
    models: choices(await (conversation ? weightsFor(db, base) : allWeights(db)), base, conversation?.run?.id),
    original: parent
      ? { href: href(parent.route), name: parent.label, from: writeFrom({ ...readOrigin(parent.origin)!, node: parent.trajectory.leaf }) }
      : conversation && { href: href({ name: 'play', domain: found.domain, task: found.id }), name: 'The task from its beginning', from: '' },
  };
}

async function freshTask(task: string): Promise<Task> {
  const found = await askWorlds((browser) => browser.task(worldOf(task)));
  if (!found) throw new Error(`there is no task "${task.slice(0, 200)}"`);
  return found.task;
}

/** What came out of the conversation's `own` run first; then `base`, whose words these are; then all others. */
function choices(weights: readonly Weights[], base: string, own?: string): ModelChoice[] {
  // A model that is not here any more is named all the same: playing by it says what is missing.
  if (weights.length === 0) return choices([{ ref: { kind: 'model', name: base }, name: base, base }], base);
  const rank = ({ ref, run }: Weights) => (run !== undefined && run === own ? 0 : refText(ref) === base ? 1 : 2);
  return weights.toSorted((a, b) => rank(a) - rank(b)).map(({ ref, name }) => {
    const of = ref.kind === 'run' ? { run: ref.run, step: ref.step } : { run: ref.name, step: null };
    return { value: refText(ref), name, ref, ...of };
  });
}
