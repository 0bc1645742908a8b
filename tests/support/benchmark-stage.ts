/** The stage of an imported benchmark whose agent is a list of texts, in the real episode machine. */
import { runEpisode } from '../../src/agent/episode.ts';
import { QWEN } from '../../src/agent/chat-template.ts';
import type { Tokenizer } from '../../src/agent/types.ts';
import type { ImportedBenchmark } from '../../src/benchmarks/imported-benchmark.ts';
import { importedDomains } from '../../src/benchmarks/imported-domain.ts';
import { rulesFor } from '../../src/benchmarks/rules.ts';
import { customerScripts } from '../../src/domains/registry.ts';
import { createEnvironments } from '../../src/environments/index.ts';
import type { Task } from '../../src/records/task.ts';
import { ScriptedUsers } from '../../src/users/scripted.ts';
import type { UserSimulator } from '../../src/users/types.ts';

/** One token for each text: these episodes only need their texts. */
const COUNTING: Tokenizer = { encode: () => [1], decode: () => '', id: () => 0, has: () => false, vocabSize: 2, format: QWEN };

/** @param name the domain, such as `bfcl-multiturn` */
export function benchmarkStage(name: string, imported: ImportedBenchmark, level = 'full') {
  const domains = importedDomains(async () => ({ id: 'import', imported })).filter((domain) => domain.name === name);
  const environments = createEnvironments({ domains, inMemory: true });
  const query = { domain: name, level, split: 'heldout', seed: 1, count: 1000 } as const;
  return {
    tasks: (select?: { split: string }) => environments.tasks({ ...query, ...(select && { select }) }),
    task: async (id: string) => (await environments.tasks({ ...query, select: { ids: [id] } }))[0]!,
    /** @param next the next text of the agent @param users default: the script of the task */
    async play(task: Task, next: () => string, users: UserSimulator = new ScriptedUsers(customerScripts)) {
      const domain = await environments.domain(name, level);
      return runEpisode({
        task,
        domain,
        environments,
        users,
        tokenizer: COUNTING,
        limits: { max_turns: 30, response_length_one_turn: 200, max_model_len: 4096, malformed_policy: 'end', require_done: false },
        sampling: { temperature: 1, top_p: 1, top_k: 0 },
        seed: 1,
        stream: 1,
        group: 'g',
        index: 0,
        rules: rulesFor(domain, 'domain'),
        agent: async () => ({ text: next() }),
      });
    },
  };
}
