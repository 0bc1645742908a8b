/** @file How hard the tasks of rows are: the pass rates of an agent that has played the same tasks. */

/** The scored trials of each task, by its id, and those with reward 1. */
export type PassRates = ReadonlyMap<string, { trials: number; passed: number }>;

export interface Difficulty {
  /** Who played the tasks. */
  agent: string;
  /** The rows whose task was played with a score. */
  measured: number;
  /** The scored trials of their tasks. */
  trials: number;
  /** The measured rows by the pass rate of their task: from none to all. */
  rows: readonly { rate: string; count: number }[];
}

/** Each group has its upper end. */
const GROUPS = ['0', 'above 0, up to 0.25', 'above 0.25, up to 0.5', 'above 0.5, up to 0.75', 'above 0.75, below 1', '1'];

export function passRates(trials: readonly { task: string; reward: number | null }[]): PassRates {
  const rates = new Map<string, { trials: number; passed: number }>();
  for (const { task, reward } of trials) {
    if (reward === null) continue;
    const { trials: n, passed } = rates.get(task) ?? { trials: 0, passed: 0 };
    rates.set(task, { trials: n + 1, passed: passed + Number(reward === 1) });
  }
  return rates;
}

export function difficultyOf(rows: readonly { id: string }[], agent: string, rates: PassRates): Difficulty {
  const own = rows.flatMap(({ id }) => rates.get(id) ?? []);
  const played = [...new Set(rows.map(({ id }) => id))].flatMap((id) => rates.get(id) ?? []);
  const groups = own.map(({ trials, passed }) => (passed === trials ? GROUPS.length - 1 : Math.ceil((4 * passed) / trials)));
  return {
    agent,
    measured: own.length,
    trials: played.reduce((sum, { trials }) => sum + trials, 0),
    rows: GROUPS.map((rate, i) => ({ rate, count: groups.filter((group) => group === i).length })),
  };
}
