/** @file The checkers of BFCL Multi Turn: they run the model's calls and the gold calls, and compare states and results after each turn. */
import type { Dict } from '../../python/values.ts';
import type { Tables } from './tables.ts';
import { Shared } from './classes/api.ts';
import { Instances } from './instances.ts';

/** A task: where its calls happen, and the right ones. */
export interface Solved {
  id: string;
  /** The classes whose objects it has. */
  involved: string[];
  /** The config of each class. */
  config: Dict;
  /** The gold calls of each turn. */
  gold: string[][];
}

/** What the checkers need beside the task. */
export interface CheckData {
  tables: Tables;
}

/** The calls of an entry: turn, step, call. */
export type Response = readonly (readonly (readonly string[])[])[];

export type ErrorType =
  | 'multi_turn:empty_turn_model_response'
  | 'multi_turn:instance_state_mismatch'
  | 'multi_turn:execution_response_mismatch'
  | 'multi_turn:force_terminated'
  | 'multi_turn:inference_error';

export interface BfclVerdict {
  valid: boolean;
  error_type?: ErrorType;
  /** A list if the model was force-terminated. */
  error_message?: string | string[];
  /** The attributes that differ. */
  attributes?: string[];
  /** The gold results that the model did not get. */
  missing_items?: string[];
  /** The answer of the irrelevance checker, which upstream does not call. */
  irrelevance_error?: string;
}

/** What happened in one turn of a check. */
export interface CheckedTurn {
  model: string[];
  gold: string[];
}

export interface Check {
  verdict: BfclVerdict;
  turns: CheckedTurn[];
  /** The number of turns before the first one that failed. */
  passed: number;
}

const isLongContext = (id: string): boolean => id.includes('long_context') || id.includes('composite');

export const settingOf = ({ id, involved, config }: Solved) => ({ involved, config, longContext: isLongContext(id) });

/** Checks the decoded calls of a model, as upstream's evaluation does. Steps without a call must not be in the response. */
export function checkResponse(data: CheckData, entry: Solved, response: Response): Check {
  const irrelevant = irrelevance(entry, response);
  const turns: CheckedTurn[] = [];
  const isWhole = response.length === entry.gold.length;
  // The turn in which a model was stopped does not pass.
  const ended = isWhole ? response.length : Math.max(0, Math.min(response.length, entry.gold.length) - 1);
  const checked = checkTurns(data, { ...entry, gold: entry.gold.slice(0, ended) }, response, turns);
  const verdict = isWhole
    ? checked
    : failed('multi_turn:force_terminated', [
        `Model was force-terminated during inference phase. The length of the model result turns (${response.length}) does not match the length of the ground truth turns (${entry.gold.length}).`,
      ]);
  return {
    verdict: irrelevant === null ? verdict : { ...verdict, irrelevance_error: irrelevant },
    turns,
    passed: checked.valid ? ended : turns.length - 1,
  };
}

const failed = (error_type: ErrorType, error_message: string | string[]): BfclVerdict => ({ valid: false, error_type, error_message });

const isEmpty = (steps: Response[number]) => steps.length === 0 || (steps.length === 1 && steps[0]!.length === 0);

function checkTurns(data: CheckData, entry: Solved, response: Response, turns: CheckedTurn[]): BfclVerdict {
  const setting = settingOf(entry);
  const shared = new Shared(data.tables);
  const model = new Instances(setting, data.tables, shared);
  const gold = new Instances(setting, data.tables, shared);
  const results: string[] = [];
  for (const [turn, calls] of entry.gold.entries()) {
    const steps = response[turn]!;
    const own = { model: steps.flat().map((call) => model.run(call).text), gold: calls.map((call) => gold.run(call).text) };
    turns.push(own);
    results.push(...own.model);
    if (calls.length === 0) continue;
    if (isEmpty(steps)) return failed('multi_turn:empty_turn_model_response', `Model response list is empty for turn ${turn}`);
    const difference = model.differenceFrom(gold);
    if (difference)
      return {
        ...failed(
          'multi_turn:instance_state_mismatch',
          `Model instance for ${difference.className} does not match the state with ground truth instance.`,
        ),
        attributes: difference.attributes,
      };
    const missing = missingFrom(own.gold, results);
    if (missing.length > 0)
      return {
        ...failed(
          'multi_turn:execution_response_mismatch',
          `Model response execution results so far does not contain all the ground truth response execution results for turn ${turn}.`,
        ),
        missing_items: missing,
      };
  }
  return { valid: true };
}

/** The wanted texts that are not among the results. Each result counts for one wanted text. */
function missingFrom(wanted: readonly string[], results: readonly string[]): string[] {
  const left = new Map<string, number>();
  for (const result of results) left.set(result, (left.get(result) ?? 0) + 1);
  return wanted.filter((text) => {
    const count = left.get(text) ?? 0;
    if (count > 0) left.set(text, count - 1);
    return count === 0;
  });
}

/** Says that a turn without gold calls has calls. Null if there is no such turn. */
function irrelevance({ gold }: Solved, response: Response): string | null {
  const turn = gold.findIndex((calls, i) => calls.length === 0 && response[i] !== undefined && !isEmpty(response[i]));
  return turn < 0 ? null : `Model outputs valid function calls when it should not for turn ${turn}.`;
}
