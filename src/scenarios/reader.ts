/** @file What all checks of a scenario file need: the names that exist, and errors that say where the file is wrong. */
import { unknownName } from '../base/did-you-mean.ts';
import { InputError, shown } from '../base/input-error.ts';
import type { Scenario, ScenarioTable, ScenarioTool, Template } from '../records/scenario.ts';
import type { Expressions } from './cel.ts';
import { hasLooseBrace, placesIn } from './templates.ts';

/** What an expression may name. A name with fields has a list of them. */
export type Names = Readonly<Record<string, readonly string[] | null>>;

/** Checks one file. Its methods throw errors that name the file and the path. */
export class Reader {
  readonly tables: readonly string[];

  constructor(
    readonly scenario: Scenario,
    readonly cel: Expressions,
  ) {
    this.tables = Object.keys(scenario.tables);
  }

  /** @throws InputError */
  fail(path: string, value: unknown, expected: string): never {
    throw new InputError(`${this.cel.file}: ${path}: is ${shown(value)}: expected ${expected}`);
  }

  /** @param what what is named, such as `table` */
  known(what: string, name: string, names: readonly string[], path: string): void {
    if (!names.includes(name)) throw new InputError(`${this.cel.file}: ${path}: ${unknownName(what, name, names)}`);
  }

  table(name: string, path: string): ScenarioTable {
    this.known('table', name, this.tables, path);
    return this.scenario.tables[name]!;
  }

  level(name: string | undefined, path: string): void {
    if (name !== undefined) this.known('level', name, this.scenario.levels, path);
  }

  tool(name: string, path: string): ScenarioTool {
    const { tools } = this.scenario;
    this.known(
      'tool',
      name,
      tools.map((tool) => tool.name),
      path,
    );
    return tools.find((tool) => tool.name === name)!;
  }

  expression(cel: string, names: Names, path: string): void {
    this.cel.check(cel, { ...names, tables: this.tables }, path);
  }

  /** @param names what the template may name; a name with fields is named with one of them, any other without */
  template(template: Template, names: Names, path: string): void {
    if (hasLooseBrace(template)) this.fail(path, template, 'braces only around names, such as {day}');
    for (const place of placesIn(template)) {
      const [name = '', field] = place.split('.');
      this.known('name', name, Object.keys(names), path);
      const fields = names[name] ?? null;
      if (field !== undefined && !fields) this.fail(path, template, `{${name}} without a field`);
      if (field === undefined && fields) this.fail(path, template, `{${name}.FIELD}, where FIELD is one of ${fields.join(', ')}`);
      if (field !== undefined) this.known(`field of ${name}`, field, fields!, path);
    }
  }

  unique(names: readonly string[], path: string): void {
    const twice = names.find((name, i) => names.indexOf(name) !== i);
    if (twice !== undefined) this.fail(path, twice, 'each name once');
  }
}
