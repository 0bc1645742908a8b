/**
 * @file The prompt for a model that judges statements about a conversation, and the reading of its answer. Used for
 * tau2-bench's NL_ASSERTION and for the audit of the customer.
 */
import type { Utterance } from './types.ts';

export const JUDGE_PROMPT = `You check a conversation between a service agent and a customer. You get the conversation, tool calls and their results included, sometimes the customer's instruction, and numbered statements. Decide of each statement, by what you get alone, whether it holds.

Answer with JSON and nothing else, with one entry a statement, in their order:
{"results": [{"statement": 1, "reason": "one sentence", "met": true}]}`;

const SPEAKERS: Record<Utterance['role'], string> = {
  user: 'Customer',
  assistant: 'Agent',
  tool: 'Tool',
  instruction: "The customer's instruction",
};

export function writeCase(statements: readonly string[], conversation: readonly Utterance[]): string {
  const said = conversation.map(({ role, text }) => `${SPEAKERS[role]}: ${text}`).join('\n');
  return `Conversation:\n${said}\n\nStatements:\n${statements.map((statement, i) => `${i + 1}. ${statement}`).join('\n')}`;
}

/** Reads whether each statement is met. Null if the answer has no verdict for a statement. Text around the JSON is ignored. */
export function readJudgement(answer: string, count: number): boolean[] | null {
  try {
    const { results } = JSON.parse(answer.slice(answer.indexOf('{'), answer.lastIndexOf('}') + 1)) as { results: { met: unknown }[] };
    const met = results.map((result) => result.met);
    return met.length === count && met.every((value) => typeof value === 'boolean') ? met : null;
  } catch {
    return null;
  }
}
