/** @file Whether writes are about the records that the customer's words mean, for ids that neither side says. */
import { recordsIn } from '../agent/layers/readings.ts';
import type { RuleLog } from '../agent/layers/rule-log.ts';
import type { Made, Talk } from '../agent/layers/talk.ts';
import type { Json } from '../records/json.ts';
import { contains, idsIn, plain, prefixOf } from './people/values.ts';

type Shown = Record<string, Json>;

/** Checks each id of a write that nobody said: a tool must have shown it, and no record beside it may fit the customer's words better. */
export function checkRecords(talk: Talk, log: RuleLog): void {
  for (const write of talk.calls.filter(({ write }) => write)) {
    const before = talk.callsIn(-1, write.place);
    const heard = talk.heardIn(-1, write.place).map(({ text }) => text).join('\n'); // prettier-ignore
    const spoken = new Set(idsIn(plain(`${heard}\n${talk.saidIn(-1, write.place).map(({ text }) => text).join('\n')}`))); // prettier-ignore
    for (const id of idsIn(plain(JSON.stringify(write.args))))
      if (!spoken.has(id)) log.check('wrong_record', write.place, wrongBecause(id, write, before, heard));
  }
}

function wrongBecause(id: string, { name }: Made, before: readonly Made[], heard: string): string | null {
  const results = before.filter(({ failed }) => !failed).map(({ value }) => value);
  if (!results.some((value) => idsIn(plain(JSON.stringify(value))).includes(id)))
    return `${name} has ${id}, which nobody said and no tool showed`;
  for (const value of results) {
    const records = [...recordsIn(value)].filter((record) => Object.values(record).some(isId));
    const own = records.find((record) => keyOf(record) === id);
    const better = own && records.find((record) => fit(record, heard) > fit(own, heard));
    if (better) return `${name} has ${id}, but the customer's words fit ${keyOf(better)}`;
  }
  return null;
}

const isId = (value: Json): boolean => prefixOf(value) !== undefined;

/** The first field of a record that is an id. */
const keyOf = (record: Shown): string => String(Object.values(record).find(isId));

/** How many texts of a record the customer has said. */
const fit = (record: Shown, heard: string): number =>
  Object.values(record).filter((one) => typeof one === 'string' && one !== keyOf(record) && contains(heard, one)).length;
