/** @file The reward of tau-bench v1, and the variant of it with which MUA-RL trains. */
import type { ExactDomain } from '../../domains/exact/types.ts';
import { runExact } from '../../domains/exact/run.ts';
import { Overlay, type World } from '../../environments/overlay.ts';
import type { Conversation } from '../recorded-conversation.ts';
import { replay, type Replay, type RowDifference, rowDifferences } from '../replay.ts';
import { assistantTexts, mentions, plainText } from '../tau/said.ts';
import type { Tau1Task } from './task.ts';

export interface Tau1Rules {
  /** Whether the agent must say the outputs of the task. */
  outputs: boolean;
  /** Whether a conversation gets reward 0 if neither the user nor a terminal tool ended it. */
  requireEnd: boolean;
}

export const TAU_BENCH: Tau1Rules = { outputs: true, requireEnd: true };
/** MUA-RL removes the outputs of its training tasks and scores every ending, so that only the database counts. */
export const MUA_RL_EMPTY_OUTPUT: Tau1Rules = { outputs: false, requireEnd: false };

export interface Tau1Reward {
  reward: 0 | 1;
  /**
   * The answer if the environment is asked for the reward a second time. Quirk: scoring replaces the environment's database by
   * the gold database, and a transfer is scored at once. The second time, the gold database is compared with itself, so every
   * transfer passes.
   */
  asked_again: 0 | 1;
  /** Whether the database equals the database after the gold actions. */
  r_actions: boolean;
  /** Whether the agent said each output. Null if the task has no outputs. */
  outputs: Record<string, boolean> | null;
  ended: boolean;
  rows: RowDifference[];
}

/** The tool that ends a conversation. Upstream skips it when it replays the gold actions. */
const TERMINAL = 'transfer_to_human_agents';
/** tau-bench's action with which the agent speaks to the user. */
const RESPOND = 'respond';

/** The state after the gold actions. */
function tau1Gold(domain: ExactDomain, world: World, { actions }: Tau1Task): Overlay {
  const rows = new Overlay(world);
  for (const { name, kwargs } of actions) if (name !== TERMINAL && name !== RESPOND) runExact(domain, rows, { name, arguments: kwargs });
  return rows;
}

export function tau1Reward(
  domain: ExactDomain,
  world: World,
  task: Tau1Task,
  conversation: Conversation,
  rules: Tau1Rules = TAU_BENCH,
): Tau1Reward & { replay: Replay } {
  const replayed = replay(domain, new Overlay(world), conversation);
  const transferred = conversation.turns.some((turn) => turn.kind === 'called' && turn.call.name === TERMINAL);
  const rows = rowDifferences(tau1Gold(domain, world, task), replayed.rows);
  // Quirk: upstream replays the gold actions through the environment, which counts them as the agent's. So their texts count as
  // said by the agent.
  const said = [
    ...assistantTexts(conversation),
    ...task.actions.flatMap(({ name, kwargs }) => (name === RESPOND ? [plainText(String(kwargs.content))] : [])),
  ];
  const outputs =
    rules.outputs && task.outputs.length ? Object.fromEntries(task.outputs.map((output) => [output, mentions(said, output)])) : null;
  const { ended } = conversation;
  const r_actions = rows.length === 0;
  const otherwise = Object.values(outputs ?? {}).every(Boolean) && (ended || !rules.requireEnd);
  return {
    reward: r_actions && otherwise ? 1 : 0,
    asked_again: (r_actions || transferred) && otherwise ? 1 : 0,
    r_actions,
    outputs,
    ended,
    rows,
    replay: replayed,
  };
}
