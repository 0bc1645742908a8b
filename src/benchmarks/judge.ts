/** @file The benchmark's own reward of an imported task's episode. */
import type { Benchmark, Tau1Task, Tau2Task } from '../records/benchmark-task.ts';
import { initialStateOf, type DomainDefinition } from '../environments/domain.ts';
import type { ExactDomain } from '../domains/exact/types.ts';
import { exactDomain } from './exact-domains.ts';
import { callsIn, historyMessages } from '../environments/history.ts';
import type { Conversation } from './recorded-conversation.ts';
import { shareOfCriteria, tau1RewardInfo, tau2RewardInfo } from './reward-info.ts';
import { TAU_BENCH, tau1Reward } from './tau1/reward.ts';
import { tau2Reward } from './tau2/reward.ts';

/**
 * A model judges tau2's assertions in natural language. Without a judge they count as met. This function does not check
 * whether the conversation ended properly; the episode does.
 */
export function benchmarkJudge(benchmark: Benchmark, domain: ExactDomain['name']): NonNullable<DomainDefinition['judge']> {
  const exact = exactDomain(domain, benchmark);
  return async ({ task, world, calls, said, met }) => {
    // The reward replays the calls from the start of the conversation, so that the history's calls come first.
    const past = historyMessages(initialStateOf(task)?.message_history ?? []);
    const pastCalls = past.flatMap(callsIn).map(({ call }) => call);
    const pastWords = past.flatMap(({ role, content }) => (role === 'assistant' && content ? [content] : []));
    const conversation: Conversation = {
      turns: [
        ...[...pastCalls, ...calls.map(({ call }) => call)].map((call) => ({ kind: 'called' as const, call })),
        ...[...pastWords, ...said].map((text) => ({ kind: 'said' as const, role: 'assistant' as const, text })),
      ],
      ended: true,
    };
    const reward_info =
      benchmark === 'tau1'
        ? tau1RewardInfo(tau1Reward(exact, world, task.benchmark as Tau1Task, conversation, TAU_BENCH))
        : tau2RewardInfo(
            task.benchmark as Tau2Task,
            await tau2Reward(exact, world, task.benchmark as Tau2Task, conversation, met && (() => Promise.resolve([...met]))),
          );
    return { reward: reward_info.reward === 0 ? 0 : 1, progress: shareOfCriteria(reward_info), reward_info };
  };
}
