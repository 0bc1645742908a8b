/** @file Reads an experiment from TOML, the format of `mua experiment` and of the page's form. docs/cli.md describes it. */
import { parse, TomlError } from 'smol-toml';
import type { Experiment, Overrides } from '../records/experiment.ts';
import { ImportError } from '../exchange/import-error.ts';
import { checkExperiment } from './check.ts';

/** The largest number of characters in a file. */
const LONGEST = 200_000;

/** The file's table. @param file the name of the file, for error messages @throws ImportError that names the line */
export function readTable(text: string, file: string): Record<string, unknown> {
  if (text.length > LONGEST) throw new ImportError(file, '', `has ${text.length} characters: expected at most ${LONGEST}`);
  try {
    return parse(text);
  } catch (error) {
    if (!(error instanceof TomlError)) throw error;
    throw new ImportError(
      file,
      `line ${error.line}`,
      `is not TOML: ${error.message.split('\n')[0]!.replace(/^Invalid TOML document: /, '')}`,
    );
  }
}

/**
 * @param file the name of the file, for error messages
 * @param played the domain and level of a base that names none
 * @throws ImportError that names the field, its value and what was expected
 */
export function readToml(text: string, file: string, played?: Overrides): Experiment {
  const { base, variants, evaluation, ...rest } = readTable(text, file);
  return checkExperiment(
    {
      ...rest,
      base: withPlace(withFlat(base), played),
      variants: Array.isArray(variants) ? variants.map(withFlat) : variants,
      ...(evaluation !== undefined && { evaluation: flat(evaluation) }),
    },
    file,
  );
}

/** Converts nested tables to settings with dotted names, because TOML reads `val_kwargs.do_sample = true` as a table in a table. */
function flat(value: unknown, prefix = ''): unknown {
  if (!isTable(value)) return value;
  return Object.fromEntries(
    Object.entries(value).flatMap(([name, inner]): [string, unknown][] =>
      isTable(inner) ? Object.entries(flat(inner, `${prefix}${name}.`) as object) : [[prefix + name, inner]],
    ),
  );
}

const withFlat = (value: unknown): unknown =>
  isTable(value) && value.overrides !== undefined ? { ...value, overrides: flat(value.overrides) } : value;

function withPlace(base: unknown, played: Overrides | undefined): unknown {
  if (!played || !isTable(base)) return base;
  const { overrides = {} } = base;
  return isTable(overrides) && overrides.domain === undefined ? { ...base, overrides: { ...played, ...overrides } } : base;
}

const isTable = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof Date);
