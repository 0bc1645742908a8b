/** @file ACEBench's two loops with given texts of the agent and the user. */
import { repr } from '../../python/text.ts';
import { Dict, type Value } from '../../python/values.ts';
import type { Language } from './classes/api.ts';
import type { Entry } from './data.ts';
import { decode, isForExecution } from './decode.ts';
import { Instances, type States } from './instances.ts';
import { type AgentPrompt, customerPrompt, type Prompts, systemPrompt, userPrompt } from './prompts.ts';

/** Ends the conversation, in any message after the first two. */
export const FINISH = 'finish conversation';
/** The answer to a message that cannot be decoded, in a multi-step task. */
export const UNREADABLE = 'Please do not ask me any questions, use the known conditions to solve the problem';

type Role = 'user' | 'agent' | 'execution';

export interface Message {
  sender: Role;
  recipient: Role;
  /** The results of the execution are a list. */
  message: string | Value[];
  /** Whether the execution failed as a whole. */
  failed?: true;
}

/** A message of the request to the model that plays the user. */
interface UserMessage {
  role: 'system' | 'user';
  content: string;
}

/** What was played. */
export interface Played {
  history: Message[];
  /** The messages that were sent to the execution. */
  process: string[];
  /** The compared attributes of each class. Empty if nothing was executed. */
  result: Dict[];
  /** The prompts of each query. Empty without prompts. */
  agentPrompts: AgentPrompt[];
  userCalls: { messages: UserMessage[] }[];
  calls: number;
  errors: number;
}

export interface Script {
  agent: readonly string[];
  user?: readonly string[] | undefined;
  /** The largest number of messages after the first one. Default: 40. */
  maxTurns?: number | undefined;
}

/** What a simulated user without a script says. */
export const USUAL_USER: Record<Language, readonly [first: string, second: string, rest: string]> = {
  en: ['Hello, I need help.', 'Yes.', 'Please go on.'],
  zh: ['你好，我需要帮助。', '是的。', '请继续。'],
};

/** Upstream's limit on the messages after the first one. */
export const MOST_MESSAGES = 40;

/** @param prompts absent if no prompts are rendered. `agent` may be those of another language. */
export function infer(entry: Entry, states: States, script: Script, prompts?: { agent: Prompts; user: Prompts }): Played {
  const played = new Conversation(entry, states, script, prompts);
  return entry.kind === 'multi_turn' ? played.turns() : played.steps();
}

class Conversation {
  readonly #objects: Instances;
  readonly #played: Played = { history: [], process: [], result: [], agentPrompts: [], userCalls: [], calls: 0, errors: 0 };
  readonly #userMessages: UserMessage[] = [];
  #agentTexts = 0;
  #userTexts = 0;

  constructor(
    private readonly entry: Entry,
    states: States,
    private readonly script: Script,
    private readonly prompts: { agent: Prompts; user: Prompts } | undefined,
  ) {
    this.#objects = new Instances(entry, states);
  }

  /** Multi-turn: user, agent and execution. The recipient of the last message acts. */
  turns(): Played {
    const { entry, prompts } = this;
    if (prompts)
      this.#userMessages.push(
        { role: 'system', content: customerPrompt(prompts.user, entry.involved, entry.question) },
        { role: 'user', content: prompts.user.greeting },
      );
    const { history } = this.#played;
    history.push({ sender: 'user', recipient: 'agent', message: this.#user() });
    let transcript = '';
    return this.#loop(({ sender, recipient, message }) => {
      transcript += `${sender}:${textOf(message)}\n`;
      if (recipient === 'execution') return this.#execute(message as string);
      if (recipient === 'user') {
        this.#userMessages.push({ role: 'user', content: (message as string).replace(/^(user|agent):/, '') });
        return { sender: 'user', recipient: 'agent', message: this.#user() };
      }
      const text = this.#agent(transcript);
      return { sender: 'agent', recipient: isForExecution(text) ? 'execution' : 'user', message: text };
    });
  }

  /** Multi-step: agent and execution. The agent does not see its own earlier messages. */
  steps(): Played {
    const { history } = this.#played;
    history.push({ sender: 'user', recipient: 'agent', message: this.entry.question });
    let transcript = '';
    return this.#loop(({ sender, message }) => {
      if (sender === 'agent') return this.#execute(message as string);
      transcript += `${sender === 'user' ? 'user' : 'execution result'}:${textOf(message)}\n`;
      return { sender: 'agent', recipient: 'execution', message: this.#agent(transcript) };
    });
  }

  #loop(next: (last: Message) => Message): Played {
    const { history } = this.#played;
    for (let i = 0; i < (this.script.maxTurns ?? MOST_MESSAGES); i++) {
      const message = next(history.at(-1)!);
      history.push(message);
      if (i > 1 && message.message.includes(FINISH)) break;
    }
    if (history.some(({ sender, message, failed }) => sender === 'execution' && !failed && message !== UNREADABLE))
      this.#played.result = this.#objects.saved();
    return this.#played;
  }

  #agent(transcript: string): string {
    if (this.prompts) {
      const { kind, involved, functions } = this.entry;
      const own = this.prompts.agent;
      this.#played.agentPrompts.push({
        system: systemPrompt(own, kind, involved),
        user: userPrompt(own.agent[kind].user, functions, transcript),
      });
    }
    return this.script.agent[this.#agentTexts++] ?? FINISH;
  }

  #user(): string {
    if (this.prompts) this.#played.userCalls.push({ messages: [...this.#userMessages] });
    const usual = USUAL_USER[this.entry.language];
    const text = (this.script.user ?? usual)[this.#userTexts++] ?? usual[2];
    this.#userMessages.push({ role: 'system', content: text });
    return text;
  }

  #execute(text: string): Message {
    this.#played.process.push(text);
    let calls: string[];
    try {
      calls = decode(text);
    } catch {
      return { sender: 'execution', recipient: 'agent', message: UNREADABLE };
    }
    const { results, failed, errors } = this.#objects.run(calls);
    this.#played.calls += calls.length;
    this.#played.errors += errors;
    return { sender: 'execution', recipient: 'agent', message: results, ...(failed && { failed }) };
  }
}

/** Python's `str` of a message. */
const textOf = (message: string | Value[]): string => (typeof message === 'string' ? message : repr(message));
