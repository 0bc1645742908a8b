/**
 * @file Restores what happened before the first turn that an episode plays: messages that the task starts with, and the calls
 * and turns of a stored conversation.
 */
import { canonicalJson } from '../base/json.ts';
import { historyFor } from '../environments/history.ts';
import type { Domain } from '../environments/types.ts';
import type { Json } from '../records/json.ts';
import { callsOf } from '../base/message-path.ts';
import type { MessageNode } from '../records/trajectory.ts';
import type { PrefixState } from './prefix.ts';
import type { Transcript } from './transcript.ts';
import type { WorldSide } from './world-side.ts';

/** Appends those messages from the start of the task that the agent has seen. */
export function appendHistory(transcript: Transcript, history: readonly Json[]): void {
  for (const { role, content, calls } of historyFor('assistant', history)) {
    const [call] = calls;
    if (role === 'user') transcript.user(content);
    else if (role === 'tool') transcript.tool(content);
    else
      transcript.agent(content, transcript.rendered(content, calls), {
        content,
        ...(call && { toolCall: { name: call.name, arguments: call.arguments } }),
      });
  }
}

/** The number of answered turns of the agent with calls after the user's last message. */
export function callTurnsOf(nodes: readonly MessageNode[]): number {
  const since = nodes.slice(nodes.findLastIndex(({ role }) => role === 'user') + 1);
  return since.filter((node, i) => callsOf(node).length > 0 && since.slice(i).some(({ role }) => role === 'tool')).length;
}

/** @throws if the world does not promise that a stored conversation can be repeated */
export function checkReplays({ name, promises }: Domain): void {
  if (promises?.replays === false)
    throw new Error(
      `a stored conversation of '${name}' cannot be continued: its world has promises.replays false, expected true (the same calls give the same answers)`,
    );
}

/** @throws if the stored conversation ends after some, but not all, results of a turn */
export function checkWhole({ unanswered }: PrefixState): void {
  if (unanswered > 0)
    throw new Error(
      `the stored conversation cannot be continued: it ends inside a turn of the agent, ${unanswered} of whose calls have no result, expected 0`,
    );
}

/**
 * Makes the calls of a stored conversation again. Also asks the world, at the same places as before, which tools a message of
 * the user adds.
 * @throws if a result differs from the stored one, or if other tools appear
 */
export async function repeat({ calls, asked }: Pick<PrefixState, 'calls' | 'asked'>, world: WorldSide): Promise<void> {
  const left = [...asked];
  const askBefore = async (call: number) => {
    while (left[0] && left[0].before <= call) {
      const { n, tools } = left.shift()!;
      if (canonicalJson(((await world.changes(n)).tools ?? []) as unknown as Json) !== canonicalJson(tools as unknown as Json))
        throw new Error(
          `after message ${n + 1} of the user the stored conversation has other new tools than this world: the task or its tools have changed since`,
        );
    }
  };
  for (const [i, { call, text }] of calls.entries()) {
    await askBefore(i);
    const result = await world.call(call);
    if (result.text !== text)
      throw new Error(
        `tool call ${i + 1} (${call.name}) of the stored conversation has another result in this world: the task or its tools have changed since, or simulated tools answered it`,
      );
  }
  await askBefore(calls.length);
}
