/** @file Chooses the rules of a conversation. */
import { MUA_RULES, MUA_TERMINAL_TOOLS, type ConversationRuleSet, type EpisodeRules } from '../agent/rules.ts';
import type { Domain } from '../environments/types.ts';
import type { Benchmark } from '../records/benchmark-task.ts';
import type { ConversationRules } from '../records/episode.ts';
import { TAU1_RULES } from './tau1/rules.ts';
import { TAU2_RULES } from './tau2/rules.ts';

const RULES: Record<Benchmark, ConversationRuleSet> = { tau1: TAU1_RULES, tau2: TAU2_RULES };

/**
 * The rules of conversations in a domain.
 * @param chosen `domain`: the rules of the domain's benchmark, or MUA-RL's if the domain belongs to no benchmark. `mua_rl`: MUA-RL's.
 */
export function rulesFor(
  { benchmark, terminalTools }: Pick<Domain, 'benchmark' | 'terminalTools'>,
  chosen: ConversationRules,
): EpisodeRules {
  const own: EpisodeRules = { ...(benchmark ? RULES[benchmark] : MUA_RULES), terminalTools };
  // `ending` stays: results in the benchmark's format need it under either choice. The customer is the benchmark's too.
  return chosen === 'mua_rl' ? { ...own, ...MUA_RULES, customerPrompt: own.customerPrompt, terminalTools: MUA_TERMINAL_TOOLS } : own;
}
