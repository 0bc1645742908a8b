/** @file Turns the recorded results of a benchmark into conversations. */
import type { BenchmarkDefinition } from '../benchmarks/definition.ts';
import type { LoadedBenchmark } from '../benchmarks/imported-benchmark.ts';
import type { RecordedRun } from '../benchmarks/recorded-conversation.ts';
import { inTheirWorld, type RecordedWorld } from '../benchmarks/recorded-world.ts';
import { ImportError } from '../exchange/import-error.ts';
import type { ChatMessage } from '../records/conversation.ts';
import type { Json } from '../records/json.ts';
import type { TerminationReason } from '../records/trajectory.ts';
import type { ReplayedCall } from './foreign-nodes.ts';
import type { ForeignRollout } from './foreign-rollout.ts';

/** Returns the imported data of a benchmark. Empty if none is imported. */
export type LoadWorlds = (benchmark: string) => Promise<readonly LoadedBenchmark[]>;

/** @throws ImportError that names the file, the path and the reason */
export async function readResultRollouts(
  benchmark: BenchmarkDefinition,
  value: Json,
  file: string,
  loadWorlds: LoadWorlds | undefined,
): Promise<{ rollouts: ForeignRollout[]; notes: string[] }> {
  const runs = await benchmark.results!.read(file, value);
  if (runs.length === 0) throw new ImportError(file, '', 'it has no conversations');
  const imports = (await loadWorlds?.(benchmark.name)) ?? [];
  const worlds = await inTheirWorld(benchmark, runs, imports);
  const differing = [...worlds.values()].filter(({ differences }) => differences > 0).length;
  const reworded = [...worlds.values()].filter((own) => own.reworded).length;
  const changed = runs.filter((run) => rescored(run, worlds.get(run))).length;
  return {
    rollouts: runs.map((run) => fromResult(run, worlds.get(run))),
    notes: [
      ...(imports.length > 0 && worlds.size === 0 ? [`no imported data of ${benchmark.title} has the tasks of this file`] : []),
      ...(differing > 0 ? [`in ${differing} of ${runs.length} conversations the imported data answers a call differently`] : []),
      ...(reworded > 0 ? [`the tasks of ${reworded} of ${runs.length} conversations are worded differently in the imported data`] : []),
      ...(changed > 0 ? [`${changed} of ${runs.length} rewards differ when they are computed again (column rescored_reward)`] : []),
    ],
  };
}

const rescored = ({ reward }: RecordedRun, world: RecordedWorld | undefined) =>
  world !== undefined && world.reward !== null && reward !== null && world.reward !== reward;

/** tau2-bench's names for endings that we have too. */
const ENDINGS: Record<string, TerminationReason> = { user_stop: 'user_stop', max_steps: 'max_turns', user_error: 'user_error' };

/** Turns a recorded run of a benchmark into a rollout. The assistant's calls become messages. The user's calls become `userCalls`. */
function fromResult(run: RecordedRun, world: RecordedWorld | undefined): ForeignRollout {
  const { task, trial, conversation, reward, parts, gold, ending, error } = run;
  const messages: ChatMessage[] = world ? [{ role: 'system', content: world.policy }] : [];
  const calls = new Map<ChatMessage, ReplayedCall>();
  let index = 0;
  const failed = new Set<ChatMessage>();
  const userCalls: NonNullable<ForeignRollout['userCalls']>[number][] = [];
  for (const turn of conversation.turns) {
    if (turn.kind === 'said') {
      messages.push({ role: turn.role, content: turn.text });
      continue;
    }
    const replayed = world && { index, changes: world.changes[index]! };
    index += 1;
    const { name, arguments: args, requestor = 'assistant', recorded, failed: isError = false } = turn.call;
    if (requestor === 'user') {
      userCalls.push({
        after: messages.length,
        call: { name, arguments: args as Record<string, Json>, requestor },
        text: recorded ?? '',
        error: isError,
        ...replayed,
      });
      continue;
    }
    messages.push({ role: 'assistant', content: '', tool_calls: [{ type: 'function', function: { name, arguments: args } }] });
    if (recorded === undefined) continue;
    const result: ChatMessage = { role: 'tool', content: recorded, name };
    messages.push(result);
    if (replayed) calls.set(result, replayed);
    if (isError) failed.add(result);
  }
  return {
    task,
    group: task,
    index: trial,
    messages: messages.length > 0 ? messages : [{ role: 'system', content: '' }],
    userCalls,
    failed,
    reward,
    columns: { ...parts, ...(world && world.reward !== null && { rescored_reward: world.reward }) },
    termination: error === undefined ? (ENDINGS[ending ?? ''] ?? 'unknown') : 'aborted',
    ...(ending !== undefined && { ending }),
    ...(error !== undefined && { error }),
    ...(gold && { gold }),
    ...(world && { world: { task: world.task, verdict: world.verdict, calls } }),
  };
}
