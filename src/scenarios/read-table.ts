/** @file Checks a table of a scenario file. */
import type { Json } from '../records/json.ts';
import type { Draw, ScenarioField } from '../records/scenario.ts';
import type { Names, Reader } from './reader.ts';
import { fits, TYPE_WORDS } from './types.ts';

/** @throws InputError */
export function checkTable(reader: Reader, name: string): void {
  const { scenario, tables } = reader;
  const path = `tables.${name}`;
  const { key, fields, count = {}, rows = [], invariants = [] } = scenario.tables[name]!;
  const names = Object.keys(fields);
  reader.known('field', key, names, `${path}.key`);
  if (fields[key]!.type !== 'string') reader.fail(`${path}.fields.${key}.type`, fields[key]!.type, '"string", because it is the key');
  for (const level of Object.keys(count)) reader.level(level, `${path}.count`);
  if (Object.values(count).some((n) => n > 0) && !fields[key]!.draw)
    reader.fail(`${path}.fields.${key}.draw`, undefined, 'how a key is drawn, such as {"id": "room"}, because count asks for rows');
  names.forEach((field, i) => {
    const { type, draw, ref, unordered, unread } = fields[field]!;
    const at = `${path}.fields.${field}`;
    if (unread && (!scenario.host || field === key))
      reader.fail(`${at}.unread`, true, 'a field that is not the key, in a scenario with a host');
    if (unordered && type !== 'strings') reader.fail(`${at}.type`, type, '"strings", because the field is unordered');
    if (ref !== undefined) {
      reader.table(ref, `${at}.ref`);
      if (type !== 'string') reader.fail(`${at}.type`, type, '"string", because the field refers to a table');
    }
    if (!draw) return;
    const earlier = tables.slice(0, tables.indexOf(name));
    if ('row' in draw) reader.known('table before this one', draw.row, earlier, `${at}.draw.row`);
    checkDraw(reader, draw, type, { row: names.slice(0, i) }, `${at}.draw`);
  });
  const keys = new Set<Json>();
  rows.forEach((row, i) => {
    const at = `${path}.rows[${i}]`;
    for (const [field, value] of Object.entries(row)) {
      reader.known('field', field, names, at);
      if (value !== null && !fits(value, fields[field]!.type)) reader.fail(`${at}.${field}`, value, TYPE_WORDS[fields[field]!.type]);
    }
    const own = row[key];
    if (typeof own !== 'string' || own === '' || keys.has(own)) reader.fail(`${at}.${key}`, own, 'a key that no other row has');
    keys.add(own);
  });
  invariants.forEach(({ check }, i) => reader.expression(check, { row: names }, `${path}.invariants[${i}].check`));
}

/** @param type the type that the value must have; undefined: any */
export function checkDraw(reader: Reader, draw: Draw, type: ScenarioField['type'] | undefined, names: Names, path: string): void {
  if ('cel' in draw) return reader.expression(draw.cel, names, `${path}.cel`);
  if (type === undefined) return;
  const wrong = (kind: string, types: readonly string[]) => {
    if (!types.includes(type)) reader.fail(path, draw, `another draw than ${kind}, because the type is ${type}`);
  };
  if ('id' in draw || 'row' in draw || 'person' in draw) wrong(Object.keys(draw)[0]!, ['string']);
  if ('min' in draw) wrong('min and max', ['integer', 'number']);
  if ('some' in draw) wrong('some', ['strings']);
  const values = 'from' in draw ? draw.from : 'some' in draw ? [draw.some as Json] : [];
  for (const value of values) if (value !== null && !fits(value, type)) reader.fail(path, value, TYPE_WORDS[type]);
}
