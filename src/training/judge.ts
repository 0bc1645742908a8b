/**
 * @file A judge compares the answers of a group in pairs. The value of an answer is the mean of its scores against all other
 * answers: 1 for a win, ½ for a tie, 0 for a loss. Each two answers are compared, so Bradley-Terry strengths would rank them in
 * the same order.
 */
import { mapConcurrently, type Rollouts } from '../agent/rollouts.ts';
import { isProper } from '../agent/rules.ts';
import { path } from '../base/message-path.ts';
import { hash32 } from '../base/random.ts';
import { wishOf } from '../domains/registry.ts';
import { mean } from '../evaluation/pass-hat.ts';
import type { Judged } from '../records/rewards.ts';
import type { GrpoConfig } from '../records/run.ts';
import type { Trajectory } from '../records/trajectory.ts';
import { compareAnswers } from '../users/compare.ts';
import type { UserSimulator } from '../users/types.ts';

export interface Judge {
  /** The server and the model, for messages. */
  name: string;
  /** The answer of the model before step 1 to each prompt, null if it is not complete. Empty if it takes no part. */
  originals: ReadonlyMap<string, string | null>;
}

/** The largest number of questions about a group that wait for the judge at once. */
const CONCURRENCY = 8;

/** The agent's answer in a conversation of one turn. Null if it is empty or a limit cut it. */
export function answerOf(trajectory: Pick<Trajectory, 'nodes' | 'leaf' | 'termination'>): string | null {
  if (!isProper(trajectory.termination)) return null;
  const said = path(trajectory)
    .findLast(({ role }) => role === 'assistant')
    ?.content?.trim();
  return said ? said : null;
}

type Settings = Pick<GrpoConfig, 'domain' | 'level' | 'judge.wish' | 'judge.original' | 'judge.orders'>;

/**
 * Compares the answers of each group and stores the comparisons in the trajectories. If the judge fails in a group, the whole
 * group is moved to `dropped`, without a reward and with an error. Such a group never gets reward 0.
 * @throws the signal's reason if aborted
 */
export async function judgeGroups(
  { groups, dropped }: Pick<Rollouts, 'groups' | 'dropped'>,
  users: UserSimulator,
  judge: Judge,
  settings: Settings,
  signal?: AbortSignal,
): Promise<Pick<Rollouts, 'groups' | 'dropped'> & { unjudged: number }> {
  const failed: Trajectory[][] = [];
  const judged = await Promise.all(
    groups.map(async (group): Promise<Trajectory[]> => {
      if (group.length === 0) return group;
      try {
        const compared = await compareGroup(group, users, judge, settings, signal);
        group.forEach((trajectory, i) => (trajectory.judged = compared[i]!));
        return group;
      } catch (error) {
        signal?.throwIfAborted();
        const message = `the judge ${judge.name} failed, so the group is dropped: ${error instanceof Error ? error.message : String(error)}`;
        failed.push(group);
        for (const trajectory of group) Object.assign(trajectory, { reward: null, error: message });
        return [];
      }
    }),
  );
  return { groups: judged, dropped: [...dropped, ...failed.flat()], unjudged: failed.length };
}

async function compareGroup(
  group: readonly Trajectory[],
  users: UserSimulator,
  { name, originals }: Judge,
  settings: Settings,
  signal?: AbortSignal,
): Promise<Judged[]> {
  const { instruction: prompt } = group[0]!.task.scenario;
  const original = settings['judge.original'] ? originals.get(prompt) : undefined;
  if (settings['judge.original'] && original === undefined) throw new Error(`the original answer to "${prompt}" is missing`);
  const wish = settings['judge.wish'] || wishOf(settings.domain, settings.level)!;
  const answers = [...group.map(answerOf), ...(original === undefined ? [] : [original])];
  if (answers.length < 2) throw new Error('it has only one answer: expected two to compare');

  const pairs = answers.flatMap((_, a) => answers.slice(a + 1).map((_, i) => ({ a, b: a + 1 + i, verdicts: [] as Verdict[] })));
  const questions = pairs.flatMap((pair) =>
    isAsked(answers[pair.a]!, answers[pair.b]!) ? ordersOf(pair, settings, group[0]!).map((first) => ({ pair, first })) : [],
  );
  // After the first failure, the answers to the other questions are of no use.
  const stop = new AbortController();
  const either = signal ? AbortSignal.any([signal, stop.signal]) : stop.signal;
  try {
    await mapConcurrently(questions, CONCURRENCY, async ({ pair, first }) => {
      const [one, two] = [answers[pair.a]!, answers[pair.b]!];
      const better = await compareAnswers(users, { wish, prompt, answers: first ? [one, two] : [two, one] }, either);
      pair.verdicts.push({ first, score: better === 'tie' ? 1 / 2 : Number(better === (first ? 0 : 1)) });
    });
  } finally {
    stop.abort();
  }
  return group.map((_, i) => {
    const comparisons = pairs.flatMap(({ a, b, verdicts }): Judged['comparisons'] => {
      if (a !== i && b !== i) return [];
      const score = verdicts.length > 0 ? mean(verdicts.map((verdict) => verdict.score)) : unasked(answers[a]!, answers[b]!);
      const sorted = verdicts.toSorted((one, two) => Number(two.first) - Number(one.first));
      const other = a === i ? b : a;
      return [
        {
          with: group[other]?.index ?? null,
          ...(a === i ? { score, verdicts: sorted } : { score: 1 - score, verdicts: sorted.map(mirrored).reverse() }),
        },
      ];
    });
    return {
      judge: name,
      wish,
      ...(typeof original === 'string' && { original }),
      value: mean(comparisons.map(({ score }) => score)),
      comparisons,
    };
  });
}

type Verdict = Judged['comparisons'][number]['verdicts'][number];

const mirrored = ({ first, score }: Verdict): Verdict => ({ first: !first, score: 1 - score });

/** Equal answers tie, and a complete answer wins against one that is not complete. The judge is not asked about such pairs. */
const isAsked = (a: string | null, b: string | null): boolean => a !== null && b !== null && a !== b;
const unasked = (a: string | null, b: string | null): number => (a === b ? 1 / 2 : Number(a !== null));

/** For each question about a pair: whether the answer `a` comes first. */
function ordersOf({ a, b }: { a: number; b: number }, settings: Settings, { seed, userSeed = seed }: Trajectory): boolean[] {
  return settings['judge.orders'] === 'both' ? [true, false] : [hash32(userSeed, a, b) % 2 === 0];
}
