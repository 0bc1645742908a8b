/** @file The benchmark's own reward of an imported task's episode. */
import type { TableDomain } from '../environments/domain.ts';
import { callsIn, historyMessages } from '../environments/history.ts';
import type { BenchmarkDefinition } from './definition.ts';

/**
 * A model judges assertions in natural language. Without a judge they count as met. This function does not check whether the
 * conversation ended properly; the episode does.
 */
export function benchmarkJudge(benchmark: BenchmarkDefinition, domain: string): NonNullable<TableDomain['judge']> {
  return async ({ task, world, calls, said, met }) => {
    // The reward replays the calls from the start of the conversation, so that the history's calls come first.
    const past = historyMessages(task.scenario.history ?? []);
    const pastCalls = past.flatMap(callsIn).map(({ call }) => call);
    const pastWords = past.flatMap(({ role, content }) => (role === 'assistant' && content ? [content] : []));
    const conversation = {
      turns: [
        ...[...pastCalls, ...calls.map(({ call }) => call)].map((call) => ({ kind: 'called' as const, call })),
        ...[...pastWords, ...said].map((text) => ({ kind: 'said' as const, role: 'assistant' as const, text })),
      ],
      ended: true,
    };
    return benchmark.judge({ domain, world, task: task.benchmark!, conversation, ...(met && { met }) });
  };
}
