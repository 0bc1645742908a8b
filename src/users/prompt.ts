/**
 * @file The default system prompt for a language model that plays the customer, and the reading of the instruction from such a
 * prompt. It is tau-bench's user prompt in our words. Of the scenario it contains only the instruction, because the scenario's
 * slots are the gold arguments.
 */
import { STOP } from './types.ts';

/** The agent's greeting, which the customer's first message answers. */
export const GREETING = 'Hi! How can I help you today?';

export function customerPrompt(instruction: string): string {
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

/** The number of characters of a prompt that are read. The longest task of tau-bench and tau2-bench has 2,400. */
const MAX_PROMPT = 16_384;
const MARK = 'Instruction:';

/**
 * Finds the instruction in a system prompt: the text between tau2-bench's `<scenario>` tags, or from tau-bench's
 * `Instruction:` to the next empty line. If the prompt has neither, the whole prompt is the instruction.
 */
export function instructionIn(prompt: string): string {
  const text = prompt.slice(0, MAX_PROMPT);
  const [, scenario] = text.split(/<\/?scenario>/);
  const at = text.indexOf(MARK);
  return (
    scenario ??
    (at < 0
      ? text
      : text
          .slice(at + MARK.length)
          .trimStart()
          .split(/\n[ \t\r]*\n/)[0]!)
  ).trim();
}
