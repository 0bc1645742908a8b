/** Plays entries of BFCL in the real episode machine, with given texts of the agent. */
import { runEpisode } from '../../src/agent/episode.ts';
import { QWEN } from '../../src/agent/chat-template.ts';
import type { Tokenizer } from '../../src/agent/types.ts';
import { importedDomains } from '../../src/benchmarks/imported-domain.ts';
import type { ImportedBenchmark } from '../../src/benchmarks/imported-benchmark.ts';
import { toolCallOf } from '../../src/benchmarks/bfcl/task.ts';
import { rulesFor } from '../../src/benchmarks/rules.ts';
import { customerScripts } from '../../src/domains/registry.ts';
import { createEnvironments } from '../../src/environments/index.ts';
import type { Task } from '../../src/records/task.ts';
import { ScriptedUsers } from '../../src/users/scripted.ts';

/** One token for each text: these episodes only need their calls. */
const COUNTING: Tokenizer = { encode: () => [1], decode: () => '', id: () => 0, has: () => false, vocabSize: 2, format: QWEN };

export function bfclStage(imported: ImportedBenchmark) {
  const name = `bfcl-${imported.domain}`;
  const domains = importedDomains(async () => ({ id: 'import', imported })).filter((domain) => domain.name === name);
  const environments = createEnvironments({ domains, inMemory: true });
  const query = { domain: name, level: 'full', split: 'heldout', seed: 1, count: 1000 } as const;
  return {
    tasks: () => environments.tasks(query),
    task: async (id: string) => (await environments.tasks({ ...query, select: { ids: [id] } }))[0]!,
    /** @param texts the agent's texts, by turn and step. A turn without texts left gets `done` */
    async play(task: Task, texts: readonly (readonly string[])[]) {
      const domain = await environments.domain(name, 'full');
      const left = texts.map((turn) => [...turn, 'done']);
      let turn = 0;
      return runEpisode({
        task,
        domain,
        environments,
        users: new ScriptedUsers(customerScripts),
        tokenizer: COUNTING,
        limits: { max_turns: 30, response_length_one_turn: 200, max_model_len: 4096, malformed_policy: 'end', require_done: false },
        sampling: { temperature: 1, top_p: 1, top_k: 0 },
        seed: 1,
        stream: 1,
        group: 'g',
        index: 0,
        rules: rulesFor(domain, 'domain'),
        agent: async () => {
          const text = left[turn]?.shift() ?? 'done';
          if (!text.includes('<tool_call>')) turn += 1;
          return { text };
        },
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
