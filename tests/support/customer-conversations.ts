/** Conversations of scripted customers with agents of several kinds, on generated retail tasks. */
import type { Act } from '../../src/agent/acts.ts';
import { createExpert } from '../../src/domains/retail/expert.ts';
import { Dice } from '../../src/base/dice.ts';
import { runDrafted } from '../../src/environments/domain.ts';
import { retail } from '../../src/domains/retail/definition.ts';
import { makeTasks } from '../../src/domains/retail/tasks.ts';
import { levelConditions } from '../../src/domains/registry.ts';
import { Overlay, World } from '../../src/environments/overlay.ts';
import { compareOverlays, replayGold } from '../../src/environments/verifier.ts';
import type { ChatMessage } from '../../src/records/conversation.ts';
import { PERSONAS, type CustomerShares, type Persona } from '../../src/records/conditions.ts';
import type { Task } from '../../src/records/task.ts';
import type { MessageNode, TerminationReason, Trajectory } from '../../src/records/trajectory.ts';
import { scriptedCustomer } from '../../src/domains/retail/customer/customer.ts';
import type { Wording } from '../../src/domains/retail/customer/speech.ts';
import { STOP } from '../../src/users/types.ts';
import { createCarelessExpert } from './careless.ts';

export const LEVELS = ['glimpse', 'nano', 'small', 'full'] as const;
/** `clumsy` says lines of other conversations, like a model at the beginning of its training. `deaf` repeats one question. */
export const AGENTS = ['careful', 'brisk', 'careless', 'clumsy', 'deaf'] as const;
export type AgentKind = (typeof AGENTS)[number];

const CLUMSY = [
  'What is your email, or your name and zip?',
  'Which order?',
  'Done. Anything else?',
  'Sorry, I cannot do that. Anything else?',
  'Cancel order #W1234567, no longer needed. Yes or no?',
  'The price is $12.50.',
  'Hello.',
  'Refund to which payment method, and which items?',
  'Your orders are #W1111111 and #W2222222. Which one?',
];

/** A message of a trajectory without tokens. */
export const message = (id: number, role: MessageNode['role'], text: string, more: Partial<MessageNode> = {}): MessageNode => ({
  id,
  parent: id === 0 ? null : id - 1,
  role,
  text,
  tokens: [],
  mask: [],
  logprobs: [],
  ...more,
});

export function tasksFor(persona: Persona, level: string, count: number, seed: number): Task[] {
  const customers = Object.fromEntries(PERSONAS.map((name) => [name, Number(name === persona)])) as CustomerShares;
  const conditions = { ...levelConditions('retail', level), customers };
  return makeTasks({ domain: 'retail', level, split: 'train', seed, count, conditions });
}

export const trajectoryOf = (
  task: Task,
  nodes: MessageNode[],
  termination: TerminationReason,
  more: Partial<Trajectory> = {},
): Trajectory => ({
  id: task.id,
  task,
  group: '0',
  index: 0,
  seed: 0,
  nodes,
  leaf: nodes.length - 1,
  termination,
  turns: 0,
  reward: 0,
  verdict: null,
  violations: [],
  toolCalls: {},
  parseErrors: 0,
  seconds: { generate: 0, tool: 0, user: 0 },
  ...more,
});

const worlds = new Map<string, World>();
const MAX_ACTS = 40;

/** Plays one task with a scripted customer, to its end or to a limit of acts. */
export function converse(task: Task, kind: AgentKind, seed: number, wording?: Wording): Trajectory {
  let world = worlds.get(task.world);
  if (!world) worlds.set(task.world, (world = new World(task.world, retail.world(task.world))));
  const rows = new Overlay(world);
  const domain = retail.domain(task.level);
  const expert =
    kind === 'careless'
      ? createCarelessExpert(domain, seed, 0.5)
      : createExpert(domain, seed, { style: kind === 'brisk' ? kind : 'careful' });
  const dice = new Dice('clumsy', seed);
  const customer = scriptedCustomer(task.scenario, seed, wording);
  const chat: ChatMessage[] = [];
  const nodes = [message(0, 'system', domain.policy)];
  const hear = (text: string) => {
    chat.push({ role: 'user', content: text });
    nodes.push(message(nodes.length, 'user', text));
    return text.includes(STOP);
  };
  const act = (): Act => {
    if (kind === 'deaf') return { say: 'Which order?' };
    return kind === 'clumsy' && dice.chance(0.7) ? { say: dice.pick(CLUMSY) } : expert.act(chat);
  };
  let ended: TerminationReason | null = hear(customer.open()) ? 'user_stop' : null;
  let calls = 0;
  for (let acts = 0; ended === null && acts < MAX_ACTS; acts++) {
    const next = act();
    if ('say' in next) {
      chat.push({ role: 'assistant', content: next.say });
      nodes.push(message(nodes.length, 'assistant', next.say, { content: next.say }));
      if (hear(customer.reply(next.say))) ended = 'user_stop';
      continue;
    }
    const { call } = next;
    chat.push({ role: 'assistant', content: '', tool_calls: [{ type: 'function', function: call }] });
    nodes.push(message(nodes.length, 'assistant', '', { content: '', toolCall: call }));
    const { text, error, changes, written } = runDrafted(retail, rows, call, task.level, calls);
    rows.apply(written);
    chat.push({ role: 'tool', name: call.name, content: text });
    nodes.push(message(nodes.length, 'tool', text, { toolResult: { name: call.name, error, index: calls++, changes, ms: 0 } }));
    if (domain.terminalTools.includes(call.name) && !error) ended = 'terminal_tool';
  }
  const verdict = compareOverlays(rows.changes(), replayGold(retail, world, task));
  return trajectoryOf(task, nodes, ended ?? 'max_turns', { verdict, reward: verdict.reward });
}
