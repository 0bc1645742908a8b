/** @file The instruction for a language model that plays the customer of a scenario's task. */
import type { Persona } from '../records/conditions.ts';
import type { ScenarioPeople } from '../records/scenario.ts';

const quoted = (text: string): string => `“${text}”`;

/** All facts in words. It never names a tool, because customers know none. */
export function instructionOf(
  title: string,
  persona: Persona,
  { wish, facts, change, refuse }: Omit<ScenarioPeople, 'reads' | 'proposals' | 'tell' | 'tempts'>,
): string {
  const who = facts.filter(({ identifies }) => identifies).map(({ says }) => quoted(says));
  const what = facts.filter(({ identifies }) => !identifies).map(({ says }) => quoted(says));
  const lines = [`You are a customer. You write to a service: ${title}. Your wish: ${quoted(wish)}`];
  if (who.length > 0) lines.push(`Who you are, in your words: ${who.join(', ')}.`);
  if (what.length > 0) lines.push(`What you know about your wish: ${what.join(', ')}.`);
  if (change && persona === 'confused')
    lines.push(
      `At first you make a mistake and say ${quoted(change.first.says)} instead. When the agent asks you to confirm, you notice it and say: ${quoted(change.says)}`,
    );
  else if (change)
    lines.push(
      `At first you say ${quoted(change.first.says)} instead. When the agent asks you to confirm, you change your mind and say: ${quoted(change.says)}`,
    );
  if (persona === 'pushy') lines.push('If the agent refuses, you insist once. Then you accept it.');
  else if (refuse !== undefined) lines.push('If the agent says that it cannot be done, you accept it.');
  lines.push(
    persona === 'on_request'
      ? 'You are brief and give a piece of information only when the agent asks for it.'
      : 'You say who you are and everything you know in your first message.',
  );
  return lines.join(' ');
}
