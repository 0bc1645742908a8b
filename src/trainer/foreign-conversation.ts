/** @file Applies what the visitor says of an imported run to its conversations. */
import type { ForeignRun } from '../records/foreign.ts';
import type { RolloutSummary } from '../records/rollout.ts';
import type { Trajectory } from '../records/trajectory.ts';
import { readSuccessRule, ruleText, succeeded, suggestedRule, type SuccessRule, valuesOf } from './success-rule.ts';

/** What a visitor may say of conversations. */
export interface ForeignWords {
  /** A rule such as `reward>=1`. Null: none. Absent: the rule that the file suggests. */
  success?: string | null;
  /** The tools that change data. Absent: not known. */
  writes?: readonly string[] | undefined;
}

const namesOf = (conversations: readonly Trajectory[]) => new Set(conversations.flatMap((own) => [...valuesOf(own).keys()]));

function ruleOf(conversations: readonly Trajectory[], success: ForeignWords['success']): SuccessRule | null {
  if (success === undefined) return suggestedRule(conversations);
  return success === null ? null : readSuccessRule(success, namesOf(conversations));
}

/**
 * The conversations with their outcome by the rule, and with the tools that write. Conversations of our own keep their outcome.
 * @throws InputError if the rule cannot be read
 */
export function sayForeign(
  conversations: readonly Trajectory[],
  { success, writes }: ForeignWords,
): { conversations: Trajectory[]; said: ForeignRun } {
  const foreign = conversations.filter((own) => own.foreign);
  const rule = ruleOf(foreign, success);
  const tools = writes && [...writes].sort();
  return {
    conversations: conversations.map((own) => {
      if (!own.foreign) return own;
      const { writes: _, ...facts } = own.foreign;
      const isSuccess = succeeded(rule, own);
      return { ...own, reward: isSuccess === null ? null : Number(isSuccess), foreign: { ...facts, ...(tools && { writes: tools }) } };
    }),
    said: { ...(rule && { success: ruleText(rule) }), ...(tools && { writes: tools }) },
  };
}

/** What a visitor can be asked about conversations of another tool. */
export interface ForeignOptions {
  /** The names that a rule of success can have, those with numbers first. */
  names: string[];
  /** The tools that the agent called. */
  tools: string[];
}

type Facts = Pick<RolloutSummary, 'rewards' | 'foreign' | 'tools'>;

/** What a visitor can be asked about the trials of an evaluation. */
export const trialOptions = (trials: readonly Trajectory[]): ForeignOptions =>
  foreignOptions(trials.map(({ toolCalls, ...facts }) => ({ ...facts, tools: Object.keys(toolCalls) })));

export function foreignOptions(rollouts: readonly Facts[]): ForeignOptions {
  const values = rollouts.flatMap((own) => [...valuesOf(own)]);
  const named = (isNumber: boolean) => values.filter(([, value]) => (typeof value !== 'string') === isNumber).map(([name]) => name);
  const numeric = named(true);
  return {
    names: [...new Set([...numeric.filter((name) => name === 'reward'), ...numeric, ...named(false)])],
    tools: [...new Set(rollouts.filter(({ foreign }) => foreign).flatMap(({ tools }) => tools))].sort(),
  };
}
