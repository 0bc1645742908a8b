/**
 * @file Cold-start data: conversations of the expert with the scripted user, with the real tools. Only conversations with
 * reward 1 and without a violation are kept; MUA-RL verifies its synthetic trajectories too. With a careless expert all
 * conversations are kept, so that a model that imitates them fails as often as the expert.
 */
import { createExpert } from '../agent/expert.ts';
import { mapConcurrently } from '../agent/rollouts.ts';
import type { Task, ToolSchema } from '../records/task.ts';
import type { Environments } from '../environments/types.ts';
import { auditEpisode, type AuditEvent } from '../environments/violations.ts';
import { hash32 } from '../base/random.ts';
import type { ChatMessage, Conversation } from '../records/conversation.ts';
import { STOP, type UserSimulator } from '../users/types.ts';

/** One line of the JSONL, in TRL's dataset format: OpenAI-style messages with arguments as objects. */
export interface SynthesizedConversation extends Conversation {
  id: string;
  tools: ToolSchema[];
}

export interface SynthesizeOptions {
  domain: string;
  level: string;
  count: number;
  seed: number;
  /** How often the expert makes a mistake on purpose, 0 to 1. Above 0 all conversations are kept. */
  carelessness?: number;
}

const MAX_ACTS = 60;

interface Played {
  messages: ChatMessage[];
  /** 0 also if the conversation did not end. */
  reward: number;
  /** Whether no rule was broken. */
  flawless: boolean;
}

/**
 * Plays training tasks, from the first on, until `count` conversations are kept. `solved` of the `tried` conversations had
 * reward 1. @throws if fewer than a quarter of the conversations are kept
 */
export async function synthesize(
  stage: { environments: Environments; users: UserSimulator },
  options: SynthesizeOptions,
  onProgress?: (kept: number) => void,
): Promise<{ conversations: SynthesizedConversation[]; tried: number; solved: number }> {
  const { carelessness = 0 } = options;
  if (!(carelessness >= 0 && carelessness <= 1)) throw new Error(`carelessness is ${carelessness}: expected 0 to 1`);
  const domain = await stage.environments.domain(options.domain, options.level);
  const conversations: SynthesizedConversation[] = [];
  let [tried, solved] = [0, 0];
  const batch = 64;
  while (conversations.length < options.count) {
    const tasks = await stage.environments.tasks({
      domain: options.domain,
      level: options.level,
      split: 'train',
      seed: options.seed,
      count: batch,
      from: tried,
    });
    const results: Played[] = [];
    await mapConcurrently(tasks, 16, async (task, i) => {
      results[i] = await play(task, hash32(options.seed, tried + i));
    });
    tried += batch;
    results.forEach(({ messages, reward, flawless }, i) => {
      solved += reward;
      if (((reward === 1 && flawless) || carelessness > 0) && conversations.length < options.count) {
        conversations.push({ id: tasks[i]!.id, messages: [{ role: 'system', content: domain.policy }, ...messages], tools: domain.tools });
      }
    });
    onProgress?.(conversations.length);
    if (tried >= 256 && conversations.length < tried / 4)
      throw new Error(`the expert solved only ${conversations.length} of ${tried} tasks at level ${options.level}`);
  }
  return { conversations, tried, solved };

  async function play(task: Task, seed: number): Promise<Played> {
    const { environments, users } = stage;
    const expert = createExpert(domain, seed, carelessness);
    const user = users.session(task.scenario, seed);
    const episode = await environments.start(task);
    const messages: ChatMessage[] = [];
    const events: AuditEvent[] = [];
    const hear = (text: string) => {
      messages.push({ role: 'user', content: text });
      events.push({ kind: 'user', text });
      return text.includes(STOP);
    };
    try {
      let done = hear(await user.open());
      for (let acts = 0; !done && acts < MAX_ACTS; acts++) {
        const act = expert.act(messages);
        if ('say' in act) {
          messages.push({ role: 'assistant', content: act.say });
          events.push({ kind: 'agent', text: act.say });
          done = hear(await user.reply(act.say));
        } else {
          messages.push({ role: 'assistant', content: '', tool_calls: [{ type: 'function', function: act.call }] });
          const result = await environments.call(episode, act.call);
          messages.push({ role: 'tool', name: act.call.name, content: result.text });
          events.push({ kind: 'tool', call: act.call, result });
          done = result.terminal;
        }
      }
      const { reward } = await environments.verify(episode);
      return { messages, reward: done ? (reward ?? 0) : 0, flawless: auditEpisode(events).length === 0 };
    } finally {
      user.close?.();
      await environments.close(episode);
    }
  }
}
