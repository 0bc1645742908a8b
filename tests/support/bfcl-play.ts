/** Plays entries of BFCL in the real episode machine, with given texts of the agent. */
import type { ImportedBenchmark } from '../../src/benchmarks/imported-benchmark.ts';
import { toolCallOf } from '../../src/domains/multiturn/tool-call.ts';
import type { Task } from '../../src/records/task.ts';
import { benchmarkStage } from './benchmark-stage.ts';

export function bfclStage(imported: ImportedBenchmark, level?: string) {
  const { tasks, task, play } = benchmarkStage(`bfcl-${imported.domain}`, imported, level);
  return {
    tasks: () => tasks(),
    task,
    /** @param texts the agent's texts, by turn and step. A turn without texts left gets `done` */
    play(own: Task, texts: readonly (readonly string[])[]) {
      const left = texts.map((turn) => [...turn, 'done']);
      let turn = 0;
      return play(own, () => {
        const text = left[turn]?.shift() ?? 'done';
        if (!text.includes('<tool_call>')) turn += 1;
        return text;
      });
    },
  };
}

/** A text with calls in Qwen's markup, from texts of Python source. */
export const written = (calls: readonly string[]): string =>
  calls
    .map((text) => {
      const call = toolCallOf(text)!;
      return `<tool_call>\n{"name": "${call.name}", "arguments": ${call.exact}}\n</tool_call>`;
    })
    .join('\n');
