/** @file Asks a candidate for its own turn at each recorded turn. Nothing that it writes is executed, except reads on a snapshot. */
import type { AuditRules } from '../../agent/audit-rules.ts';
import type { AgentSession, StartAgent } from '../../agent/server/agents.ts';
import type { AuditEvent } from '../../agent/violations.ts';
import { callFields } from '../../base/message-path.ts';
import type { ToolResult } from '../../environments/types.ts';
import type { ShadowAct, ShadowTurn } from '../../records/shadow.ts';
import { foreignTask, type ToolCall, type ToolSchema } from '../../records/task.ts';
import type { MessageNode } from '../../records/trajectory.ts';
import { UserError } from '../../users/types.ts';
import { compareActs, writesOf } from './compare.ts';
import { type RecordedConversation, type RecordedTurn, recordedTurns } from './turns.ts';

/** The world as it was at one place of a conversation. */
export interface Snapshot {
  /** Makes a call and drops what it changes. */
  read(call: ToolCall): Promise<ToolResult>;
  close(): Promise<void>;
}

export interface ShadowOptions {
  agents: StartAgent;
  rules: AuditRules;
  /** The candidate's tools where a conversation names none. */
  tools: readonly ToolSchema[];
  temperature: number;
  seed: number;
  /** How many turns are asked for at once. */
  atOnce: number;
  /** Whether the turn at this message was answered before. */
  isDone(conversation: RecordedConversation, message: number): boolean;
  /** The world before a turn. Null: it is not known, so the candidate's first act counts. Absent: no world is known. */
  snapshot?: (conversation: RecordedConversation, turn: RecordedTurn) => Promise<Snapshot | null>;
  /** Whether a call only reads. */
  isRead(call: ToolCall): boolean;
  onTurn(turn: ShadowTurn): Promise<void>;
}

/** How many reads a candidate may make before its act. */
const MOST_READS = 10;
/** Failures after which every other turn would fail too. */
const FATAL: readonly UserError['kind'][] = ['auth', 'budget', 'aborted'];

/**
 * Each turn is given to `onTurn` as soon as it is answered.
 * @returns why the work ended before the last turn, such as a budget that is spent; null if every turn was asked for
 * @throws UserError (`auth`) if the server refuses the key
 */
export async function askAll(conversations: readonly RecordedConversation[], options: ShadowOptions): Promise<string | null> {
  const turns = openTurns(conversations, options);
  let stop: UserError | null = null;
  let fault: { error: unknown } | null = null;
  const work = async () => {
    for (const { conversation, turn, stream } of turns) {
      if (stop || fault) return;
      try {
        await options.onTurn(await askOnce(conversation, turn, stream, options));
      } catch (error) {
        if (error instanceof UserError && error.kind !== 'auth') stop ??= error;
        else fault ??= { error };
      }
    }
  };
  await Promise.all(Array.from({ length: options.atOnce }, work));
  if (fault) throw (fault as { error: unknown }).error;
  return (stop as UserError | null)?.message ?? null;
}

/** The turns that were not answered before. `stream` is the place of the turn among all turns. */
export function* openTurns(conversations: readonly RecordedConversation[], { isDone }: Pick<ShadowOptions, 'isDone'>) {
  let stream = 0;
  for (const conversation of conversations)
    for (const turn of recordedTurns(conversation)) {
      stream += 1;
      if (!isDone(conversation, turn.message)) yield { conversation, turn, stream };
    }
}

async function askOnce(
  conversation: RecordedConversation,
  turn: RecordedTurn,
  stream: number,
  { agents, rules, tools: known, temperature, seed, snapshot, isRead }: ShadowOptions,
): Promise<ShadowTurn> {
  const tools = conversation.tools ?? known;
  const session = agents({
    task: foreignTask(String(conversation.id)),
    rules: { callsPerTurn: Infinity },
    toolNames: null,
    tools,
    temperature,
    seed,
    stream,
  });
  const world = (await snapshot?.(conversation, turn)) ?? null;
  try {
    const { candidate, reads, events } = await actOf(session, turn, world, isRead);
    const scored = scoredTurn(conversation, { ...turn, events }, candidate, { rules, tools });
    return { ...scored, ...(reads.length > 0 && { reads }), requests: [...session.requests] };
  } catch (error) {
    if (!(error instanceof UserError) || FATAL.includes(error.kind)) throw error;
    return {
      ...turnPlace(conversation, turn),
      kind: 'failed',
      candidate: null,
      writes: [],
      requests: [...session.requests],
      error: error.message,
    };
  } finally {
    await world?.close();
  }
}

export const turnPlace = ({ id }: RecordedConversation, { message, act: recorded }: RecordedTurn) => ({
  conversation: id,
  message,
  recorded,
});

/** The candidate's act beside the recorded one. */
export const scoredTurn = (
  conversation: RecordedConversation,
  turn: RecordedTurn,
  candidate: ShadowAct,
  { rules, tools }: Pick<ShadowOptions, 'rules' | 'tools'>,
): ShadowTurn => ({
  ...turnPlace(conversation, turn),
  ...compareActs(turn.act, candidate),
  candidate,
  writes: writesOf(candidate, turn.events, rules, conversation.tools ?? tools),
  requests: [],
});

/** The candidate's act, after the reads that it made on the snapshot. Only a read that the recorded agent did not make is followed. */
async function actOf(session: AgentSession, { heard, events, act }: RecordedTurn, world: Snapshot | null, isRead: ShadowOptions['isRead']) {
  const nodes = [...heard];
  const reads: ToolCall[] = [];
  const known: AuditEvent[] = [...events];
  for (;;) {
    const { turn } = await session.turn(nodes);
    const candidate: ShadowAct = { content: turn.content, calls: turn.calls, ...(turn.error !== undefined && { error: turn.error }) };
    const reading = turn.error === undefined && turn.calls.length > 0 && turn.calls.every(isRead);
    if (!world || !reading || reads.length + turn.calls.length > MOST_READS || compareActs(act, candidate).kind === 'same_call')
      return { candidate, reads, events: known };
    nodes.push(nodeOf(nodes.length, 'assistant', turn.text, { content: turn.content, ...callFields(turn.calls) }));
    for (const call of turn.calls) {
      const result = await world.read(call);
      reads.push(call);
      known.push({ kind: 'tool', call, result });
      nodes.push(nodeOf(nodes.length, 'tool', result.text, { toolResult: { ...result, name: call.name, ms: 0 } }));
    }
  }
}

const nodeOf = (id: number, role: MessageNode['role'], text: string, more: Partial<MessageNode>): MessageNode => ({
  id,
  parent: id - 1,
  role,
  text,
  tokens: [],
  mask: [],
  logprobs: [],
  ...more,
});
