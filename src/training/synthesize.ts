/**
 * @file Cold-start data: conversations of honest demonstrators with the scripted user, with the real tools. As in MUA-RL, only
 * verified conversations are kept: those with reward 1. The audit decides nothing, because writing without a yes is how a brisk
 * demonstrator serves.
 */
import { createExpert } from '../domains/retail/expert.ts';
import { COLD_START } from '../environments/conditions.ts';
import type { Conditions } from '../records/conditions.ts';
import { type DatasetConversation, STYLES, type Style } from '../records/dataset.ts';
import { mapConcurrently } from '../agent/rollouts.ts';
import type { Task, ToolSchema, UserScenario } from '../records/task.ts';
import type { Environments } from '../environments/types.ts';
import { auditEpisode, auditRules, type AuditEvent } from '../agent/violations.ts';
import { hash32 } from '../base/random.ts';
import type { ChatMessage } from '../records/conversation.ts';
import { intentOf } from '../evaluation/trial-result.ts';
import { GREETING } from '../users/prompt.ts';
import { STOP, type UserSimulator } from '../users/types.ts';

/** One line of the JSONL, with all facts. */
export interface SynthesizedConversation extends Required<DatasetConversation> {
  tools: ToolSchema[];
}

export interface SynthesizeOptions {
  domain: string;
  level: string;
  count: number;
  seed: number;
  /** The demonstrators take turns by a seeded draw for each conversation. Default: careful and brisk. */
  styles?: readonly Style[];
  /** Default: cooperative customers, of whom few change their mind. */
  conditions?: Conditions;
  /** The first task to play. Default: 0. */
  from?: number;
  /**
   * Whose words a model learns. `customer`: the customer's instruction is the system message, the agent speaks as `user` and the
   * customer as `assistant`, without the agent's tools. All conversations are kept. Default: `agent`.
   */
  side?: 'agent' | 'customer';
}

const MAX_ACTS = 60;
/** Tasks that are played before the share of kept conversations is judged, and the smallest share that is accepted. */
const TRIED_AT_LEAST = 256;
const KEPT_AT_LEAST = 1 / 4;
const BATCH = 64;
/** An upper bound of the tasks that `synthesize` plays to keep `count` conversations. */
export const mostTried = (count: number): number => BATCH + Math.max(TRIED_AT_LEAST, Math.ceil(count / KEPT_AT_LEAST));
/** Key of the draw that chooses a conversation's demonstrator. */
const DEMONSTRATOR = 1;

/**
 * Plays training tasks, from the first on, until `count` conversations are kept. `solved` of the `tried` conversations had
 * reward 1. @throws if fewer than a quarter of the conversations are kept, or an option is out of range
 */
export async function synthesize(
  stage: { environments: Environments; users: UserSimulator },
  options: SynthesizeOptions,
  onProgress?: (kept: number) => void,
  signal?: AbortSignal,
): Promise<{ conversations: SynthesizedConversation[]; tried: number; solved: number }> {
  const { styles = STYLES, conditions = COLD_START, from = 0, side = 'agent' } = options;
  if (styles.length === 0) throw new Error('styles is empty: expected careful, brisk or both');
  const domain = await stage.environments.domain(options.domain, options.level);
  const { domain: name, level, seed } = options;
  const conversations: SynthesizedConversation[] = [];
  let [tried, solved] = [0, 0];
  while (conversations.length < options.count) {
    signal?.throwIfAborted();
    const first = from + tried;
    const tasks = await stage.environments.tasks({ domain: name, level, split: 'train', seed, count: BATCH, from: first, conditions });
    const played: SynthesizedConversation[] = [];
    await mapConcurrently(tasks, 16, async (task, i) => {
      played[i] = await play(task, hash32(seed, first + i));
    });
    tried += BATCH;
    for (const conversation of played) {
      solved += conversation.reward;
      if ((conversation.reward === 1 || side === 'customer') && conversations.length < options.count) conversations.push(conversation);
    }
    onProgress?.(conversations.length);
    if (tried >= TRIED_AT_LEAST && conversations.length < tried * KEPT_AT_LEAST)
      throw new Error(`the demonstrators solved only ${conversations.length} of ${tried} tasks at level ${level}`);
  }
  return { conversations, tried, solved };

  async function play(task: Task, seed: number): Promise<SynthesizedConversation> {
    const { environments, users } = stage;
    const demonstrator = styles[hash32(seed, DEMONSTRATOR) % styles.length]!;
    const expert = createExpert(domain, seed, { style: demonstrator });
    const user = users.session(task.scenario, seed);
    const episode = await environments.start(task);
    let writes = 0;
    const messages: ChatMessage[] = [{ role: 'system', content: domain.policy }];
    const events: AuditEvent[] = [];
    const hear = (text: string) => {
      messages.push({ role: 'user', content: text });
      events.push({ kind: 'user', text });
      return text.includes(STOP);
    };
    try {
      let done = hear(await user.open());
      for (let acts = 0; !done && acts < MAX_ACTS; acts++) {
        const act = expert.act(messages.slice(1));
        if ('say' in act) {
          messages.push({ role: 'assistant', content: act.say });
          events.push({ kind: 'agent', text: act.say });
          done = hear(await user.reply(act.say));
        } else {
          messages.push({ role: 'assistant', content: act.note ?? '', tool_calls: [{ type: 'function', function: act.call }] });
          const result = await environments.call(episode, act.call);
          messages.push({ role: 'tool', name: act.call.name, content: result.text });
          events.push({ kind: 'tool', call: act.call, result });
          writes += Number(result.changes.length > 0);
          done = result.terminal;
        }
      }
      const { reward } = await environments.verify(episode);
      const violations = auditEpisode(events, auditRules(domain.tools));
      return {
        id: task.id,
        ...(side === 'agent' ? { messages, tools: domain.tools } : { messages: customerSide(task.scenario, events), tools: [] }),
        demonstrator,
        persona: task.scenario.persona,
        intent: intentOf(task),
        reward: done ? (reward ?? 0) : 0,
        writes,
        unconfirmed_writes: violations.filter(({ rule }) => rule === 'unconfirmed_write').length,
        violations,
      };
    } finally {
      user.close?.();
      await environments.close(episode);
    }
  }
}

/** The same conversation as a language model that plays the customer sees it. */
function customerSide({ instruction }: UserScenario, events: readonly AuditEvent[]): ChatMessage[] {
  const heard: ChatMessage[] = [
    { role: 'system', content: instruction },
    { role: 'user', content: GREETING },
  ];
  for (const event of events)
    if (event.kind === 'user') heard.push({ role: 'assistant', content: event.text });
    else if (event.kind === 'agent') heard.push({ role: 'user', content: event.text });
  // An agent's last message without an answer, as before a transfer, has nothing to learn from.
  return heard.at(-1)!.role === 'user' ? heard.slice(0, -1) : heard;
}
