/** @file Chooses the rules for the conversations of a domain. */
import { MUA_RULES, type EpisodeRules } from '../agent/rules.ts';
import { derivedName, domainOf, transfersOf } from '../domains/registry.ts';
import type { Domain } from '../environments/types.ts';
import type { ConversationRules } from '../records/episode.ts';
import { benchmarkNamed } from './named.ts';

/**
 * The rules for conversations in a domain.
 * @param chosen `domain`: the rules of the domain's benchmark, or MUA-RL's rules if the domain belongs to no benchmark.
 * `mua_rl`: always MUA-RL's rules.
 */
export function rulesFor(
  { name, level = '', benchmark, terminalTools }: Pick<Domain, 'name' | 'benchmark' | 'terminalTools'> & Partial<Pick<Domain, 'level'>>,
  chosen: ConversationRules,
): EpisodeRules {
  const own: EpisodeRules = {
    ...(benchmark === undefined ? MUA_RULES : benchmarkNamed(benchmark).rules),
    terminalTools,
    audit: domainOf(name)?.audit ?? null,
  };
  // With `mua_rl`, `ending` and the customer's prompt are still those of the benchmark. `ending` is needed to write results in
  // the benchmark's format.
  if (chosen !== 'mua_rl') return own;
  const rules = { ...own, ...MUA_RULES, customerPrompt: own.customerPrompt, terminalTools: transfersOf(name) };
  // The policy of a derived level has the tools, so the episode does not know their names.
  return derivedName(name, level) === undefined ? rules : { ...rules, passUnknownTools: true };
}
