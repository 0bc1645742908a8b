/** @file What the scorecard needs of one trial. It is small, and stored with the trial's result. */
import { type DomainLayers, type LayerCheck, layeredConversation, layersOf, movedLayers } from '../agent/layers.ts';
import { domainOf } from '../domains/registry.ts';
import type { TrialResult } from '../records/evaluation.ts';
import type { Layers } from '../records/layers.ts';
import type { TrialCard } from '../records/scorecard.ts';
import type { Trajectory } from '../records/trajectory.ts';
import { damageOf } from './damage.ts';

interface CheckedDomain {
  name: string;
  layers: DomainLayers;
}

/** The results with what the scorecard needs. @param trials the conversations of the results, in the same order */
export async function withCards(results: readonly TrialResult[], trials: readonly Trajectory[]): Promise<TrialResult[]> {
  const names = [...new Set(trials.map(({ task }) => task.domain))];
  const loaded = names.map(async (name) => [name, { name, layers: (await domainOf(name)?.layers?.()) ?? {} }] as const);
  const domains = new Map(await Promise.all(loaded));
  return results.map((result, i) => ({ ...result, card: trialCardOf(trials[i]!, domains.get(trials[i]!.task.domain)!) }));
}

function trialCardOf(trajectory: Trajectory, domain: CheckedDomain): TrialCard {
  const { verdict, toolCalls, seconds, foreign } = trajectory;
  const statements = verdict?.reward_info?.nl_assertions ?? [];
  return {
    layers: checkedLayers(trajectory, domain),
    damage: damageOf(trajectory),
    progress: verdict?.progress ?? null,
    ...(statements.length > 0 && { judged: { sum: statements.filter(({ met }) => met).length, of: statements.length } }),
    calls: toolCalls,
    seconds: foreign ? null : seconds,
  };
}

function checkedLayers(trajectory: Trajectory, { name, layers }: CheckedDomain): Layers {
  const conversation = layeredConversation(trajectory);
  const found = layersOf(conversation, {
    name,
    layers: Object.fromEntries(Object.entries(layers).map(([layer, check]) => [layer, unfailing(check)])),
  });
  return movedLayers(found, (event) => conversation.nodes[event]!);
}

/** A check that fails loses neither the evaluation nor other layers: its reason is stored. */
function unfailing(check: LayerCheck): LayerCheck {
  return (conversation) => {
    try {
      return check(conversation);
    } catch (error) {
      return { na: `The check failed: ${(error as Error).message}` };
    }
  };
}
