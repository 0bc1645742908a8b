/** @file The prompts of ACEBench Agent. They are read from the visitor's copy. */
import { readExpressionAt } from '../../python/source.ts';
import { literalOf } from '../../python/literal.ts';
import { itemOf } from '../../python/operations.ts';
import { filled } from '../../python/strings.ts';
import { repr } from '../../python/text.ts';
import type { Value } from '../../python/values.ts';
import { ImportError } from '../../exchange/import-error.ts';
import { literalIn, type Source } from '../python-copy.ts';
import type { Language } from './classes/api.ts';
import type { Kind } from './instances.ts';
import { promptSources } from './source-files.ts';

/** The texts of one language. */
export interface Prompts {
  /** The system message, and the user's message with `{functions}` and `{history}`. */
  agent: Record<Kind, { system: string; user: string }>;
  travelRules: string;
  phoneRules: string;
  /** The system prompts of the simulated user, with `{instruction}`. */
  travelUser: string;
  phoneUser: string;
  /** What the agent says to the simulated user before its first message. */
  greeting: string;
}

/** @param prompts the content of `prompts.json` @throws {PyError} if a text is missing */
export function promptsFromJson(prompts: Value, language: Language): Prompts {
  const read = (kind: Kind, name: string) => itemOf(itemOf(itemOf(prompts, language), kind), name) as string;
  const agent = (kind: Kind) => ({ system: read(kind, 'system'), user: read(kind, 'user') });
  return {
    agent: { multi_turn: agent('multi_turn'), multi_step: agent('multi_step') },
    travelRules: read('multi_turn', 'travel_rules'),
    phoneRules: read('multi_turn', 'phone_rules'),
    travelUser: read('multi_turn', 'user_simulator_travel'),
    phoneUser: read('multi_turn', 'user_simulator_phone'),
    greeting: read('multi_turn', 'greeting'),
  };
}

/** @param source returns the source file with that name @throws {ImportError} */
export function promptsFromSource(source: (name: string) => Source, language: Language): Prompts {
  const files = promptSources(language);
  const end = language.toUpperCase();
  const read = (file: keyof typeof files, name: string) => literalIn(source(files[file]), `${name}_${end}`) as string;
  const agent = (file: 'turn' | 'step') => ({
    system: read(file, 'MULTI_TURN_AGENT_PROMPT_SYSTEM'),
    user: read(file, 'MULTI_TURN_AGENT_PROMPT_USER'),
  });
  return {
    agent: { multi_turn: agent('turn'), multi_step: agent('step') },
    travelRules: read('rules', 'TRAVEL_PROMPT'),
    phoneRules: read('rules', 'BASE_PROMPT'),
    travelUser: read('user', 'SYSTEM_PROMPT_TRAVEL'),
    phoneUser: read('user', 'SYSTEM_PROMPT_BASE'),
    greeting: greetingOf(source(files.user), language),
  };
}

/** The first message with the role of the user, after the condition on the language. */
function greetingOf({ path, text }: Source, language: Language): string {
  const found = new RegExp(`self\\.language == "${language}":[^]*?"role": "user",\\s*"content":`).exec(text);
  if (!found) throw new ImportError(path, 'get_init_prompt', 'it has no message of the user: expected the greeting of the agent');
  return literalOf(readExpressionAt(text, found.index + found[0].length)) as string;
}

export interface AgentPrompt {
  system: string;
  user: string;
}

/** The rules for the agent's role and for the involved classes. */
export function systemPrompt({ agent, travelRules, phoneRules }: Prompts, kind: Kind, involved: readonly string[]): string {
  const { system } = agent[kind];
  if (kind === 'multi_step') return system;
  return system + (involved.includes('Travel') ? travelRules : '') + (involved.includes('BaseApi') ? phoneRules : '');
}

/** The message with the functions and the conversation so far. */
export const userPrompt = (template: string, functions: Value, history: string): string =>
  filled(template, { functions: repr(functions), history });

/** The system prompt of the simulated user. */
export const customerPrompt = ({ travelUser, phoneUser }: Prompts, involved: readonly string[], instruction: string): string =>
  filled(involved.includes('BaseApi') ? phoneUser : travelUser, { instruction });
