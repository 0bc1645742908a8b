/** @file Computes the benchmark's own reward for an episode of an imported task. */
import type { TableDomain } from '../environments/domain.ts';
import { callsIn, historyMessages } from '../environments/history.ts';
import type { BenchmarkDefinition } from './definition.ts';

/**
 * Makes the function that judges an episode. `met` has a model's judgements of the assertions in natural language. Without
 * `met`, all these assertions count as met. The function takes every conversation as properly ended, because the episode has
 * already checked this.
 */
export function benchmarkJudge(benchmark: BenchmarkDefinition, domain: string): NonNullable<TableDomain['judge']> {
  return async ({ task, world, calls, said, met }) => {
    // The reward replays the calls from the start of the conversation, so the calls of the history must come first.
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
