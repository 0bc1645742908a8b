/** @file Reads the results files of tau-bench. */
import { z } from 'zod';
import type { Json } from '../../records/json.ts';
import { check } from '../../exchange/import-error.ts';
import type { RecordedRun, Turn } from '../recorded-conversation.ts';
import { errorText } from '../tau/error-text.ts';

const record = z.record(z.string(), z.unknown());
const spoken = z.looseObject({ role: z.string() });
const resultsFile = z.array(
  z.looseObject({
    task_id: z.union([z.number(), z.string()]),
    reward: z.number().nullish(),
    trial: z.number().optional(),
    info: z
      .looseObject({
        error: z.unknown().optional(),
        task: z
          .looseObject({
            actions: z.array(z.looseObject({ name: z.string(), kwargs: record })),
            outputs: z.array(z.string()).optional(),
            instruction: z.string().optional(),
          })
          .optional(),
        reward_info: z
          .looseObject({
            info: z.looseObject({
              r_actions: z.union([z.number(), z.boolean()]).optional(),
              r_outputs: z.union([z.number(), z.boolean()]).optional(),
            }),
          })
          .nullish(),
      })
      .nullish(),
    traj: z.array(spoken),
  }),
);

/** @throws ImportError that names the file, the path and the reason */
export const readTau1Results = (file: string, value: Json): RecordedRun[] => check<Entry[]>(resultsFile, value, file).map(recordedRun);

interface Message {
  role: string;
  content?: string | null;
  tool_calls?: { function: { name: string; arguments: string } }[] | null;
}
interface Entry {
  task_id: number | string;
  reward?: number | null;
  trial?: number;
  info?: {
    error?: unknown;
    task?: { actions: { name: string; kwargs: Record<string, Json> }[]; outputs?: string[]; instruction?: string };
    reward_info?: { info: Record<string, number | boolean | undefined> } | null;
  } | null;
  traj: Message[];
}

const STOP = '###STOP###';
const TRANSFER = 'transfer_to_human_agents';

function recordedRun({ task_id, reward, trial = 0, info, traj }: Entry): RecordedRun {
  const problems: string[] = [];
  const turns: Turn[] = [];
  traj.forEach((message, i) => {
    // Quirk: tau-bench runs only the first call of a message, and drops the text of a message that has a call.
    const call = message.tool_calls?.[0]?.function;
    if (message.role === 'assistant' && call) {
      const args = argumentsOf(call.arguments);
      const answer = traj[i + 1];
      if (args)
        turns.push({
          kind: 'called',
          call: { name: call.name, arguments: args, ...(answer?.role === 'tool' && { recorded: String(answer.content) }) },
        });
      else problems.push(`traj[${i}]: the arguments of ${call.name} are not a JSON object`);
    } else if (message.role === 'assistant' || message.role === 'user')
      turns.push({ kind: 'said', role: message.role, text: typeof message.content === 'string' ? message.content : '' });
  });
  const last = turns.at(-1);
  const ended =
    last !== undefined && (last.kind === 'called' ? last.call.name === TRANSFER : last.role === 'user' && last.text.includes(STOP));
  const parts = Object.entries(info?.reward_info?.info ?? {}).flatMap(([name, value]): [string, number][] =>
    /^r_/.test(name) ? [[name, Number(value)]] : [],
  );
  const error = errorText(info?.error);
  return {
    task: String(task_id),
    trial,
    conversation: { turns, ended },
    // tau-bench writes the reward 0 for a conversation that failed.
    reward: error === undefined ? (reward ?? null) : null,
    ...(error !== undefined && { error }),
    parts: Object.fromEntries(parts),
    judged: new Map(),
    problems,
    gold: info?.task?.actions.map(({ name, kwargs }) => ({ name, arguments: kwargs })) ?? null,
    instruction: info?.task?.instruction,
    outputs: info?.task?.outputs,
  };
}

function argumentsOf(text: string): Record<string, Json> | null {
  try {
    const value = JSON.parse(text) as Json;
    return value !== null && typeof value === 'object' && !Array.isArray(value) ? value : null;
  } catch {
    return null;
  }
}
