/** @file A simulated user that continues a conversation which another session began. */
import type { Json } from '../records/json.ts';
import type { ToolCall } from '../records/task.ts';
import { GREETING } from './prompt.ts';
import { STOP_WORDS, type ToldScenario, type UserSession, type UserSimulator, type UserTools } from './types.ts';

/**
 * A past answer of the user. `heard` is the message that it answered (null for the first message). `calls` are the calls that
 * the user made for it, with their results.
 */
export interface PastAnswer {
  heard: string | null;
  said: string;
  calls: readonly { call: ToolCall; text: string; error: boolean }[];
}

/**
 * `replay` is for a user that depends only on what it hears, such as the scripted user: it hears the conversation again, its
 * answers are dropped, and its calls get their recorded results. `tell` gives the past messages to the user as `history`, as
 * tau2-bench does when a conversation has already begun.
 */
export class ResumedUsers implements UserSimulator {
  constructor(
    private readonly users: UserSimulator,
    private readonly past: readonly PastAnswer[],
    private readonly how: 'replay' | 'tell',
  ) {}

  session(scenario: ToldScenario, seed: number, tools?: UserTools): UserSession {
    if (this.past.length === 0) return this.users.session(scenario, seed, tools);
    return this.how === 'replay' ? this.#replayed(scenario, seed, tools) : this.#told(scenario, seed, tools);
  }

  get customerJudge(): string | undefined {
    return this.users.customerJudge;
  }

  async judge(...asked: Parameters<NonNullable<UserSimulator['judge']>>): Promise<boolean[] | null> {
    return (await this.users.judge?.(...asked)) ?? null;
  }

  #replayed(scenario: ToldScenario, seed: number, tools?: UserTools): UserSession {
    const results = this.past.flatMap(({ calls }) => calls);
    let live = false;
    const replaying = tools && {
      schemas: tools.schemas,
      call: async (calls: ToolCall[]) =>
        live ? tools.call(calls) : calls.map(() => results.shift() ?? { text: 'Error: nothing happened', error: true }),
    };
    const session = this.users.session(scenario, seed, replaying);
    /** The user's goodbye, if the user leaves during the replay. In this case the user repeats it. */
    let goodbye: string | null = null;
    const catchUp = async (signal?: AbortSignal) => {
      if (live) return;
      for (const { heard } of this.past) {
        const answer = heard === null ? await session.open(signal) : await session.reply(heard, signal);
        if (!STOP_WORDS.some((word) => answer.includes(word))) continue;
        goodbye = answer;
        break;
      }
      live = true;
    };
    const reply = async (text: string, signal?: AbortSignal) => {
      await catchUp(signal);
      return goodbye ?? session.reply(text, signal);
    };
    return { open: (signal) => reply('', signal), reply, close: () => session.close?.(), requests: session.requests ?? [] };
  }

  #told(scenario: ToldScenario, seed: number, tools?: UserTools): UserSession {
    let session: UserSession | null = null;
    const reply = (text: string, signal?: AbortSignal) => {
      if (session) return session.reply(text, signal);
      // The user's first answer followed the history of the scenario, or the greeting if there is no history.
      const before = scenario.history ?? [{ role: 'assistant', content: scenario.greeting ?? GREETING }];
      const history = [...before, ...this.past.flatMap(messages), { role: 'assistant', content: text }];
      session = this.users.session({ ...scenario, history }, seed, tools);
      return session.open(signal);
    };
    return {
      open: (signal) => reply('', signal),
      reply,
      close: () => session?.close?.(),
      get requests() {
        return session?.requests ?? [];
      },
    };
  }
}

/** The messages of one answer, in the form of tau2-bench's `message_history`. */
function messages({ heard, said, calls }: PastAnswer, answer: number): Json[] {
  const made = calls.flatMap(({ call, text }, i): Json[] => {
    const id = `past_${answer}_${i}`;
    return [
      { role: 'user', content: null, tool_calls: [{ id, name: call.name, arguments: call.arguments }] },
      { role: 'tool', id, content: text },
    ];
  });
  return [...(heard === null ? [] : [{ role: 'assistant', content: heard }]), ...made, { role: 'user', content: said }];
}
