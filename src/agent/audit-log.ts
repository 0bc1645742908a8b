/**
 * @file The audit log of an episode: a hash chain over its tool calls, including those of the customer. A hash covers the
 * caller, the call, the result, the changed rows and the previous hash. The first one covers the task and the version of the
 * weights instead of a previous hash. So the log shows the first call that was changed, removed or moved. The trajectory
 * stores the data, and the log stores only the hashes.
 */
import { answersOf, path } from '../base/message-path.ts';
import { canonicalJson } from '../base/json.ts';
import { sha256 } from '../base/sha256.ts';
import type { RowChange, Task, ToolCall } from '../records/task.ts';
import type { Trajectory } from '../records/trajectory.ts';

/** A tool call that was answered. */
interface Answered {
  /** The number of the call in the environment's order, from 0. */
  index: number;
  call: ToolCall;
  text: string;
  error: boolean;
  changes: readonly RowChange[];
}

export class AuditChain {
  readonly log: NonNullable<Trajectory['audit']>;
  #previous: string;

  constructor({ id, world }: Pick<Task, 'id' | 'world'>, weights: string) {
    this.log = { policy: weights, hashes: [] };
    this.#previous = sha256(canonicalJson({ task: id, world, policy: weights }));
  }

  add({ index, call, text, error, changes }: Answered): void {
    const { name, arguments: args, requestor = 'assistant' } = call;
    const entry = { index, requestor, name, arguments: args, result: sha256(text), error, changes, previous: this.#previous };
    this.#previous = sha256(canonicalJson(entry));
    this.log.hashes.push(this.#previous);
  }
}

/** The calls of a conversation, in the environment's order. */
function answeredCalls({ nodes, leaf, userCalls = [] }: Pick<Trajectory, 'nodes' | 'leaf' | 'userCalls'>): Answered[] {
  const calls: Answered[] = userCalls.map(({ index, call, text, error, changes }) => ({ index, call, text, error, changes }));
  for (const { call, text, result } of answersOf(path({ nodes, leaf })).values()) calls.push({ call, text, ...result });
  return calls.sort((a, b) => a.index - b.index);
}

/** Describes the first call at which the conversation differs from its log. Null if they agree, or if there is no log. */
export function auditProblem(trajectory: Pick<Trajectory, 'task' | 'nodes' | 'leaf' | 'userCalls' | 'audit'>): string | null {
  const { task, audit } = trajectory;
  if (!audit) return null;
  const calls = answeredCalls(trajectory);
  const chain = new AuditChain(task, audit.policy);
  for (const [i, answered] of calls.entries()) {
    const named = `call ${i + 1} (${answered.call.name})`;
    if (answered.index !== i) return `${named} has the number ${answered.index + 1}: a call was left out, added or moved`;
    chain.add(answered);
    const stored = audit.hashes[i];
    if (stored === undefined) return `${named} is not in the log of ${audit.hashes.length} calls`;
    if (stored !== chain.log.hashes[i]) return `${named} is not as the log has it: the call, its result or its changed rows were changed`;
  }
  return audit.hashes.length > calls.length ? `the log has ${audit.hashes.length} calls, the conversation has ${calls.length}` : null;
}
