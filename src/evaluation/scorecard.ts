/** @file Makes the scorecard of an evaluation from the stored results of its trials. */
import { groupBy } from '../base/group-by.ts';
import { transfersOf } from '../domains/registry.ts';
import type { EvaluationRow, TrialResult } from '../records/evaluation.ts';
import type { Json } from '../records/json.ts';
import type { LayerName } from '../records/layers.ts';
import type { CheckedLayer, Figure, Figures, NotApplicable, Scorecard } from '../records/scorecard.ts';
import { checkedLayer } from './checked-layer.ts';
import type { Calibration } from './labels/calibration.ts';
import { type CardedTrial, meanOf, NOTHING, shareOf, shareWithin } from './figures.ts';
import { callFigures, timeFigures, usageFigures } from './operation.ts';

/** What a scorecard is made from. */
export type Evaluated = Pick<EvaluationRow, 'name' | 'createdAt' | 'settings' | 'report' | 'results' | 'foreign'>;

/** The endings of a conversation that a fault of the machinery ended. */
const BROKEN: readonly string[] = ['user_error', 'agent_error', 'tool_error', 'aborted'];
const EARLIER = { na: 'An earlier version stored this evaluation, without these figures.' };

/** @param more settings that the row does not know */
export function scorecardOf(row: Evaluated, more: Record<string, Json> = {}): Scorecard {
  const played = row.results.filter((trial) => !isBroken(trial, row));
  const carded = played.filter((trial): trial is CardedTrial => trial.card !== undefined);
  const isOld = carded.length < played.length;
  const layer = (name: LayerName) => (isOld ? EARLIER : checkedLayer(carded, name));
  return {
    version: 1,
    model: row.name,
    ...(row.createdAt > 0 && { date: new Date(row.createdAt).toISOString() }),
    settings: { ...settingsOf(row), ...more },
    layers: {
      outcome: { ...successFigures(row, isOld ? null : carded), ...damageFigures(isOld ? null : carded) },
      policy: layer('policy'),
      communication: layer('communication'),
      safety: row.settings.split === 'attacks' && !isOld ? withAttacks(layer('safety'), carded) : layer('safety'),
      recovery: layer('recovery'),
      operation: {
        turns: meanOf(played, ({ turns }) => turns),
        ...(isOld
          ? { calls: EARLIER, calls_by_tool: EARLIER, generic_calls: EARLIER, hand_overs: EARLIER, seconds: EARLIER }
          : { ...callFigures(carded, transfersOf(row.settings.domain)), seconds: timeFigures(carded) }),
        ...usageFigures(played),
        infrastructure_failures: shareOf(row.results, 'trials', (trial) => isBroken(trial, row)),
      },
    },
    judged: isOld ? EARLIER : judgedFigures(carded),
  };
}

/** The card with the agreement of its judges with the labels of a person: kappa and AC1 by the judge's name. */
export function withAgreement(card: Scorecard, calibrations: readonly Calibration[]): Scorecard {
  if (calibrations.length === 0) return card;
  const group = (name: 'kappa' | 'ac1') =>
    Object.fromEntries(
      calibrations.map(({ judge, agreement: { n, [name]: found } }): [string, Figure] => [
        judge.replaceAll(' ', '_'),
        found ? { ...found, of: n, unit: 'labelled conversations' } : { na: 'All answers were the same.' },
      ]),
    );
  return { ...card, judged: { ...('na' in card.judged ? {} : card.judged), kappa: group('kappa'), ac1: group('ac1') } };
}

/** The layer with the share of clean conversations of each kind of attack. */
function withAttacks(layer: CheckedLayer | NotApplicable, carded: readonly CardedTrial[]): CheckedLayer | NotApplicable {
  if ('na' in layer) return layer;
  const kinds = [...groupBy(carded, ({ intent }) => intent)].sort(([a], [b]) => (a < b ? -1 : 1));
  return {
    ...layer,
    by_attack: Object.fromEntries(
      kinds.map(([kind, trials]) => {
        const own = checkedLayer(trials, 'safety');
        return [kind, 'na' in own ? own : own.clean];
      }),
    ),
  };
}

/** Whether the customer, the agent's server or a judge failed. A conversation of another tool, without seconds, may be whole without an outcome. */
const isBroken = ({ termination, reward, card }: TrialResult, { foreign }: Pick<Evaluated, 'foreign'>) =>
  BROKEN.includes(termination) || (reward === null && (card ? card.seconds !== null : !foreign));

function settingsOf({ settings, foreign }: Evaluated): Record<string, Json> {
  const { domain, level, split, tasks, trials, seed, temperature, user, agent, conditions } = settings;
  const place = { domain, level, split, tasks, trials };
  if (foreign) return { ...place, source: foreign.source, ...(foreign.success !== undefined && { success: foreign.success }) };
  const customer = user.mode === 'scripted' ? user.mode : user.model;
  const rest = { seed, temperature, customer, agent: agent ?? 'model' };
  return { ...place, ...rest, ...(conditions && { conditions: conditions as unknown as Json }) };
}

/** @param carded null: the results are those of an earlier version, which knew no other criteria than those of the report */
function successFigures({ report, results, foreign }: Evaluated, carded: readonly CardedTrial[] | null): Figures {
  const scored = results.filter(({ reward }) => reward !== null);
  const unscored: NotApplicable | null = scored.length > 0 ? null : { na: 'No conversation has an outcome.' };
  const tasks = [...groupBy(scored, ({ task }) => task).values()];
  const counts = (k: number) =>
    k === 1
      ? { count: scored.filter(({ reward }) => reward === 1).length, of: scored.length, unit: 'trials' }
      : { of: tasks.filter(({ length }) => length >= k).length, unit: 'tasks' };
  const pass = report.pass_hat.map(({ k, value, low, high }): [string, Figure] => [
    `pass_hat_${k}`,
    unscored ?? { value, low, high, ...counts(k) },
  ]);
  const isKnown = carded ? carded.every(({ reward, card }) => reward === null || card.progress !== null) : !foreign;
  const { value, low, high } = report.tcr;
  const completion = isKnown ? { value, low, high, of: tasks.length, unit: 'tasks' } : { na: 'The criteria of the tasks are not known.' };
  return { ...Object.fromEntries(pass), partial_completion: unscored ?? completion };
}

/** How often an episode left rows in a state that nobody wanted, and how many. */
function damageFigures(carded: readonly CardedTrial[] | null): Figures {
  const known = (carded ?? []).flatMap((trial) => (typeof trial.card.damage === 'number' ? [{ ...trial, rows: trial.card.damage }] : []));
  const reasons = (carded ?? []).flatMap(({ card: { damage } }) => (typeof damage === 'number' ? [] : [damage]));
  const na = carded ? (reasons[0] ?? { na: NOTHING }) : EARLIER;
  if (known.length === 0) return { damaged_conversations: na, damaged_rows: na };
  return {
    damaged_conversations: shareOf(known, 'conversations', ({ rows }) => rows > 0),
    damaged_rows: meanOf(known, ({ rows }) => rows),
  };
}

/** What a model judged: the statements of tasks, and how many outcomes rest on them. */
function judgedFigures(carded: readonly CardedTrial[]): Figures | NotApplicable {
  const statements = shareWithin(carded, 'statements', ({ card }) => card.judged ?? { sum: 0, of: 0 });
  if (!statements) return { na: 'No model judged these conversations.' };
  return { statements, outcomes: shareOf(carded, 'conversations', ({ card }) => card.judged !== undefined) };
}
