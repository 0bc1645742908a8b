/** @file Checks a blueprint of a scenario file. */
import type { Blueprint, BlueprintCall, BlueprintSlot, Draw } from '../records/scenario.ts';
import { CEL_TYPES } from './cel.ts';
import { reaches } from './levels.ts';
import type { Names, Reader } from './reader.ts';
import { checkDraw } from './read-table.ts';

/** Names that expressions and templates have in any case. */
const TAKEN = ['row', 'tables', 'args', 'it', 'value', 'first', ...CEL_TYPES];

/** @throws InputError */
export function checkBlueprint(reader: Reader, blueprint: Blueprint, path: string): void {
  const { from, pick = {}, values = {}, where, identity, slots, wish, change, refuse, tell = [] } = blueprint;
  reader.level(from, `${path}.from`);
  const names: Record<string, readonly string[] | null> = {};
  const add = (name: string, fields: readonly string[] | null, at: string) => {
    if (TAKEN.includes(name) || Object.hasOwn(names, name))
      reader.fail(at, name, `a name that is not in use (${[...TAKEN, ...Object.keys(names)].join(', ')})`);
    names[name] = fields;
  };
  for (const [name, { table, where: condition }] of Object.entries(pick)) {
    const fields = Object.keys(reader.table(table, `${path}.pick.${name}.table`).fields);
    if (condition !== undefined) reader.expression(condition, { ...names, row: fields }, `${path}.pick.${name}.where`);
    add(name, fields, `${path}.pick`);
  }
  for (const [name, draw] of Object.entries(values)) {
    checkValue(reader, draw, names, `${path}.values.${name}`);
    add(name, null, `${path}.values`);
  }
  if (where !== undefined) reader.expression(where, names, `${path}.where`);
  const told: Names = { ...names, ...Object.fromEntries([...Object.keys(identity), ...Object.keys(slots)].map((name) => [name, null])) };
  for (const [part, all] of Object.entries({ identity, slots }))
    for (const [name, slot] of Object.entries(all)) {
      if (part === 'slots' && Object.hasOwn(identity, name)) reader.fail(`${path}.slots`, name, 'a name that identity does not have');
      checkSlot(reader, slot, names, told, `${path}.${part}.${name}`);
    }
  wish.forEach((template, i) => reader.template(template, told, `${path}.wish[${i}]`));
  if (change) {
    reader.known('slot', change.slot, Object.keys(slots), `${path}.change.slot`);
    checkValue(reader, change.first, names, `${path}.change.first`);
    change.says.forEach((template, i) => reader.template(template, { ...told, value: null, first: null }, `${path}.change.says[${i}]`));
  }
  const allowedIn = {
    reads: ['read'],
    gold: refuse === undefined ? ['write', 'transfer'] : ['transfer'],
    tempts: ['write', 'transfer'],
  };
  for (const part of ['reads', 'gold', 'tempts'] as const)
    blueprint[part]?.forEach((call, i) => {
      const at = `${path}.${part}[${i}]`;
      const { kind } = checkCall(reader, call, from, names, at);
      const allowed = allowedIn[part];
      if (!allowed.includes(kind))
        reader.fail(
          `${at}.tool`,
          call.tool,
          `a tool of the kind ${allowed.join(' or ')}${part === 'gold' && refuse !== undefined ? ', because refuse says that no row changes' : ''}`,
        );
    });
  if (refuse !== undefined) reader.template(refuse, told, `${path}.refuse`);
  tell.forEach((cel, i) => reader.expression(cel, names, `${path}.tell[${i}]`));
}

/** Checks how a value that is not in a table is drawn. */
function checkValue(reader: Reader, draw: Draw, names: Names, path: string): void {
  if ('id' in draw) reader.fail(path, draw, 'another draw than id, because only tables have new keys');
  if ('row' in draw) reader.table(draw.row, `${path}.row`);
  checkDraw(reader, draw, undefined, names, path);
}

function checkSlot(reader: Reader, { value, says }: BlueprintSlot, names: Names, told: Names, path: string): void {
  reader.expression(value, names, `${path}.value`);
  says.forEach((template, i) => reader.template(template, { ...told, value: null }, `${path}.says[${i}]`));
}

/** @param from the first level of the blueprint: its tools must exist there */
function checkCall(reader: Reader, call: BlueprintCall, from: string | undefined, names: Names, path: string) {
  const tool = reader.tool(call.tool, `${path}.tool`);
  const { levels } = reader.scenario;
  const level = from ?? levels[0]!;
  if (!reaches(levels, tool.from, level)) reader.fail(`${path}.tool`, call.tool, `a tool of level ${level}, which the blueprint has`);
  const { parameters } = tool;
  for (const [name, cel] of Object.entries(call.arguments)) {
    reader.known(`parameter of ${tool.name}`, name, Object.keys(parameters), `${path}.arguments`);
    reader.expression(cel, names, `${path}.arguments.${name}`);
  }
  const missing = Object.keys(parameters).find((name) => !parameters[name]!.optional && !Object.hasOwn(call.arguments, name));
  if (missing !== undefined) reader.fail(`${path}.arguments.${missing}`, undefined, `a value, because ${tool.name} needs it`);
  if (call.if !== undefined) reader.expression(call.if, names, `${path}.if`);
  return tool;
}
