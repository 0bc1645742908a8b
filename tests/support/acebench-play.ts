/** Plays tasks of ACEBench in the real episode machine, with given texts of the agent and the user. */
import type { ImportedBenchmark } from '../../src/benchmarks/imported-benchmark.ts';
import type { Task } from '../../src/records/task.ts';
import { benchmarkStage } from './benchmark-stage.ts';

export function aceStage(imported: ImportedBenchmark) {
  const { tasks, task, play } = benchmarkStage('acebench-agent', imported);
  return {
    tasks: (split: string) => tasks({ split }),
    task,
    /** @param agent the agent's texts; then it ends the conversation @param user the user's texts; default: the script of the task */
    play(own: Task, agent: readonly string[], user?: readonly string[]) {
      const [left, said] = [[...agent], [...(user ?? [])]];
      const next = async () => said.shift() ?? 'Please go on.';
      return play(own, () => left.shift() ?? 'finish conversation', user && { session: () => ({ open: next, reply: next }) });
    },
  };
}
