/** @file Short conversations for tests of the layers: `C: …` is the customer, `A: …` the agent, a list is a call with its result. */
import { type DomainLayers, type LayeredConversation, layersOf } from '../../src/agent/layers.ts';
import { readConversations } from '../../src/cli/conversations.ts';
import type { Finding, Layer, LayerName } from '../../src/records/layers.ts';

export type Step = string | [name: string, args: Record<string, unknown>, result: unknown];

const READS = /^(find_|get_|list_|search_|calculate|think|transfer)/;

/** The conversation as `mua audit` reads it. */
function conversationOf(steps: readonly Step[], policy?: string): LayeredConversation {
  const messages: unknown[] = policy === undefined ? [] : [{ role: 'system', content: policy }];
  for (const [i, step] of steps.entries()) {
    if (typeof step === 'string') {
      messages.push({ role: step.startsWith('C: ') ? 'user' : 'assistant', content: step.slice(3) });
      continue;
    }
    const [name, args, result] = step;
    const id = `call_${i}`;
    messages.push({
      role: 'assistant',
      content: null,
      tool_calls: [{ id, type: 'function', function: { name, arguments: JSON.stringify(args) } }],
    });
    messages.push({ role: 'tool', tool_call_id: id, content: typeof result === 'string' ? result : JSON.stringify(result) });
  }
  const [read] = readConversations('test.jsonl', JSON.stringify({ id: 1, messages }), '', (tool) => !READS.test(tool));
  return { ...read!, tools: null };
}

/** Checks one layer of conversations. `found` lists the broken rules, `occasions` the denominators, `details` the words for people. */
export const layerOf = (layers: DomainLayers, name: LayerName) => {
  const check = (steps: readonly Step[], policy?: string): Extract<Layer, { findings: Finding[] }> => {
    const layer = layersOf(conversationOf(steps, policy), { name: 'a domain', layers })[name];
    if ('na' in layer) throw new Error(layer.na);
    return layer;
  };
  return {
    found: (steps: readonly Step[], policy?: string): string[] => check(steps, policy).findings.map(({ rule }) => rule),
    occasions: (steps: readonly Step[], policy?: string): Record<string, number> => check(steps, policy).occasions,
    details: (steps: readonly Step[], policy?: string): string[] => check(steps, policy).findings.map(({ detail }) => detail),
    findings: (steps: readonly Step[], policy?: string): Finding[] => check(steps, policy).findings,
  };
};
