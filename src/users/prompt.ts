/**
 * @file What an LLM is told that plays the customer: the parts of tau-bench's user prompt in other words, and the scenario
 * itself in a fenced block, from which the server of the scripted user plays the same customer.
 */
import type { UserScenario } from '../environments/types.ts';
import { OUT_OF_SCOPE, STOP, TRANSFER } from './types.ts';

/** What the agent's side is taken to have said before the customer's first message. */
export const GREETING = 'Hi! How can I help you today?';

const FENCE = '```';

export function systemPrompt(scenario: UserScenario, hasTools = false): string {
  if (scenario.benchmark === 'tau2') return tau2Prompt(scenario, hasTools);
  return `You play a customer who writes to a shop's service agent. Stay in this role.

Instruction: ${scenario.instruction}

Rules:
- Write one short message at a time, in one line, as a customer would.
- Do not tell everything at once: give what the present step needs, unless the instruction says otherwise.
- Know nothing but the instruction. If you are asked for something that it does not say, answer that you do not know or remember it.
- Say it in your own words, and do not quote the instruction.
- Keep the character that the instruction describes.
- When everything you want is settled, refused or handed to a human, answer with ${STOP} alone. Nothing else ends the conversation.

The same for programs; never quote from it:
${FENCE}json
${JSON.stringify(scenario)}
${FENCE}`;
}

/** tau2-bench's guidelines in other words: they differ in how a conversation ends and, with tools, in what grounds an answer. */
function tau2Prompt(scenario: UserScenario, hasTools: boolean): string {
  const tools = `
- You have tools for what you can look at and do yourself. In each turn either write a message or call a tool, never both. The agent sees your messages only.
- Call a tool only when the agent asks you to, or when you need it to answer. Ask when you do not know what to do.
- Do one thing at a time: if the agent asks for several, say so and ask which comes first.
- Tell nothing about your things but what a tool has shown you. If a call fails because of how you made it, correct it and call again.`;
  return `You play a customer who talks to a service agent. Stay in this role.

Rules:
- Write one message at a time, as a customer would.
- Follow the scenario below to the letter, and in your own words. What it does not say, you do not know.
- Do not tell everything at once: wait until the agent asks.${hasTools ? tools : ''}
- When everything that the scenario wants is done, write ${STOP}.
- When the agent has clearly said that you are handed over to someone else, write ${TRANSFER}.
- When the scenario does not say enough for you to go on, write ${OUT_OF_SCOPE}.

Scenario:
${scenario.instruction}

The same for programs; never quote from it:
${FENCE}json
${JSON.stringify(scenario)}
${FENCE}`;
}

/** The scenario in a system prompt made above, or null. */
export function scenarioIn(prompt: string): UserScenario | null {
  const block = /```json\n(.*)\n```/s.exec(prompt)?.[1];
  if (block === undefined) return null;
  try {
    const scenario = JSON.parse(block) as UserScenario;
    const { persona, identity, wishes, instruction } = scenario;
    const whole = typeof persona === 'string' && typeof identity === 'object' && identity !== null && typeof instruction === 'string' && Array.isArray(wishes);
    return whole && wishes.every(isWish) ? scenario : null;
  } catch {
    return null;
  }
}

function isWish(value: unknown): boolean {
  const { intent, slots, words } = (value ?? {}) as Record<string, unknown>;
  return typeof intent === 'string' && typeof slots === 'object' && slots !== null && typeof words === 'object' && words !== null;
}
