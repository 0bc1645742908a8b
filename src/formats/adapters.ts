/**
 * @file Makes folders with which TRL, verifiers and verl train on `mua env-serve`. A folder has an adapter in Python, the settings under
 * the engine's names, a file with one row for each task, and a README. The adapters follow these sources: huggingface/trl f2cd577
 * (`GRPOTrainer.environment_factory`), PrimeIntellect-ai/verifiers a60a606 (`v1/tasksets/openenv`), volcengine/verl b178a3c
 * (`experimental/agent_loop`).
 */
import type { AdapterInput, AdapterPlace } from './adapter-input.ts';
import type { EngineName } from './engines.ts';
import { trl } from './trl-adapter.ts';
import { verifiers } from './verifiers-adapter.ts';
import { verl } from './verl-adapter.ts';

const ADAPTERS: Record<EngineName, (input: AdapterInput) => Record<string, string>> = { trl, verifiers, verl };

/** The text files of the folder: name → content. */
export function adapterFolder(engine: EngineName, { domain, greeting, tasks, ...settings }: AdapterPlace): Record<string, string> {
  const { name, level, policy, tools } = domain;
  return ADAPTERS[engine]({
    ...settings,
    title: `${name} ${level}`,
    tools,
    opening: [{ role: 'system', content: policy }, ...(greeting === null ? [] : [{ role: 'assistant' as const, content: greeting }])],
    rows: tasks.map((task_id, seed) => ({ task_id, seed })),
  });
}
