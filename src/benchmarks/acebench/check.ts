/** @file The scores of ACEBench Agent: of the final state, and of the messages on the way. */
import { round } from '../../python/conversions.ts';
import { contains, itemOf } from '../../python/operations.ts';
import { strip } from '../../python/strings.ts';
import { str } from '../../python/text.ts';
import { Dict, equal } from '../../python/values.ts';
import type { Entry } from './data.ts';

export interface AceVerdict {
  end_to_end: 0 | 1;
  /** From 0 to 1. */
  process: number;
  error_type?: 'wrong number of class' | 'class attributes wrong';
  /** The differences of each class of the ground truth that is wrong. */
  error?: string[][];
}

/** @param result the attributes of each class, as after JSON @param process the messages that were sent to the execution */
export function verdictOf({ truth, milestones }: Entry, result: readonly Dict[], process: readonly string[]): AceVerdict {
  const state = checkState(truth, result);
  return { end_to_end: state.error_type ? 0 : 1, process: state.error_type ? processScore(milestones, process) : 1, ...state };
}

function checkState(truth: readonly Dict[], result: readonly Dict[]): Pick<AceVerdict, 'error_type' | 'error'> {
  if (truth.length !== result.length) return { error_type: 'wrong number of class', error: [] };
  // A class of the ground truth that was not involved gets the verdict of the class before it.
  let last: string[] = [];
  const error = truth.flatMap((wanted) => {
    const found = result.find((own) => wanted.size === own.size && wanted.keys().every((name) => own.has(name)));
    if (found) last = differences(wanted, found);
    return last.length > 0 ? [last] : [];
  });
  return error.length > 0 ? { error_type: 'class attributes wrong', error } : {};
}

/** Compares the attributes of a class. If the wanted value is a dict, more keys are allowed. */
function differences(truth: Dict, result: Dict): string[] {
  const [[name, wanted]] = truth.entries() as [[string, Dict]];
  return (result.get(name) as Dict).entries().flatMap(([attribute, own]) => {
    const place = `class(${name}) attributes(${str(attribute)}`;
    const expected = wanted.get(attribute);
    if (expected === undefined) return [`${place}) missing in possible_answer.`];
    const wrong = (more: string, a = expected, b = own) => `${place}${more}) wrong, [expected: ${str(a)}, real: ${str(b)}]`;
    if (!(expected instanceof Dict)) return equal(expected, own) ? [] : [wrong('')];
    return expected.entries().flatMap(([key, value]) => {
      if (!contains(own, key)) return [wrong('')];
      const real = itemOf(own, key);
      return equal(value, real) ? [] : [wrong(`.${str(key)}`, value, real)];
    });
  });
}

/** The share of the milestones that are found in order. Only several lists are rounded. */
function processScore(milestones: Entry['milestones'], process: readonly string[]): number {
  if (!isLists(milestones)) return found(milestones, process);
  return Math.max(...milestones.map((list) => round(found(list, process), 3n) as number));
}

const isLists = (milestones: Entry['milestones']): milestones is string[][] => Array.isArray(milestones[0]);

/** A milestone that is missing runs the search to the end, so that later ones are missing too. */
function found(milestones: readonly string[], process: readonly string[]): number {
  let at = 0;
  let count = 0;
  for (const stone of milestones) {
    const next = process.findIndex((message, i) => i >= at && strip(message) === strip(stone));
    if (next < 0) break;
    count += 1;
    at = next + 1;
  }
  return milestones.length === 0 ? 1 : count / milestones.length;
}

/** Upstream's scores of a set of tasks, rounded to 3 decimals. */
export function setScores(verdicts: readonly AceVerdict[]): { end_to_end_accuracy: number; process_accuracy: number } {
  const mean = (name: 'end_to_end' | 'process') => rounded(verdicts.reduce((sum, verdict) => sum + verdict[name], 0) / verdicts.length);
  return { end_to_end_accuracy: mean('end_to_end'), process_accuracy: mean('process') };
}

/** Upstream's rounding of a score of a set. */
export const rounded = (value: number) => round(value, 3n) as number;

/** “Agent”, the benchmark's one number: the mean of the rounded accuracies of both kinds. */
export const agentScore = (multiTurn: number, multiStep: number): number => rounded((rounded(multiTurn) + rounded(multiStep)) / 2);
