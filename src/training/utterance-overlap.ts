/** @file How new the customers of an evaluation are: the share of their utterances that occur in training. A figure of the task generator. */
import { mapConcurrently } from '../agent/rollouts.ts';
import { customerScripts, levelConditions, taskSplits } from '../domains/registry.ts';
import { evaluationTasks } from '../environments/task-order.ts';
import type { Environments } from '../environments/types.ts';
import type { Overlap } from '../records/evaluation.ts';
import type { Split } from '../records/task.ts';
import type { MessageNode } from '../records/trajectory.ts';
import { hash32 } from '../base/random.ts';
import { ScriptedUsers } from '../users/scripted.ts';
import { demonstrators } from './synthesize.ts';

/** The number of conversations of training, and of tasks of the other split, that are compared by default. */
export const COMPARED = { train: 2000, test: 200 };

/**
 * An utterance without what differs in each world: an e-mail address becomes `<email>`, and a word with a digit becomes `<id>`.
 * Names and products stay, because a split can have its own.
 */
export const masked = (utterance: string): string =>
  utterance
    .trim()
    .replace(/[\w.+-]+@[\w-]+(?:\.[\w-]+)+/g, '<email>')
    .replace(/[\w#-]*\d[\w-]*/g, '<id>');

/** Counts the test utterances that occur in training. Ids are masked in both. */
export function overlapOf(train: Iterable<string>, test: readonly string[]): Overlap {
  const known = new Set([...train].map(masked));
  return { seen: test.filter((utterance) => known.has(masked(utterance))).length, of: test.length };
}

/** What the customer says in a conversation, message by message. */
export const utterancesOf = (nodes: readonly MessageNode[]): string[] =>
  nodes.flatMap(({ role, content, text }) => (role === 'user' ? [content ?? text] : []));

export interface OverlapOptions {
  domain: string;
  level: string;
  seed: number;
}

/** What scripted customers say to the demonstrators in the first `count` tasks of a split, with the conditions of the level. */
export async function spoken(
  environments: Environments,
  { domain, level, seed }: OverlapOptions,
  split: Split,
  count: number,
  onDone: (done: number, total: number, label: string) => void = () => {},
): Promise<string[]> {
  onDone(0, count, `conversations of ${split}`);
  const query = { domain, level, split, seed, count, conditions: levelConditions(domain, level) };
  const tasks = await evaluationTasks({ domain: await environments.domain(domain, level), environments }, query);
  const play = await demonstrators({ environments, users: new ScriptedUsers(customerScripts) }, domain, level);
  const said: string[][] = [];
  let done = 0;
  await mapConcurrently(tasks, 16, async (task, i) => {
    said[i] = utterancesOf((await play(task, hash32(seed, i))).trajectory.nodes);
    onDone(++done, tasks.length, `conversations of ${split}`);
  });
  return said.flat();
}

/** Compares the first `test` customers of each other split with `train` conversations of training. */
export async function splitOverlaps(
  environments: Environments,
  { train, test, ...place }: OverlapOptions & { train: number; test: number },
  onDone?: (done: number, total: number, label: string) => void,
): Promise<Partial<Record<Split, Overlap>>> {
  const known = await spoken(environments, place, 'train', train, onDone);
  const overlaps: Partial<Record<Split, Overlap>> = {};
  for (const split of taskSplits(place.domain, place.level))
    if (split !== 'train') overlaps[split] = overlapOf(known, await spoken(environments, place, split, test, onDone));
  return overlaps;
}
