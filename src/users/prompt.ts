/**
 * @file The system prompt of a language model that plays the customer: tau-bench's or tau2-bench's user prompt in our own
 * words. It holds the instruction and nothing else of the scenario, because the scenario's slots are the gold arguments.
 */
import type { UserScenario } from '../records/task.ts';
import { OUT_OF_SCOPE, STOP, TRANSFER } from './types.ts';

/** The agent's greeting, which the customer's first message answers. */
export const GREETING = 'Hi! How can I help you today?';

export function systemPrompt(scenario: Pick<UserScenario, 'instruction' | 'benchmark'>, hasTools = false): string {
  return scenario.benchmark === 'tau2' ? tau2Prompt(scenario.instruction, hasTools) : tau1Prompt(scenario.instruction);
}

/** tau-bench has one prompt for all of its domains. The generated tasks use this prompt too. */
function tau1Prompt(instruction: string): string {
  return `You play a user who talks to an agent. Stay in this role.

Instruction: ${instruction}

Rules:
- Write one line at a time, as the user would.
- Do not tell everything at once: give what the present step needs, unless the instruction says otherwise.
- Do not invent facts. If the agent asks for something that the instruction does not say, answer that you do not know or remember it.
- Use your own words, and do not quote the instruction.
- Talk naturally, and keep the character that the instruction describes.
- When the goal of the instruction is reached, refused or handed to a human, answer with ${STOP} alone. Nothing else ends the conversation.`;
}

/** tau2-bench's guidelines differ in how a conversation ends and in what a user with tools may say. */
function tau2Prompt(instruction: string, hasTools: boolean): string {
  const tools = `
- You have tools for what you can look at and do yourself. In each turn either write a message or call a tool, never both. The agent sees your messages only.
- Call a tool only when the agent asks you to, or when you need it to answer. Ask when you do not know what to do.
- Do one thing at a time: if the agent asks for several, say so and ask which comes first.
- Tell only what a tool has shown you about your things. If a call fails because of how you made it, correct it and call again.`;
  return `You play a customer who talks to a service agent. Stay in this role.

Rules:
- Write one message at a time, as a customer would.
- Follow the scenario below to the letter, and in your own words. What it does not say, you do not know.
- Do not tell everything at once: wait until the agent asks.${hasTools ? tools : ''}
- When everything that the scenario wants is done, write ${STOP}.
- When the agent has clearly said that you are handed over to someone else, write ${TRANSFER}.
- When the scenario does not say enough for you to go on, write ${OUT_OF_SCOPE}.

<scenario>
${instruction}
</scenario>`;
}
