/** @file Reads the fields of one row. Other tools write them in many forms. */
import { isObject } from '../base/json.ts';
import { InputError, parserReason, shown } from '../base/input-error.ts';
import { located } from '../exchange/checked.ts';
import { ImportError } from '../exchange/import-error.ts';

export type Row = Record<string, unknown>;

/** The number that a value means: also a boolean, a big integer or a text with a number. Undefined for all others, and for NaN. */
export function numberOf(value: unknown): number | undefined {
  const number =
    typeof value === 'boolean' || typeof value === 'bigint' || (typeof value === 'string' && value.trim() !== '') ? Number(value) : value;
  return typeof number === 'number' && Number.isFinite(number) ? number : undefined;
}

/** Whether a column has nothing in this row. NaN is the null of pandas. */
const isAbsent = (value: unknown): boolean => value === undefined || value === null || value === '' || Number.isNaN(value);

export class RowFields {
  /** @param note is told of columns that are left out */
  constructor(
    readonly row: Row,
    readonly file: string,
    readonly where: string,
    private readonly note: (line: string) => void,
  ) {}

  wrong(name: string, expected: string): ImportError {
    return new ImportError(this.file, located(this.where, name), `is ${shown(this.row[name])}: expected ${expected}`);
  }

  /** Runs `work`, and adds the file's name to its errors. */
  read<T>(work: () => T): T {
    try {
      return work();
    } catch (error) {
      if (error instanceof RangeError) throw new ImportError(this.file, this.where, parserReason(error));
      if (error instanceof ImportError || !(error instanceof InputError)) throw error;
      throw new ImportError(this.file, '', error.message);
    }
  }

  /** The value of `work`, or undefined with a note if one of its columns is wrong. */
  optional<T>(what: string, work: () => T): T | undefined {
    try {
      return work();
    } catch (error) {
      this.note(`${what} are left out where ${(error as ImportError).path.split(', ').at(-1)} does not fit`);
      return undefined;
    }
  }

  text(name: string): string | undefined {
    const value = this.row[name];
    return typeof value === 'string' || typeof value === 'number' || typeof value === 'bigint' ? String(value) : undefined;
  }

  number(name: string): number | undefined {
    if (isAbsent(this.row[name])) return undefined;
    const value = numberOf(this.row[name]);
    if (value === undefined) this.note(`column ${name} has values that are not numbers, which are left out`);
    return value;
  }

  natural(name: string): number | undefined {
    if (isAbsent(this.row[name])) return undefined;
    const value = numberOf(this.row[name]);
    if (value !== undefined && Number.isInteger(value) && value >= 0) return value;
    this.note(`column ${name} has values that are not whole numbers of at least 0, which are left out`);
    return undefined;
  }

  /** A list of numbers. What is not finite becomes null. @throws ImportError if the column is something else */
  numbers(name: string): (number | null)[] | undefined {
    const value = this.row[name];
    if (isAbsent(value)) return undefined;
    if (!Array.isArray(value) || !value.every((item) => item === null || typeof item === 'number'))
      throw this.wrong(name, 'a list of numbers');
    return value.map((item: number | null) => (Number.isFinite(item) ? item : null));
  }

  /** The first of the columns that has a value. */
  first(names: readonly string[]): string | undefined {
    return names.find((name) => !isAbsent(this.row[name]));
  }

  /**
   * The reward: the column `name`, or the sum of the columns `terms` if there is none. A list is the sum of its numbers, as for rewards by
   * token or by function. In an object it is `score` or `reward`, as in verl.
   * @throws ImportError if the value has no such form
   */
  reward(name: string | undefined, terms: readonly string[]): number | null {
    if (name === undefined) {
      const values = terms.map((term) => numberOf(this.row[term])).filter((value) => value !== undefined);
      return values.length === 0 ? null : values.reduce((sum, value) => sum + value, 0);
    }
    const given = this.row[name];
    const inner = isObject(given) ? (given.score ?? given.reward) : given;
    const all = (Array.isArray(inner) ? inner : [inner]).map(numberOf);
    if (all.length === 0 || all.includes(undefined)) throw this.wrong(name, 'a finite number');
    return all.reduce<number>((sum, value) => sum + value!, 0);
  }
}
