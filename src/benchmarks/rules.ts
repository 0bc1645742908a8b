/** @file Chooses the rules of a conversation. */
import { MUA_RULES, type EpisodeRules } from '../agent/rules.ts';
import { transfersOf } from '../domains/registry.ts';
import type { Domain } from '../environments/types.ts';
import type { ConversationRules } from '../records/episode.ts';
import { benchmarkNamed } from './named.ts';

/**
 * The rules of conversations in a domain.
 * @param chosen `domain`: the rules of the domain's benchmark, or MUA-RL's if the domain belongs to no benchmark. `mua_rl`: MUA-RL's.
 */
export function rulesFor(
  { name, benchmark, terminalTools }: Pick<Domain, 'name' | 'benchmark' | 'terminalTools'>,
  chosen: ConversationRules,
): EpisodeRules {
  const own: EpisodeRules = { ...(benchmark === undefined ? MUA_RULES : benchmarkNamed(benchmark).rules), terminalTools };
  // `ending` stays: results in the benchmark's format need it under either choice. The customer is the benchmark's too.
  return chosen === 'mua_rl' ? { ...own, ...MUA_RULES, customerPrompt: own.customerPrompt, terminalTools: transfersOf(name) } : own;
}
