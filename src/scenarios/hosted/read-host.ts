/** @file Checks the host of a scenario file. */
import type { Names, Reader } from '../reader.ts';

/** @throws InputError */
export function checkHost(reader: Reader): void {
  const { host } = reader.scenario;
  if (!host) return;
  host.files?.forEach((file, i) => {
    const path = `host.files[${i}]`;
    if (file.each !== undefined) reader.expression(file.each, {}, `${path}.each`);
    const names: Names = file.each === undefined ? {} : { it: null };
    reader.expression(file.path, names, `${path}.path`);
    if ('text' in file) reader.expression(file.text, names, `${path}.text`);
    else reader.expression(file.lines, names, `${path}.lines`);
  });
  const states = Object.fromEntries(Object.keys(host.state).map((name) => [name, null]));
  for (const [table, cel] of Object.entries(host.rows)) {
    reader.table(table, `host.rows.${table}`);
    reader.cel.check(cel, states, `host.rows.${table}`);
  }
  const missing = reader.tables.find((table) => !Object.hasOwn(host.rows, table));
  if (missing !== undefined) reader.fail(`host.rows.${missing}`, undefined, 'how the rows of this table are read');
  if (host.failed !== undefined) reader.cel.check(host.failed, { text: null, structured: null }, 'host.failed');
}
