/** @file Conversations in OpenAI's format for tests of the layers, in short form. */
import { auditFile } from '../../src/cli/audit.ts';
import type { Finding, Layers } from '../../src/records/layers.ts';

interface Message {
  role: string;
  content: string | null;
  tool_calls?: { id: string; type: 'function'; function: { name: string; arguments: string } }[];
  tool_call_id?: string;
}

export const user = (content: string): Message[] => [{ role: 'user', content }];
export const agent = (content: string): Message[] => [{ role: 'assistant', content }];
export const system = (content: string): Message[] => [{ role: 'system', content }];

export interface Call {
  name: string;
  args: Record<string, unknown>;
  result: unknown;
}
export const call = (name: string, args: Record<string, unknown>, result: unknown): Call => ({ name, args, result });

let ids = 0;
/** One message with calls, and their results. A result that is no text is written as JSON. */
export function calls(list: readonly Call[], beside: string | null = null): Message[] {
  const made = list.map(({ name, args }) => ({
    id: `call_${(ids += 1)}`,
    type: 'function' as const,
    function: { name, arguments: JSON.stringify(args) },
  }));
  return [
    { role: 'assistant', content: beside, tool_calls: made },
    ...list.map(({ result }, i) => ({
      role: 'tool',
      tool_call_id: made[i]!.id,
      content: typeof result === 'string' ? result : JSON.stringify(result),
    })),
  ];
}

async function layersOfMessages(domain: string, messages: readonly Message[]): Promise<Layers> {
  const line = JSON.stringify({ id: 1, messages });
  const { conversations } = await auditFile('planted', line, domain, () => {});
  return conversations[0]!.layers;
}

/** The findings of a layer. */
export async function findings(domain: string, layer: 'policy' | 'safety', ...parts: readonly Message[][]): Promise<Finding[]> {
  const found = (await layersOfMessages(domain, parts.flat()))[layer];
  if ('na' in found) throw new Error(found.na);
  return found.findings;
}

/** The names of the broken rules, without repetition. */
export const rules = async (...args: Parameters<typeof findings>): Promise<string[]> => [
  ...new Set((await findings(...args)).map(({ rule }) => rule)),
];
