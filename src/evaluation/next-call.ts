/**
 * @file Measures a model's next call after the right conversation. Where success is all or nothing, a small model fails almost every task,
 * and this share still differs between models.
 */
import { collectRollouts, NothingScoredError, type Stage } from '../agent/rollouts.ts';
import { type NextCall, teacher } from '../agent/teacher.ts';
import { groupBy } from '../base/group-by.ts';
import { domainOf, teaches } from '../domains/registry.ts';
import type { NextCallReport } from '../records/evaluation.ts';
import type { Task, ToolCall } from '../records/task.ts';
import type { Trajectory } from '../records/trajectory.ts';
import { usageOf } from '../users/account.ts';
import type { EvaluationPlan } from './evaluate.ts';
import { shareInterval } from './intervals.ts';
import { customerOf, intentOf } from './trial-result.ts';

/** The right calls after each message of the user. */
export type GoldTurns = (task: Task) => readonly (readonly ToolCall[])[];

/** Whether the right conversation of a task is known: the user is a script, and calls of the domain can be compared. */
export const isTaught = ({ domain, scenario }: Pick<Task, 'domain' | 'scenario'>): boolean => scenario.scripted === true && teaches(domain);

type Plan = Pick<EvaluationPlan, 'tasks' | 'limits' | 'sampling' | 'seed' | 'firstStream' | 'concurrency' | 'maxRetries' | 'signal'> & {
  gold: GoldTurns;
};

/**
 * Asks the model once before each right call of each task. The right call is then made. Tasks of which the right conversation is not known
 * are left out. Undefined if no task is left.
 */
export async function nextCalls(stage: Stage, { gold, tasks: given, ...plan }: Plan): Promise<NextCallReport | undefined> {
  const tasks = given.filter(isTaught);
  const same = await domainOf(stage.domain.name)?.sameCall?.();
  if (tasks.length === 0 || !same) return undefined;
  const heard = new Map<string, NextCall[]>();
  const ended: Trajectory[] = [];
  // A right turn may have more calls than the limit of a benchmark, which counts messages.
  await collectRollouts(
    { ...stage, rules: { ...stage.rules, callTurns: Infinity } },
    {
      ...plan,
      tasks,
      n: 1,
      newCustomers: true,
      label: 'next-call',
      player: (_, task) => {
        const own: NextCall[] = [];
        heard.set(task.id, own);
        return teacher(gold(task), (next) => own.push(next));
      },
      onDone: (trajectory) => ended.push(trajectory),
    },
  ).catch((error: unknown) => {
    if (!(error instanceof NothingScoredError)) throw error;
  });
  const rows = ended
    .filter(({ reward }) => reward !== null)
    .map(({ task }) => {
      const own = heard.get(task.id)!;
      return {
        task,
        customer: customerOf(task),
        right: own.filter(({ right, made }) => made !== null && same(made, right)).length,
        read: own.length,
        of: gold(task).flat().length,
      };
    });
  const total = (of: readonly (typeof rows)[number][], name: 'right' | 'read' | 'of') => of.reduce((sum, row) => sum + row[name], 0);
  const clusters = [...groupBy(rows, ({ customer }) => customer).values()].map((own) => ({
    sum: total(own, 'right'),
    of: total(own, 'of'),
  }));
  const agent = usageOf(ended.flatMap(({ agentRequests = [] }) => agentRequests));
  return {
    ...(shareInterval(clusters) ?? { value: 0, low: 0, high: 1 }),
    right: total(rows, 'right'),
    of: total(rows, 'of'),
    unread: total(rows, 'of') - total(rows, 'read'),
    unscored: ended.length - rows.length,
    by_intent: Object.fromEntries(
      [...groupBy(rows, ({ task }) => intentOf(task))].map(([intent, own]) => [
        intent,
        { right: total(own, 'right'), of: total(own, 'of') },
      ]),
    ),
    ...(agent && { agent }),
  };
}
