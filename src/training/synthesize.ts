/**
 * @file Makes cold-start data: conversations of honest demonstrators with the scripted user and the real tools. As in MUA-RL,
 * only verified conversations are kept: those with reward 1. The audit has no influence, because a brisk demonstrator writes
 * without a yes on purpose.
 */
import { drawHabits, type NearMisses } from '../agent/acts.ts';
import { QWEN } from '../agent/chat-template.ts';
import { runEpisode } from '../agent/episode.ts';
import { expertPlayer, messagesOf } from '../agent/players.ts';
import { mapConcurrently } from '../agent/rollouts.ts';
import { rulesFor } from '../benchmarks/rules.ts';
import { writesOf } from '../agent/trajectory.ts';
import type { Tokenizer } from '../agent/types.ts';
import { hash32 } from '../base/random.ts';
import { demonstratorOf, nearMissesOf } from '../domains/registry.ts';
import { COLD_START } from '../environments/conditions.ts';
import type { Environments } from '../environments/types.ts';
import { intentOf } from '../evaluation/trial-result.ts';
import type { Conditions } from '../records/conditions.ts';
import type { ChatMessage } from '../records/conversation.ts';
import { type HabitShares, STYLES, type Style, type SynthesizedConversation } from '../records/dataset.ts';
import type { EpisodeLimits } from '../records/episode.ts';
import type { NearMissKind } from '../records/scenario.ts';
import { type Task, type ToolSchema, toolsOf, type UserScenario } from '../records/task.ts';
import type { MessageNode, Trajectory } from '../records/trajectory.ts';
import { GREETING } from '../users/prompt.ts';
import type { UserSimulator } from '../users/types.ts';
import { NEAR_MISS, NearMissCount, type Played } from './near-misses.ts';

export interface SynthesizeOptions {
  domain: string;
  level: string;
  count: number;
  seed: number;
  /** The styles of the demonstrators. A seeded draw chooses one for each conversation. Default: careful and brisk. */
  styles?: readonly Style[];
  /** Default: cooperative customers, few of whom change their mind. */
  conditions?: Conditions;
  /** Default: the demonstrators have all habits in all conversations. */
  habits?: HabitShares;
  /** The index of the first task to play. Default: 0. */
  from?: number;
  /**
   * The side whose words a model learns. For `customer`, the customer's instruction is the system message, the agent speaks as
   * `user`, and the customer speaks as `assistant`. The agent's tools are removed. All conversations are kept. Default: `agent`.
   */
  side?: 'agent' | 'customer';
  /** The share of kept conversations that are followed by a near-miss, 0 to 1. Near-misses do not count towards `count`. Default: 0. */
  near_misses?: number;
}

/** What was played before, by the number of the task, and where goes what is played now. */
export interface PlayLog<Played> {
  done: ReadonlyMap<number, Played>;
  played(tried: readonly (readonly [task: number, played: Played])[]): Promise<void> | void;
}

export interface Synthesis {
  /** The kept conversations, each with its near-miss after it. */
  conversations: SynthesizedConversation[];
  tried: number;
  solved: number;
  /** The conversations without an outcome, because a simulated tool failed. Absent if there are none. */
  dropped?: number;
  /** The near-misses by kind, and how many were dropped, because they ended well. Absent if none were wanted. */
  near_misses?: Pick<NearMissCount, 'kept' | 'dropped'>;
}

/** Demonstrators sample nothing, so their episodes need no tokenizer. */
const NO_TOKENS: Tokenizer = { encode: () => [], decode: () => '', id: () => 0, has: () => true, vocabSize: 0, format: QWEN };
/** Each act of a demonstrator takes one turn. A conversation that does not end properly counts as failed. */
export const LIMITS: EpisodeLimits = {
  max_turns: 60,
  response_length_one_turn: Infinity,
  max_model_len: Infinity,
  malformed_policy: 'feedback',
  require_done: true,
};
/** The number of tasks to play before the share of kept conversations is checked, and the smallest share that is accepted. */
const TRIED_AT_LEAST = 256;
const KEPT_AT_LEAST = 1 / 4;
const BATCH = 64;
/** An upper bound on the number of tasks that `synthesize` plays to keep `count` conversations. */
export const mostTried = (count: number): number => BATCH + Math.max(TRIED_AT_LEAST, Math.ceil(count / KEPT_AT_LEAST));
/** The key of the random draw that chooses the demonstrator of a conversation. */
const DEMONSTRATOR = 1;

/**
 * Plays training tasks, starting with the first one, until `count` conversations are kept. `solved` of the `tried`
 * conversations had reward 1.
 * @throws if fewer than a quarter of the conversations are kept, if the domain has no demonstrator or no near-misses, or if an option is
 * out of range
 */
export async function synthesize(
  stage: { environments: Environments; users: UserSimulator },
  options: SynthesizeOptions,
  onProgress?: (kept: number) => void,
  signal?: AbortSignal,
  log: PlayLog<SynthesizedConversation> = { done: new Map(), played: () => {} },
): Promise<Synthesis> {
  const { styles = STYLES, conditions = COLD_START, habits, from = 0, side = 'agent', near_misses: share = 0 } = options;
  if (styles.length === 0) throw new Error('styles is empty: expected careful, brisk or both');
  if (!(share >= 0 && share <= 1)) throw new Error(`near_misses is ${share}: expected a share, 0 to 1`);
  if (share > 0 && side === 'customer')
    throw new Error("near_misses is above 0 with side 'customer': expected 0, because only agents miss");
  const demonstrate = await demonstrators(stage, options.domain, options.level, { styles, habits });
  const misses = share > 0 ? await nearMissesOf(options.domain) : undefined;
  const { domain: name, level, seed } = options;
  const conversations: SynthesizedConversation[] = [];
  const count = new NearMissCount();
  let [kept, tried, solved, dropped] = [0, 0, 0, 0];
  while (kept < options.count) {
    signal?.throwIfAborted();
    const first = from + tried;
    const tasks = await stage.environments.tasks({ domain: name, level, split: 'train', seed, count: BATCH, from: first, conditions });
    const played: (SynthesizedConversation | null)[] = [];
    await mapConcurrently(tasks, 16, async (task, i) => {
      played[i] = log.done.get(first + i) ?? (await play(task, hash32(seed, first + i)))?.conversation ?? null;
    });
    // A dropped conversation is not logged, so that it is tried again when the command goes on.
    await log.played(played.flatMap((one, i) => (one && !log.done.has(first + i) ? [[first + i, one] as const] : [])));
    tried += BATCH;
    for (const [i, conversation] of played.entries()) {
      if (!conversation) {
        dropped += 1;
        continue;
      }
      solved += conversation.reward;
      if ((conversation.reward !== 1 && side === 'agent') || kept === options.count) continue;
      kept += 1;
      conversations.push(conversation);
      if (misses) conversations.push(...(await spoil(misses, tasks[i]!, conversation, hash32(seed, first + i))));
    }
    onProgress?.(kept);
    if (tried >= TRIED_AT_LEAST && kept < tried * KEPT_AT_LEAST)
      throw new Error(`the demonstrators solved only ${kept} of ${tried} tasks at level ${level}`);
  }
  return {
    conversations,
    tried,
    solved,
    ...(dropped > 0 && { dropped }),
    ...(misses && { near_misses: { kept: count.kept, dropped: count.dropped } }),
  };

  async function spoil(misses: NearMisses, task: Task, success: SynthesizedConversation, seed: number): Promise<SynthesizedConversation[]> {
    if (hash32(seed, NEAR_MISS) >= share * 2 ** 32) return [];
    const made = await count.make(success, misses.kinds(task, success.demonstrator), (kind) => play(task, seed, { misses, kind }));
    return made ? [made] : [];
  }

  /** Null: a simulated tool failed, so there is no outcome. */
  async function play(task: Task, seed: number, spoilt?: Spoilt): Promise<Played | null> {
    const { demonstrator, trajectory, tools, firstWrong = null } = await demonstrate(task, seed, spoilt);
    const { nodes, reward, violations, error, termination } = trajectory;
    if (termination === 'tool_error') return null;
    if (reward === null) throw new Error(`${task.id}: ${error ?? termination}`);
    const conversation = {
      id: task.id,
      ...(side === 'agent' ? { messages: messagesOf(nodes), tools } : { messages: customerSide(task.scenario, nodes), tools: [] }),
      demonstrator,
      persona: task.scenario.persona,
      intent: intentOf(task),
      reward,
      writes: writesOf(trajectory),
      unconfirmed_writes: violations.filter(({ rule }) => rule === 'unconfirmed_write').length,
      violations,
    };
    return { conversation, firstWrong };
  }
}

/** How a conversation is spoilt. */
interface Spoilt {
  misses: NearMisses;
  kind: NearMissKind;
}

interface Demonstration {
  demonstrator: Style;
  trajectory: Trajectory;
  tools: ToolSchema[];
  firstWrong?: number | null;
}

/**
 * Returns a function that plays a task with one of the demonstrators, which the seed chooses.
 * @throws if the domain has no demonstrator
 */
export async function demonstrators(
  stage: { environments: Environments; users: UserSimulator },
  name: string,
  level: string,
  { styles = STYLES, habits }: Pick<SynthesizeOptions, 'styles' | 'habits'> = {},
): Promise<(task: Task, seed: number, spoilt?: Spoilt) => Promise<Demonstration>> {
  const [createExpert, domain] = await Promise.all([demonstratorOf(name), stage.environments.domain(name, level)]);
  return async (task, seed, spoilt) => {
    const demonstrator = styles[hash32(seed, DEMONSTRATOR) % styles.length]!;
    const own = { style: demonstrator, habits: drawHabits(seed, demonstrator, habits), task };
    const missing = spoilt?.misses.spoil(domain, seed, spoilt.kind, own);
    const trajectory = await runEpisode({
      ...stage,
      task,
      domain,
      seed,
      tokenizer: NO_TOKENS,
      limits: LIMITS,
      rules: rulesFor(domain, 'domain'),
      sampling: { temperature: 1, top_p: 1, top_k: 0 },
      stream: 0,
      group: task.id,
      index: 0,
      player: expertPlayer(missing ?? createExpert(domain, seed, own)),
    });
    return { demonstrator, trajectory, tools: toolsOf(task, domain), ...(missing && { firstWrong: missing.firstWrong }) };
  };
}

/** The same conversation from the side of a language model that plays the customer. */
function customerSide({ instruction }: UserScenario, nodes: readonly MessageNode[]): ChatMessage[] {
  const heard: ChatMessage[] = [
    { role: 'system', content: instruction },
    { role: 'user', content: GREETING },
  ];
  for (const { role, content, tool_calls } of messagesOf(nodes))
    if (role === 'user') heard.push({ role: 'assistant', content });
    else if (role === 'assistant' && !tool_calls) heard.push({ role: 'user', content });
  // If the agent's last message has no answer, for example before a transfer, the customer model can learn nothing from it.
  return heard.at(-1)!.role === 'user' ? heard.slice(0, -1) : heard;
}
