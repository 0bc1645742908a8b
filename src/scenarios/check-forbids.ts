/** @file Checks the conditions `forbids` on a played task: they allow what is right, and find what the policy forbids. */
import type { Json } from '../records/json.ts';
import type { PlannedCall, ScenarioPeople } from '../records/scenario.ts';
import { type AnsweredCall, brokenSentences } from './forbidden.ts';
import type { ReadScenario } from './read.ts';

interface PlayedPlan extends Pick<ScenarioPeople, 'reads' | 'tempts'> {
  gold: readonly PlannedCall[];
  /** The results of the reads and, after them, of the gold actions. */
  results: readonly { text: string; error: boolean }[];
}

/** What is wrong with a call, in words. */
export function forbidsFaults(own: ReadScenario, { reads, gold, tempts, results }: PlayedPlan): { call: PlannedCall; fault: string }[] {
  const plan = [...reads, ...gold].map((call, i) => answered(call, jsonOr(results[i]!.text), results[i]!.error));
  const broken = brokenSentences(own, plan).flatMap((says, i) =>
    says && !plan[i]!.failed ? [{ call: plan[i]!.call, fault: `is right, but a condition says that it breaks “${says}”` }] : [],
  );
  const missed = tempts.filter(
    (call) => call.kind === 'forbidden_write' && brokenSentences(own, [...plan.slice(0, reads.length), answered(call)]).at(-1) === null,
  );
  return [...broken, ...missed.map((call) => ({ call, fault: 'is forbidden, but no condition finds it after the reads' }))];
}

const answered = ({ name, arguments: args }: PlannedCall, value: Json = null, failed = false): AnsweredCall => ({
  call: { name, arguments: args },
  value,
  failed,
});

/** The value of a result, as graders read it. */
export function jsonOr(text: string): Json {
  try {
    return JSON.parse(text) as Json;
  } catch {
    return text.trim();
  }
}
