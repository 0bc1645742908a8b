/** @file Reads BFCL Multi Turn from a visitor's copy. Literals of its Python source are read; nothing of it is run. */
import { loads } from '../../python/json.ts';
import { itemOf } from '../../python/operations.ts';
import { Dict, type Value } from '../../python/values.ts';
import { ImportError } from '../../exchange/import-error.ts';
import { dictOf, listOf, textOf, textsOf, wrongField } from '../python-fields.ts';
import { jsonLines, readIn, type Source } from '../python-copy.ts';
import { CLASSES } from '../../domains/multiturn/classes/index.ts';
import type { Solved } from '../../domains/multiturn/check.ts';
import { fillersFromJson, type Prompts, promptsFromJson, promptsFromSource, tablesFromJson, tablesFromSource } from './read-tables.ts';
import { type Category, findFiles, PROMPT_SOURCES } from './source-files.ts';
import type { Tables } from '../../domains/multiturn/tables.ts';

export interface Entry extends Solved {
  category: Category;
  /** The user's messages of each turn. Empty in the turn in which withheld functions appear. */
  question: { role: string; content: string }[][];
  /** The names of the functions that appear at each turn. They are withheld before it. */
  missed: ReadonlyMap<number, readonly string[]>;
}

export interface BfclData {
  entries: ReadonlyMap<string, Entry>;
  /** The function documents of each class. */
  documents: ReadonlyMap<string, Dict[]>;
  tables: Tables;
  /** Absent if the copy has no prompts. */
  prompts?: Prompts;
}

/** @param contentOf reads a file @throws {ImportError} that names the file and the reason */
export async function readBfcl(paths: readonly string[], contentOf: (path: string) => Promise<string>): Promise<BfclData> {
  const files = findFiles(paths);
  const lines = async (path: string) => jsonLines(path, await contentOf(path));
  const documents = new Map<string, Dict[]>();
  for (const [className, path] of files.documents)
    documents.set(
      className,
      (await lines(path)).map(({ line, value }) => readIn(path, `line ${line}`, () => dictOf(value, 'the line'))),
    );
  const entries = new Map<string, Entry>();
  for (const [category, { questions, answers }] of files.questions) {
    const gold = new Map((await lines(answers)).map(({ line, value }) => readIn(answers, `line ${line}`, () => goldOf(value))));
    for (const { line, value } of await lines(questions))
      readIn(questions, `line ${line}`, () => {
        const id = textOf(itemOf(value, 'id'), 'id');
        const calls = gold.get(id);
        if (calls === undefined) throw new ImportError(answers, '', `there is no answer to ${id}, which is in ${questions}`);
        entries.set(id, entryOf(id, category, value, calls));
      });
  }
  return { entries, documents, ...(await readLiterals(files.literals, contentOf)) };
}

async function readLiterals(
  literals: ReturnType<typeof findFiles>['literals'],
  contentOf: (path: string) => Promise<string>,
): Promise<Pick<BfclData, 'tables' | 'prompts'>> {
  if ('api' in literals) {
    const json = async (path: string) => {
      const content = await contentOf(path);
      return readIn(path, '', () => loads(content));
    };
    const api = await json(literals.api);
    const given = await json(literals.fillers);
    const fillers = readIn(literals.fillers, '', () => fillersFromJson(given));
    const prompts = literals.prompts === undefined ? undefined : await json(literals.prompts);
    return {
      tables: readIn(literals.api, '', () => tablesFromJson(api, fillers)),
      ...(prompts !== undefined && { prompts: readIn(literals.prompts!, '', () => promptsFromJson(prompts)) }),
    };
  }
  const sources = new Map<string, Source>();
  for (const [name, path] of literals.sources) sources.set(name, { path, text: await contentOf(path) });
  const [prompts, utils] = PROMPT_SOURCES.map((name) => sources.get(name));
  return {
    tables: tablesFromSource((name) => sources.get(name)!),
    ...(prompts && utils && { prompts: promptsFromSource(prompts, utils) }),
  };
}

/** The id and the gold calls of each turn. */
const goldOf = (answer: Value): [string, string[][]] => [
  textOf(itemOf(answer, 'id'), 'id'),
  listOf(itemOf(answer, 'ground_truth'), 'ground_truth').map((turn, i) => textsOf(turn, `ground_truth[${i}]`)),
];

function entryOf(id: string, category: Category, one: Value, gold: string[][]): Entry {
  const involved = textsOf(itemOf(one, 'involved_classes'), 'involved_classes');
  const unknown = involved.find((name) => !Object.hasOwn(CLASSES, name));
  if (unknown !== undefined) throw new Error(`involved_classes has "${unknown}": expected ${Object.keys(CLASSES).join(', ')}`);
  const question = listOf(itemOf(one, 'question'), 'question').map((turn, i) =>
    listOf(turn, `question[${i}]`).map((message) => ({
      role: textOf(itemOf(message, 'role'), 'role'),
      content: textOf(itemOf(message, 'content'), 'content'),
    })),
  );
  const missed = dictOf((one as Dict).get('missed_function') ?? new Dict(), 'missed_function');
  return {
    id,
    category,
    question,
    config: dictOf(itemOf(one, 'initial_config'), 'initial_config'),
    involved,
    missed: new Map(
      missed.entries().map(([turn, names]) => {
        const n = Number(turn);
        if (!question[n]) throw wrongField(turn, 'a key of missed_function', `a turn from 0 to ${question.length - 1}`);
        return [n, textsOf(names, `missed_function.${n}`)];
      }),
    ),
    gold,
  };
}
