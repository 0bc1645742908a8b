/** @file Imports BFCL Multi Turn. The database is the texts of its files, so that 5 and 5.0 stay apart in storage. */
import { loadsLines } from '../../python/json.ts';
import { itemOf } from '../../python/operations.ts';
import { str } from '../../python/text.ts';
import type { Json } from '../../records/json.ts';
import { ImportError } from '../../exchange/import-error.ts';
import type { WorldTables } from '../../environments/overlay.ts';
import type { BenchmarkFiles } from '../definition.ts';
import { type BfclData, readBfcl } from './data.ts';
import { portable } from '../../domains/multiturn/portable.ts';
import { STEPS } from './rules.ts';
import { CATEGORIES, DOCUMENTS, folderOf, hasQuestions, QUESTIONS_NAME } from './source-files.ts';
import { bfclTask, type BfclTask } from './task.ts';

export const DOMAIN = 'multiturn';
/** The split with the entries of all categories. */
export const ALL = 'all';

type Texts = Record<string, string>;

/** The parsed data of each database. */
const parsed = new WeakMap<object, Promise<BfclData>>();

/** @param database the texts of the files, as `bfclFiles.open` returns them */
export function dataOf(database: Json): Promise<BfclData> {
  const { files } = database as { files: Texts };
  let data = parsed.get(files);
  if (!data) parsed.set(files, (data = readBfcl(Object.keys(files), async (path) => files[path]!)));
  return data;
}

export const bfclFiles: BenchmarkFiles<BfclTask> = {
  help: 'the folder `bfcl_eval` of BFCL’s repository (gorilla, `berkeley-function-call-leaderboard`) or of the installed Python package `bfcl-eval`. The literals of its Python files are read; nothing is run.',
  expected: () => QUESTIONS_NAME,
  withoutPolicy: true,
  find({ path, files, all }) {
    if (/(^|\/)possible_answer$/.test(path) || !hasQuestions(files.keys())) return null;
    const root = folderOf([...files.values()]);
    return { domain: DOMAIN, files: new Map(all.filter((one) => one.startsWith(root)).map((one) => [one.slice(root.length), one])) };
  },
  async open({ files: named }, files) {
    const texts: Texts = {};
    // Only the files that are needed are read, and only they are stored.
    const names = new Map([...named].map(([name, path]) => [path, name]));
    const data = await readBfcl([...names.keys()], async (path) => (texts[names.get(path)!] = await files.text(path)));
    parsed.set(texts, Promise.resolve(data));
    return { domain: DOMAIN, database: { files: texts } };
  },
  async read({ candidate, database }) {
    const data = await dataOf(database);
    if (!data.prompts)
      throw new ImportError(
        candidate.folder || 'the files',
        '',
        'there is no constants/default_prompts.py: expected the whole folder bfcl_eval',
      );
    const { stepLimit } = data.prompts;
    if (stepLimit !== STEPS)
      throw new ImportError(candidate.folder || 'the files', 'MAXIMUM_STEP_LIMIT', `it is ${stepLimit}: expected ${STEPS}, as in BFCL V3`);
    const entries = [...data.entries.values()];
    const splits = Object.fromEntries(
      CATEGORIES.map((category): [string, string[]] => [
        category,
        entries.filter((one) => one.category === category).map(({ id }) => id),
      ]).filter(([, ids]) => ids.length > 0),
    );
    return {
      tables: tablesOf(database),
      tasks: entries.map((entry) => bfclTask(data, entry)),
      splits: { [ALL]: entries.map(({ id }) => id), ...splits },
      absent: {},
      policy: '',
    };
  },
  fileOf: () => QUESTIONS_NAME,
};

/** What the page shows as tables: the functions of each class. @throws {ImportError} if a document is no JSON */
export function tablesOf(database: Json): WorldTables {
  const { files } = database as { files: Texts };
  return new Map(
    Object.entries(DOCUMENTS).map(([className, name]) => {
      const path = Object.keys(files).find((one) => one.endsWith(`multi_turn_func_doc/${name}.json`))!;
      const functions = loadsLines(files[path]!, (line, reason) => new ImportError(path, `line ${line}`, reason));
      return [className, new Map(functions.map(({ value }) => [str(itemOf(value, 'name')), portable(value)]))];
    }),
  );
}
