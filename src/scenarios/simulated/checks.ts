/** @file The ten checks of a proposal. They know the tables and what the scenario file declares, but not what the code would answer. */
import { escapeRegExp } from '../../base/escape-reg-exp.ts';
import { InputError, shown } from '../../base/input-error.ts';
import { equalJson, isObject } from '../../base/json.ts';
import { runsOf, eachRun, wordsOf } from '../../base/words.ts';
import type { Overlay } from '../../environments/overlay.ts';
import { asData } from '../../mcp/text.ts';
import type { Json } from '../../records/json.ts';
import { broken } from '../invariants.ts';
import { namedWrites } from './footprint.ts';
import { PROMPT } from './prompt.ts';
import { applied, textOf } from './proposal.ts';
import { disagreement, isUnsorted, partsOf, wrongForm } from './returns.ts';
import type { AnswerCheck, Asked, Finding, Proposal } from './types.ts';

/** So many words in a row of a secret text are a leak. */
const LEAK = 8;

/** What is wrong with a proposal: the first fault of each check, in the order of the checks. */
export function findingsOf(asked: Asked, proposal: Proposal): Finding[] {
  const { own, rows, tool } = asked;
  const after = applied(own.scenario, rows, proposal);
  const good = proposal.error === null;
  const { parts, lists } = good ? partsOf(asked, after, proposal.result) : { parts: [], lists: [] };
  // What the agent wrote itself proves nothing against the simulator.
  const text = withoutArguments(asked, proposal);
  const checks: Record<AnswerCheck, () => string | undefined> = {
    schema: () => (good ? wrongForm(asked, proposal.result) : undefined),
    read_writes: () => (!tool.writes?.length && proposal.writes.length > 0 ? `${tool.name} must not write` : undefined),
    read_agrees: () => first(parts, (part) => disagreement(own, after, part)),
    repeat: () =>
      asked.earlier && !same(asked.earlier, proposal) ? `the same call got ${shown(textOf(asked.earlier))} before` : undefined,
    write_applied: () => (tool.writes?.length ? wrongWrites(asked, proposal) : undefined),
    closed_world: () => unknownKey(asked, after, proposal),
    invariants: () => (proposal.writes.length > 0 ? broken(own, after) : undefined),
    order: () => first(lists, (list) => (isUnsorted(list) ? `${list.path} is not sorted by ${list.field}` : undefined)),
    leak: () => leaked(asked, text),
    injection: () => (asData(text) === text ? undefined : 'the answer has markup, a role or an invisible character'),
  };
  return Object.entries(checks).flatMap(([check, run]) => {
    const found = orFault(run);
    return found === undefined ? [] : { check: check as AnswerCheck, text: found };
  });
}

/** A condition cannot be computed from every value that a model writes. */
function orFault(run: () => string | undefined): string | undefined {
  try {
    return run();
  } catch (cause) {
    if (cause instanceof InputError) return cause.message;
    throw cause;
  }
}

function first<T>(list: readonly T[], find: (one: T) => string | undefined): string | undefined {
  for (const one of list) {
    const found = find(one);
    if (found !== undefined) return found;
  }
  return undefined;
}

const same = (a: Proposal, b: Proposal): boolean => equalJson(a as unknown as Json, b as unknown as Json);

/** The answer without the arguments that it repeats. */
function withoutArguments({ call }: Asked, proposal: Proposal): string {
  const own = Object.values(call.arguments)
    .flatMap((value) => (Array.isArray(value) ? value : [value]))
    .filter((value): value is string => typeof value === 'string' && value !== '')
    .sort((a, b) => b.length - a.length);
  return textsIn([proposal.error ?? '', proposal.result])
    .map((text) => own.reduce((kept, argument) => kept.replaceAll(argument, ' '), text))
    .join('\n');
}

/** All texts of a value, also the names of fields. */
const textsIn = (value: Json): string[] => {
  if (typeof value === 'string') return [value];
  if (Array.isArray(value)) return value.flatMap(textsIn);
  return isObject(value) ? Object.entries(value).flatMap(([name, child]) => [name, ...textsIn(child as Json)]) : [];
};

/** The first difference between the proposed writes and those that the call names. */
function wrongWrites(asked: Asked, { error, writes }: Proposal): string | undefined {
  const { own, rows, tool } = asked;
  if (error !== null) return writes.length > 0 ? 'the answer is an error, but it writes' : undefined;
  const named = namedWrites(asked);
  if (!named) return 'the call names a row that does not exist: expected an error';
  const rowName = (table: string, key: string) => `the row ${shown(key, 40)} of ${table}`;
  const twice = writes.find(({ table, key }, i) => writes.findIndex((other) => other.table === table && other.key === key) !== i);
  if (twice) return `${rowName(twice.table, twice.key)} is written twice`;
  for (const { table, key, kind, fields, given } of named) {
    // The check `closed_world` says it if the key of a new row is another one.
    const write =
      writes.find((one) => one.table === table && one.key === key) ??
      (kind === 'insert' ? writes.find((one) => one.table === table && rows.get(table, one.key) === undefined) : undefined);
    if (!write) return `${tool.name} writes nothing to ${rowName(table, key)}: expected ${kind}`;
    if ('delete' in write !== (kind === 'delete'))
      return `${rowName(table, key)} is ${'delete' in write ? 'deleted' : 'kept'}: expected ${kind}`;
    if ('delete' in write) continue;
    const old = (rows.get(table, key) ?? {}) as Record<string, Json>;
    const id = own.scenario.tables[table]!.key;
    const other = Object.keys(write.set).find(
      (name) => name !== id && !fields.includes(name) && !equalJson(write.set[name], old[name] ?? null),
    );
    if (other !== undefined) return `${rowName(table, key)}: ${tool.name} must not change ${other}`;
    const missing = kind === 'insert' ? fields.find((name) => name !== id && !Object.hasOwn(write.set, name)) : undefined;
    if (missing !== undefined) return `${rowName(table, key)} has no ${missing}`;
    const wrong = Object.keys(given).find(
      (name) => name !== id && !equalJson(Object.hasOwn(write.set, name) ? write.set[name] : old[name], given[name]),
    );
    if (wrong !== undefined)
      return `${rowName(table, key)}: ${wrong} is ${shown(write.set[wrong])}: expected ${shown(given[wrong])}, as in the call`;
  }
  const free = (table: string) => named.filter((one) => one.table === table && one.kind === 'insert').length;
  const isNew = ({ table, key }: { table: string; key: string }) => rows.get(table, key) === undefined;
  const extra = writes.find(
    (write) =>
      !named.some((one) => one.table === write.table && one.key === write.key) &&
      !(isNew(write) && writes.filter((one) => one.table === write.table && isNew(one)).length <= free(write.table)),
  );
  return extra && `${tool.name} writes to ${rowName(extra.table, extra.key)}, which the call does not name`;
}

/** The first key that is made up. */
function unknownKey(asked: Asked, after: Overlay, { result, error, writes }: Proposal): string | undefined {
  const { own, rows, call } = asked;
  const argued = new Set(textsIn(Object.values(call.arguments)).flatMap((text) => text.split(/[^\p{L}\p{N}_]+/u)));
  const gone = writes.find((write) => 'delete' in write && rows.get(write.table, write.key) === undefined);
  if (gone) return `no row of ${gone.table} has the key ${shown(gone.key, 40)}, which is deleted`;
  const inserts = (namedWrites(asked) ?? []).filter(({ kind }) => kind === 'insert');
  for (const { table, key } of writes) {
    const next = inserts.filter((one) => one.table === table).map((one) => one.key);
    if (rows.get(table, key) === undefined && next.length > 0 && !next.includes(key))
      return `the new row of ${table} has the key ${shown(key, 40)}: expected ${next.join(', ')}, the next one`;
  }
  const told = textsIn([error ?? '', result]);
  for (const [table, { key, fields }] of Object.entries(own.scenario.tables)) {
    const { draw } = fields[key]!;
    if (!draw || !('id' in draw)) continue;
    const pattern = new RegExp(`(?<![\\p{L}\\p{N}_])${escapeRegExp(draw.id)}_\\d+(?![\\p{L}\\p{N}_])`, 'gu');
    for (const found of told.flatMap((text) => text.match(pattern) ?? []))
      if (after.get(table, found) === undefined && rows.get(table, found) === undefined && !argued.has(found))
        return `no row of ${table} has the key ${found}`;
  }
  return undefined;
}

function leaked({ own, tool, task }: Asked, text: string): string | undefined {
  const secret = runsOf([task.scenario.instruction, PROMPT], LEAK);
  let found: string | undefined;
  eachRun(wordsOf(text), LEAK, (run) => {
    if (secret.has(run)) found ??= `the answer repeats “${run}”`;
  });
  if (found !== undefined) return found;
  const declared = JSON.stringify(tool);
  // The plan of a task is calls. A word such as `renew` can be plain English.
  const named = own.scenario.tools.find(({ name }) => name.includes('_') && wordsOf(text).includes(name) && !declared.includes(name));
  return named && `the answer names the tool ${named.name}`;
}
