/** @file Reads BFCL Multi Turn from a visitor's copy. Literals of its Python source are read; nothing of it is run. */
import { loads, loadsLines } from '../../python/json.ts';
import { itemOf, iterate } from '../../python/operations.ts';
import { Dict, PyError, type Value } from '../../python/values.ts';
import { ImportError } from '../../exchange/import-error.ts';
import { CLASSES } from './classes/index.ts';
import { type Prompts, promptsFromJson, promptsFromSource, type Source, tablesFromJson, tablesFromSource } from './read-tables.ts';
import { type Category, findFiles, PROMPT_SOURCES } from './source-files.ts';
import type { Tables } from './tables.ts';

export interface Entry {
  id: string;
  category: Category;
  /** The user's messages of each turn. Empty in the turn in which withheld functions appear. */
  question: { role: string; content: string }[][];
  config: Dict;
  involved: string[];
  /** The names of the functions that appear at each turn. They are withheld before it. */
  missed: ReadonlyMap<number, readonly string[]>;
  /** The gold calls of each turn. */
  gold: string[][];
}

export interface BfclData {
  entries: ReadonlyMap<string, Entry>;
  /** The function documents of each class. */
  documents: ReadonlyMap<string, Dict[]>;
  tables: Tables;
  /** Absent if the copy has no prompts. */
  prompts?: Prompts;
}

export const isLongContext = (id: string): boolean => id.includes('long_context') || id.includes('composite');

/** @param text reads a file @throws {ImportError} that names the file and the reason */
export async function readBfcl(paths: readonly string[], text: (path: string) => Promise<string>): Promise<BfclData> {
  const files = findFiles(paths);
  const lines = async (path: string) =>
    loadsLines(await text(path), (line, reason) => new ImportError(path, `line ${line}`, `it is not JSON: ${reason}`));
  const documents = new Map<string, Dict[]>();
  for (const [className, path] of files.documents)
    documents.set(
      className,
      (await lines(path)).map((one) => asDict(one, path, className)),
    );
  const entries = new Map<string, Entry>();
  for (const [category, { questions, answers }] of files.questions) {
    const gold = new Map((await lines(answers)).map((one) => [read(answers, 'id', () => itemOf(one, 'id')), one]));
    for (const [i, one] of (await lines(questions)).entries()) {
      const where = `line ${i + 1}`;
      const id = read(questions, where, () => itemOf(one, 'id')) as string;
      const answer = gold.get(id);
      if (answer === undefined) throw new ImportError(answers, '', `there is no answer to ${id}, which is in ${questions}`);
      entries.set(
        id,
        read(questions, where, () => entryOf(id, category, one, answer)),
      );
    }
  }
  return { entries, documents, ...(await readLiterals(files.literals, text)) };
}

async function readLiterals(
  literals: ReturnType<typeof findFiles>['literals'],
  text: (path: string) => Promise<string>,
): Promise<Pick<BfclData, 'tables' | 'prompts'>> {
  if ('api' in literals) {
    const json = async (path: string) => {
      const content = await text(path);
      return read(path, '', () => loads(content));
    };
    const [api, fillers] = [await json(literals.api), await json(literals.fillers)];
    const prompts = literals.prompts === undefined ? undefined : await json(literals.prompts);
    return {
      tables: read(literals.api, '', () => tablesFromJson(api, fillers)),
      ...(prompts !== undefined && { prompts: read(literals.prompts!, '', () => promptsFromJson(prompts)) }),
    };
  }
  const sources = new Map<string, Source>();
  for (const [name, path] of literals.sources) sources.set(name, { path, text: await text(path) });
  const [prompts, utils] = PROMPT_SOURCES.map((name) => sources.get(name));
  return {
    tables: tablesFromSource((name) => sources.get(name)!),
    ...(prompts && utils && { prompts: promptsFromSource(prompts, utils) }),
  };
}

/** Names the file in errors about its content. */
function read<T>(file: string, path: string, work: () => T): T {
  try {
    return work();
  } catch (cause) {
    if (cause instanceof ImportError) throw cause;
    if (cause instanceof PyError) throw new ImportError(file, path, `a field is missing or has another type: ${cause.message}`);
    throw new ImportError(file, path, (cause as Error).message);
  }
}

function asDict(value: Value, file: string, path: string): Dict {
  if (!(value instanceof Dict)) throw new ImportError(file, path, 'expected an object in each line');
  return value;
}

function entryOf(id: string, category: Category, one: Value, answer: Value): Entry {
  const involved = iterate(itemOf(one, 'involved_classes')) as string[];
  const unknown = involved.find((name) => !Object.hasOwn(CLASSES, name));
  if (unknown !== undefined) throw new Error(`involved_classes has "${unknown}": expected ${Object.keys(CLASSES).join(', ')}`);
  const config = itemOf(one, 'initial_config');
  const missed = (one as Dict).get('missed_function') ?? new Dict();
  return {
    id,
    category,
    question: iterate(itemOf(one, 'question')).map((turn) =>
      iterate(turn).map((message) => ({ role: itemOf(message, 'role') as string, content: itemOf(message, 'content') as string })),
    ),
    config: config instanceof Dict ? config : new Dict(),
    involved,
    missed: new Map((missed as Dict).entries().map(([turn, names]) => [Number(turn), iterate(names) as string[]])),
    gold: iterate(itemOf(answer, 'ground_truth')).map((turn) => iterate(turn) as string[]),
  };
}
