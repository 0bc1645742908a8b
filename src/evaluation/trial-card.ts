/** @file What the scorecard needs of one trial. It is small, and stored with the trial's result. */
import { type DomainLayers, layeredConversation, layersOf, movedLayers } from '../agent/layers.ts';
import { domainOf } from '../domains/registry.ts';
import type { TrialResult } from '../records/evaluation.ts';
import type { Layers } from '../records/layers.ts';
import type { TrialCard } from '../records/scorecard.ts';
import type { Task, ToolSchema } from '../records/task.ts';
import type { Trajectory } from '../records/trajectory.ts';
import { damageOf } from './damage.ts';

interface CheckedPlace {
  name: string;
  layers: DomainLayers;
  /** The agent's tools, if the domain gives them to each task of the level. */
  tools: ToolSchema[] | null;
}

async function placeOf({ domain: name, level }: Task): Promise<CheckedPlace> {
  const domain = domainOf(name);
  const isGenerated = domain?.name === name && domain.levels.some((one) => one.name === level);
  const world = isGenerated ? await domain.world?.() : undefined;
  return { name, layers: (await domain?.layers?.()) ?? {}, tools: (await world?.domain(level))?.tools ?? null };
}

/** The results with what the scorecard needs. @param trials the conversations of the results, in the same order */
export async function withCards(results: readonly TrialResult[], trials: readonly Trajectory[]): Promise<TrialResult[]> {
  const keyOf = ({ task: { domain, level } }: Trajectory) => JSON.stringify([domain, level]);
  const tasks = new Map(trials.map((trial) => [keyOf(trial), trial.task]));
  const places = new Map(await Promise.all([...tasks].map(async ([key, task]) => [key, await placeOf(task)] as const)));
  return results.map((result, i) => ({ ...result, card: trialCardOf(trials[i]!, places.get(keyOf(trials[i]!))!) }));
}

function trialCardOf(trajectory: Trajectory, place: CheckedPlace): TrialCard {
  const { verdict, toolCalls, seconds, foreign } = trajectory;
  const statements = verdict?.reward_info?.nl_assertions ?? [];
  return {
    layers: checkedLayers(trajectory, place),
    damage: damageOf(trajectory),
    progress: verdict?.progress ?? null,
    ...(statements.length > 0 && { judged: { sum: statements.filter(({ met }) => met).length, of: statements.length } }),
    calls: toolCalls,
    seconds: foreign ? null : seconds,
  };
}

function checkedLayers(trajectory: Trajectory, { name, layers, tools }: CheckedPlace): Layers {
  const stored = layeredConversation(trajectory);
  const conversation = { ...stored, tools: stored.tools ?? tools };
  // A check that fails loses neither the evaluation nor other layers: its reason is stored.
  const found = layersOf(conversation, { name, layers }, (error) => ({ na: `The check failed: ${(error as Error).message}` }));
  return movedLayers(found, (event) => conversation.nodes[event]!);
}
