/** @file How many conversations that were spoilt on purpose the model and the rules find, and how many good ones they reject. */
import { wilson } from '../base/wilson.ts';
import type { Interval } from '../records/evaluation.ts';
import type { Grades } from '../records/grades.ts';
import { NEAR_MISSES, type NearMiss, type NearMissKind } from '../records/scenario.ts';
import { rulesKeep } from './keep.ts';

/** What one grader says about the conversations of one kind. */
export interface Found {
  /** The conversations that the grader graded. */
  graded: number;
  /** Those that it rejects. */
  rejected: number;
  /** The share of rejected ones among the graded. Null: none is graded. */
  share: Interval | null;
}

export interface NearMissRow {
  /** `good`: conversations without a label and without a reward below 1. Their share is that of false alarms. */
  kind: NearMissKind | 'all kinds' | 'good';
  n: number;
  rules: Found;
  /** Absent: no model graded the file. */
  judge?: Found & {
    /** Of the rejected ones: how many have evidence in the first wrong message. */
    located: number;
  };
  /** How many go to a person. */
  person: number;
  /** How many would be trained on. */
  kept: number;
}

export interface Labelled {
  grades: Grades;
  keep: 'yes' | 'no' | 'person';
  reward?: number | undefined;
  near_miss?: NearMiss | undefined;
}

/** One row for each kind that the file has, then all kinds together, then the good conversations. */
export function nearMissTable(all: readonly Labelled[]): NearMissRow[] {
  const judged = all.some(({ grades }) => grades.judge);
  const missed = all.filter(({ near_miss: label }) => label);
  const rows = [
    ...NEAR_MISSES.map((kind) => [kind, missed.filter(({ near_miss: label }) => label!.kind === kind)] as const),
    ['all kinds', missed] as const,
    ['good', all.filter(({ near_miss: label, reward = 1 }) => !label && reward === 1)] as const,
  ];
  return rows
    .filter(([kind, own]) => own.length > 0 || kind === 'good')
    .map(([kind, own]) => ({
      kind,
      n: own.length,
      rules: found(own.map(({ grades }) => rulesKeep(grades))),
      ...(judged && {
        judge: {
          ...found(own.map(({ grades: { judge } }) => judge?.keep ?? null)),
          located: own.filter(({ grades: { judge }, near_miss: label }) =>
            Object.values(judge?.criteria ?? {}).some(({ met, message }) => met === false && message === label?.first_wrong),
          ).length,
        },
      }),
      person: own.filter(({ keep }) => keep === 'person').length,
      kept: own.filter(({ keep }) => keep === 'yes').length,
    }));
}

function found(keeps: readonly (boolean | null)[]): Found {
  const graded = keeps.filter((keep) => keep !== null);
  const rejected = graded.filter((keep) => !keep).length;
  const ends = wilson(rejected, graded.length);
  return { graded: graded.length, rejected, share: ends && { value: rejected / graded.length, ...ends } };
}
