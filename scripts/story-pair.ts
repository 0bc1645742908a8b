/** @file Chooses conversations of a run with timeouts that show both skills: a yes before each write, and a call after each timeout. */
import { resultOf } from '../src/evaluation/trial-result.ts';
import type { Trajectory } from '../src/records/trajectory.ts';

/** The skills that a conversation shows. Null: it did not need the skill. */
interface Skills {
  asks: boolean | null;
  callsAgain: boolean | null;
}

/** Whether the agent asked before each write, and called again after each timeout. */
export function skillsOf(trajectory: Trajectory): Skills {
  const { violations, writes, timeouts } = resultOf(trajectory);
  return {
    asks: writes === 0 ? null : !violations.includes('unconfirmed_write'),
    callsAgain: timeouts ? timeouts.again === timeouts.met : null,
  };
}

const showsBoth = (trajectory: Trajectory) => {
  const { asks, callsAgain } = skillsOf(trajectory);
  return asks === true && callsAgain === true;
};

/** True for a group in which exactly the correct rollouts show both skills, and in which each skill alone failed. */
export function joinsSkills(group: readonly Trajectory[]): boolean {
  const wrong = group.filter(({ reward }) => reward === 0).map(skillsOf);
  return (
    wrong.length < group.length &&
    group.every((trajectory) => showsBoth(trajectory) === (trajectory.reward === 1)) &&
    wrong.some(({ asks, callsAgain }) => asks !== false && callsAgain === false) &&
    wrong.some(({ asks, callsAgain }) => asks === false && callsAgain === true)
  );
}

/**
 * The shortest pair of conversations with one customer that shows what training changed. Before it, the agent claims success after a
 * timeout, and fails. After it, the agent asks, calls again after each timeout, breaks no rule, and succeeds. Null if no pair is like this.
 */
export function storyPair(before: readonly Trajectory[], after: readonly Trajectory[]): [Trajectory, Trajectory] | null {
  const later = new Map(after.map((trial) => [trial.task.id, trial]));
  const pairs = before.flatMap((first): [Trajectory, Trajectory][] => {
    const second = later.get(first.task.id);
    const told = second && first.reward === 0 && skillsOf(first).callsAgain === false;
    return told && second.reward === 1 && second.violations.length === 0 && showsBoth(second) ? [[first, second]] : [];
  });
  const length = (pair: readonly Trajectory[]) => pair.reduce((sum, { nodes }) => sum + nodes.length, 0);
  return pairs.sort((a, b) => length(a) - length(b))[0] ?? null;
}
