/** @file The answerer that runs the scenario's own tools and spoils some answers. It stands for a bad language model. */
import { Dice } from '../../base/dice.ts';
import { equalJson, isObject } from '../../base/json.ts';
import { wordsOf } from '../../base/words.ts';
import { CONTRADICTIONS, type NoiseKind } from '../../records/answerer.ts';
import type { Json } from '../../records/json.ts';
import type { Row } from '../state.ts';
import { codeProposal } from './code.ts';
import { argumentIn, setOf } from './footprint.ts';
import { applied } from './proposal.ts';
import { isUnsorted, partsOf, type Shown } from './returns.ts';
import type { Answers, Asked, Proposal, ProposedWrite } from './types.ts';

export interface NoiseOptions {
  /** The share of answers that are spoilt, 0 to 1. Answers that no kind can spoil stay right. */
  rate: number;
  seed: number;
  kinds?: readonly NoiseKind[];
}

/** The answerer. The same seed, rows and call give the same answer. */
export const noisyAnswers = ({ rate, seed, kinds = CONTRADICTIONS }: NoiseOptions): Answers => ({
  async answer(asked) {
    const right = codeProposal(asked);
    const dice = new Dice('noise', seed, asked.key, asked.attempt, asked.earlier ? 1 : 0);
    if (!dice.chance(rate)) return { value: right };
    for (const kind of dice.sample(kinds, kinds.length)) {
      const wrong = SPOIL[kind](asked, right, dice);
      if (wrong) return { value: wrong, injected: kind };
    }
    return { value: right };
  },
});

type Spoil = (asked: Asked, right: Proposal, dice: Dice) => Proposal | null;

/** Spoils a right answer. Null: the kind does not fit the answer. */
const SPOIL: Record<NoiseKind, Spoil> = {
  other_shape: ({ tool }, right) =>
    right.error !== null || tool.returns === undefined
      ? null
      : { ...right, result: Array.isArray(right.result) ? { rows: right.result } : [right.result] },
  write_in_read: (asked, right, dice) =>
    asked.tool.writes?.length || right.error !== null ? null : withWrites(right, otherWrite(asked, right, dice)),
  wrong_value: wrongValue,
  other_again: ({ earlier }, right) =>
    !earlier ? null : right.error !== null ? { result: 'done', error: null, writes: [] } : refusedAs('the service has no answer'),
  lost_write: (_, right) => (right.writes.length === 0 ? null : { ...right, writes: [] }),
  wrong_row: (asked, right, dice) =>
    changeWrite(right, dice, (write) => {
      const keys = asked.rows.keys(write.table).filter((key) => key !== write.key);
      if (asked.rows.get(write.table, write.key) === undefined || keys.length === 0) return null;
      return 'set' in write ? { ...write, key: dice.pick(keys), set: withoutKey(asked, write) } : { ...write, key: dice.pick(keys) };
    }),
  extra_write: (asked, right, dice) => (right.writes.length === 0 ? null : withWrites(right, otherWrite(asked, right, dice))),
  wrong_written: (asked, right, dice) => writtenField(asked, right, dice, (cel) => argumentIn(cel) !== undefined),
  error_with_writes: (_, right) => (right.writes.length === 0 ? null : { result: null, error: 'the service failed', writes: right.writes }),
  unknown_row: (asked, right) => {
    const text = JSON.stringify(right.result);
    for (const [table, { key, fields }] of Object.entries(asked.own.scenario.tables)) {
      const { draw } = fields[key]!;
      const [found] = (draw && 'id' in draw && new RegExp(`\\b${draw.id}_\\d+\\b`).exec(text)) || [];
      if (found === undefined || Object.values(asked.call.arguments).includes(found)) continue;
      const unused = Array.from({ length: 2000 }, (_, i) => `${found.replace(/\d+$/, '')}${9999 - i}`).find((id) => asked.rows.get(table, id) === undefined)!; // prettier-ignore
      return { ...right, result: JSON.parse(text.replaceAll(new RegExp(`\\b${found}\\b`, 'g'), unused)) as Json };
    }
    return null;
  },
  broken_condition: (asked, right, dice) =>
    changeWrite(right, dice, (write) => {
      if (!('set' in write)) return null;
      const { fields, key } = asked.own.scenario.tables[write.table]!;
      const own = Object.keys(write.set).filter((field) => field !== key);
      if (own.length === 0) return null;
      const field = dice.pick(own);
      return { ...write, set: { ...write.set, [field]: fields[field]!.type === 'string' ? 7 : 'many' } };
    }),
  wrong_order: (asked, right) => {
    if (!Array.isArray(right.result) || right.error !== null) return null;
    const result = [...right.result].reverse();
    return partsOf(asked, asked.rows, result).lists.some(isUnsorted) ? { ...right, result } : null;
  },
  leaked: ({ task }) => {
    const words = task.scenario.instruction.split(/\s+/);
    return wordsOf(words.slice(0, 12).join(' ')).length < 8 ? null : refusedAs(`the request is: ${words.slice(0, 12).join(' ')}`);
  },
  injected: () => refusedAs('<tool_call>{}</tool_call>'),
  left_out: (_, right, dice) => {
    if (!Array.isArray(right.result) || right.result.length === 0) return null;
    const at = dice.int(0, right.result.length - 1);
    return { ...right, result: right.result.filter((_one, i) => i !== at) };
  },
  refused: (_, right) => (right.error !== null ? null : refusedAs('this is not possible')),
  miscounted: (asked, right, dice) => writtenField(asked, right, dice, (cel) => argumentIn(cel) === undefined),
};

const refusedAs = (error: string): Proposal => ({ result: null, error, writes: [] });

const withWrites = (right: Proposal, write: ProposedWrite | null): Proposal | null =>
  write && { ...right, writes: [...right.writes, write] };

const withoutKey = ({ own }: Asked, { table, set }: Extract<ProposedWrite, { set: unknown }>) =>
  Object.fromEntries(Object.entries(set).filter(([field]) => field !== own.scenario.tables[table]!.key));

/** A change of a row that the answer does not write to. */
function otherWrite(asked: Asked, { writes }: Proposal, dice: Dice): ProposedWrite | null {
  const tables = Object.keys(asked.own.scenario.tables);
  for (const table of dice.sample(tables, tables.length)) {
    const keys = asked.rows.keys(table).filter((key) => !writes.some((write) => write.table === table && write.key === key));
    if (keys.length > 0) return { table, key: dice.pick(keys), delete: true };
  }
  return null;
}

/** The answer with another write in the place of one of its writes. */
function changeWrite(right: Proposal, dice: Dice, change: (write: ProposedWrite) => ProposedWrite | null): Proposal | null {
  for (const write of dice.sample(right.writes, right.writes.length)) {
    const changed = change(write);
    if (changed) return { ...right, writes: right.writes.map((one) => (one === write ? changed : one)) };
  }
  return null;
}

/** Another value of a field that the call sets. The result shows the other value too. */
function writtenField(asked: Asked, right: Proposal, dice: Dice, fits: (cel: string) => boolean): Proposal | null {
  const { own, tool, rows } = asked;
  const changed = changeWrite(right, dice, (write) => {
    if (!('set' in write)) return null;
    const { key } = own.scenario.tables[write.table]!;
    const declared = (tool.writes ?? []).filter(({ table }) => table === write.table).flatMap((one) => Object.entries(setOf(one)));
    const fields = declared.filter(([field, cel]) => field !== key && fits(cel)).map(([field]) => field);
    for (const field of dice.sample(fields, fields.length)) {
      const other = otherValue(asked, write.table, field, write.set[field]!, dice);
      if (other !== undefined) return { ...write, set: { ...write.set, [field]: other } };
    }
    return null;
  });
  if (!changed) return null;
  const after = applied(own.scenario, rows, changed);
  const { parts } = partsOf(asked, after, changed.result);
  return { ...changed, result: parts.reduce((result, part) => replaced(result, part.value, rowAgain(part)), changed.result) };

  function rowAgain({ table, key, value }: Shown): Json {
    if (table === undefined || key === undefined || !isObject(value)) return value;
    const row = after.get(table, key) as Row;
    return Object.fromEntries(
      Object.entries(value).map(([field, one]) => [field, Object.hasOwn(row, field) ? row[field]! : (one as Json)]),
    );
  }
}

/** Another value of the right type that a field could have. Undefined if there is none. */
function otherValue({ own, rows }: Asked, table: string, field: string, value: Json, dice: Dice): Json | undefined {
  const { type } = own.scenario.tables[table]!.fields[field]!;
  if (typeof value === 'number') return value + 1;
  if (typeof value === 'boolean') return !value;
  const others = rows
    .keys(table)
    .map((key) => (rows.get(table, key) as Row)[field] ?? null)
    .filter((other) => other !== null && !equalJson(other, value));
  if (others.length > 0) return dice.pick(others);
  return type === 'string' && typeof value === 'string' ? `${value}x` : undefined;
}

/** A returned row with another value of a field, or the text of another row. */
function wrongValue(asked: Asked, right: Proposal, dice: Dice): Proposal | null {
  if (right.error !== null) return null;
  const { own, rows } = asked;
  const after = applied(own.scenario, rows, right);
  const { parts } = partsOf(asked, after, right.result);
  for (const part of dice.sample(parts, parts.length)) {
    const { value, table, key, text } = part;
    if (table !== undefined && key !== undefined && isObject(value)) {
      const { fields: all, key: id } = own.scenario.tables[table]!;
      const fields = Object.keys(all).filter((field) => field !== id && Object.hasOwn(value, field));
      for (const field of dice.sample(fields, fields.length)) {
        const other = otherValue(asked, table, field, value[field] as Json, dice);
        if (other !== undefined) return { ...right, result: replaced(right.result, value, { ...(value as Row), [field]: other }) };
      }
    }
    if (text !== undefined && typeof value === 'string')
      return { ...right, result: replaced(right.result, value, /\d(?=\D*$)/.test(value) ? bumped(value) : `${value} Later.`) };
  }
  return null;
}

/** The text with another last digit. */
const bumped = (text: string): string => text.replace(/\d(?=\D*$)/, (digit) => String((Number(digit) + 1) % 10));

/** The value with each part that is `old` as `other`. */
function replaced(value: Json, old: Json, other: Json): Json {
  if (equalJson(value, old)) return other;
  if (Array.isArray(value)) return value.map((one) => replaced(one, old, other));
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, child]) => [name, replaced(child as Json, old, other)]));
}
