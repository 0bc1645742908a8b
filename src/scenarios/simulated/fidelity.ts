/** @file Compares an answerer with the code of the same scenario, call by call from the same rows. */
import { equalJson } from '../../base/json.ts';
import { wilson } from '../../base/wilson.ts';
import { Overlay, World } from '../../environments/overlay.ts';
import { isSimulatorFault } from '../../environments/simulator-fault.ts';
import type { NoiseKind } from '../../records/answerer.ts';
import type { Json } from '../../records/json.ts';
import type { Task, ToolCall } from '../../records/task.ts';
import { toolOf } from '../execute.ts';
import { peopleOf } from '../people/told.ts';
import type { ReadScenario } from '../read.ts';
import { tableDomain } from '../table-domain.ts';
import { codeProposal } from './code.ts';
import { callKey, plainCall } from './domain.ts';
import { applied, textOf } from './proposal.ts';
import type { Simulator } from './simulator.ts';
import { ANSWER_CHECKS, type AnswerCheck, type Asked, type Proposal } from './types.ts';

/** A share with its 95 % interval (Wilson). Null without cases. */
export type Counted = { count: number; of: number; interval: { low: number; high: number } | null };

export interface FidelityRow {
  /** The number of rows that the code changes; 3 stands for three or more. */
  changed: 0 | 1 | 2 | 3;
  /** The first proposals whose text is that of the code, and whose rows are. */
  text: Counted;
  rows: Counted;
  /** The same for the proposals that all checks accept. */
  accepted: { text: Counted; rows: Counted };
}

export interface FidelityReport {
  calls: number;
  /** The calls without a proposal, because the answerer failed. They count as different from the code. */
  failed: number;
  table: FidelityRow[];
  /** The first proposals that differ from the code, in text or rows, that some check finds. */
  found: Counted;
  /** The first proposals that do not differ, but that some check refuses. */
  false_alarms: Counted;
  /** For each check, how many of the proposals that differ it finds. */
  by_check: Record<AnswerCheck, Counted>;
  /** For each kind of noise, how many of its contradictions are found. Empty without noise. */
  by_kind: Partial<Record<NoiseKind, Counted>>;
}

interface Compared {
  changed: number;
  sameText: boolean;
  sameRows: boolean;
  refusedBy: readonly AnswerCheck[];
  injected?: NoiseKind | undefined;
  /** Why the answerer gave no proposal. */
  failure?: string;
}

/** If so many answers fail one after another, the answerer does not work. */
const MOST_FAILURES = 8;
const GROUPS = [0, 1, 2, 3] as const;

/**
 * Plays the calls of tasks: the reads of the plan twice, the calls that tempt, and the right writes. The rows are always those of the code.
 * @param tasks the number of tasks
 * @throws SimulatorFault if so many answers fail in a row that the answerer does not work, or if its budget is spent
 */
export async function fidelity(
  own: ReadScenario,
  simulator: Simulator,
  { level, tasks: count, seed }: { level: string; tasks: number; seed: number },
  onProgress?: (done: number) => Promise<void> | void,
): Promise<FidelityReport> {
  const code = tableDomain(own);
  const tasks = await code.tasks({ domain: code.name, level, split: 'train', seed, count });
  const all: Compared[] = [];
  for (const [i, task] of tasks.entries()) {
    await playTask(own, simulator, task, new World(task.world, await code.world(task.world)), all);
    await onProgress?.(i + 1);
  }
  return reportOf(all);
}

async function playTask(own: ReadScenario, simulator: Simulator, task: Task, world: World, all: Compared[]): Promise<void> {
  const { level } = task;
  const people = peopleOf(task.scenario)!;
  const rows = new Overlay(world);
  const history: { call: ToolCall; text: string }[] = [];
  const given = new Map<string, Proposal>();
  /** @param stays whether the call is only tried, so that the rows stay */
  const play = async (made: { name: string; arguments: ToolCall['arguments'] }, stays: boolean) => {
    const call = plainCall(made);
    const tool = toolOf(own, call, level);
    if (typeof tool === 'string') return;
    const key = callKey(own, rows, task.world, call);
    const right = codeProposal({ own, tool, call, rows });
    const earlier = given.get(key);
    const asked: Asked = {
      own,
      level,
      tool,
      call,
      task,
      rows,
      key,
      history: [...history],
      attempt: 0,
      findings: [],
      ...(earlier && { earlier }),
    };
    const tried = await simulator.try(asked).catch((cause: unknown) => failureOf(cause, all));
    const after = applied(own.scenario, rows, right);
    const changes = (overlay: Overlay) => overlay.changes().map(({ table, key: id, after: value }) => [table, id, value]) as Json;
    const changed = after.changes().length;
    if (typeof tried === 'string') all.push({ changed, sameText: false, sameRows: false, refusedBy: [], failure: tried });
    else {
      const { proposal, findings, answer } = tried;
      all.push({
        changed,
        sameText: proposal !== null && textOf(proposal) === textOf(right),
        sameRows: proposal !== null && equalJson(changes(applied(own.scenario, rows, proposal)), changes(after)),
        refusedBy: [...new Set(findings.map(({ check }) => check))],
        injected: answer.injected,
      });
    }
    given.set(key, right);
    if (stays) return;
    rows.apply(after.written());
    history.push({ call, text: textOf(right) });
  };
  for (const call of [...people.reads, ...people.reads]) await play(call as ToolCall, false);
  for (const { name, arguments: args } of people.tempts) await play({ name, arguments: args as ToolCall['arguments'] }, true);
  for (const call of task.actions) await play(call, false);
}

/** Why the answerer failed. @throws the error if the answerer does not work */
function failureOf(cause: unknown, all: readonly Compared[]): string {
  if (!isSimulatorFault(cause) || cause.final || all.slice(1 - MOST_FAILURES).filter(({ failure }) => failure).length === MOST_FAILURES - 1)
    throw cause;
  return cause.message;
}

const counted = (all: readonly Compared[], is: (one: Compared) => boolean): Counted => {
  const count = all.filter(is).length;
  return { count, of: all.length, interval: wilson(count, all.length) };
};

function reportOf(all: readonly Compared[]): FidelityReport {
  const differ = all.filter(({ sameText, sameRows, failure }) => !(sameText && sameRows) && failure === undefined);
  const alike = all.filter(({ sameText, sameRows }) => sameText && sameRows);
  const isFound = ({ refusedBy }: Compared) => refusedBy.length > 0;
  const kinds = [...new Set(all.flatMap(({ injected }) => injected ?? []))].sort();
  return {
    calls: all.length,
    failed: all.filter(({ failure }) => failure !== undefined).length,
    table: GROUPS.map((changed) => {
      const group = all.filter((one) => Math.min(one.changed, 3) === changed);
      const accepted = group.filter((one) => !isFound(one) && one.failure === undefined);
      const text = (one: Compared) => one.sameText;
      const rows = (one: Compared) => one.sameRows;
      return {
        changed,
        text: counted(group, text),
        rows: counted(group, rows),
        accepted: { text: counted(accepted, text), rows: counted(accepted, rows) },
      };
    }),
    found: counted(differ, isFound),
    false_alarms: counted(alike, isFound),
    by_check: Object.fromEntries(
      Object.keys(ANSWER_CHECKS).map((check) => [check, counted(differ, ({ refusedBy }) => refusedBy.includes(check as AnswerCheck))]),
    ) as Record<AnswerCheck, Counted>,
    by_kind: Object.fromEntries(
      kinds.map((kind) => [
        kind,
        counted(
          all.filter(({ injected }) => injected === kind),
          isFound,
        ),
      ]),
    ),
  };
}
