/**
 * @file Makes folders with which TRL, verifiers, verl and SkyRL train on `mua env-serve`. A folder has an adapter in Python, the settings under
 * the engine's names, a file with one row for each task, and a README. `npm run engines` runs the adapters with the versions of engines.ts.
 */
import type { ChatMessage } from '../records/conversation.ts';
import type { ToolSchema } from '../records/task.ts';
import type { AdapterInput, AdapterPlace } from './adapter-input.ts';
import type { EngineName } from './engines.ts';
import { skyrl } from './skyrl-adapter.ts';
import { trl } from './trl-adapter.ts';
import { verifiers } from './verifiers-adapter.ts';
import { verl } from './verl-adapter.ts';

const ADAPTERS: Record<EngineName, (input: AdapterInput) => Record<string, string>> = { trl, verifiers, verl, skyrl };

/** The text files of the folder: name → content. */
export function adapterFolder(
  engine: EngineName,
  { domain, greeting, tasks, validation, ...settings }: AdapterPlace,
): Record<string, string> {
  const { name, level, policy, tools } = domain;
  const opening: ChatMessage[] = [
    { role: 'system', content: policy },
    ...(greeting === null ? [] : [{ role: 'assistant' as const, content: greeting }]),
  ];
  const training = new Set(tasks);
  const rows = (names: readonly string[]) => names.map((task_id, seed) => ({ task_id, seed }));
  return ADAPTERS[engine]({
    ...settings,
    title: `${name} ${level}`,
    tools,
    opening,
    promptTokens: Math.min(promptTokens(opening, tools), settings.config.max_model_len),
    rows: rows(tasks),
    validation: rows(validation.filter((task) => !training.has(task))),
  });
}

/** More tokens than the prompt and the customer's first message have: two bytes a token, and 256 for the customer. */
function promptTokens(opening: readonly ChatMessage[], tools: readonly ToolSchema[]): number {
  const bytes = new TextEncoder().encode(JSON.stringify([opening, tools])).length;
  return 256 * Math.ceil(bytes / 2 / 256 + 1);
}
