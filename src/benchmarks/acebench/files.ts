/** @file Imports ACEBench Agent. The database is the texts of its files, so that 5 and 5.0 stay apart in storage. */
import { loads } from '../../python/json.ts';
import type { Json } from '../../records/json.ts';
import { ImportError } from '../../exchange/import-error.ts';
import type { WorldTables } from '../../environments/overlay.ts';
import type { BenchmarkFiles } from '../definition.ts';
import type { Language } from './classes/api.ts';
import { type AceData, readAce } from './data.ts';
import { KINDS, type States } from './instances.ts';
import { toJson } from './plain.ts';
import { statesFromJson, statesFromSource } from './read-states.ts';
import { findFiles, languagesOf, rootOf } from './source-files.ts';
import { aceTask, type AceTask, taskId } from './task.ts';

export const DOMAIN = 'agent';

type Texts = Record<string, string>;

/** The parsed data of each database. */
const parsed = new WeakMap<object, Promise<Map<Language, AceData>>>();

/** @param database the texts of the files, as `aceFiles.open` returns them */
export function dataOf(database: Json): Promise<Map<Language, AceData>> {
  const { files } = database as { files: Texts };
  let data = parsed.get(files);
  if (!data) parsed.set(files, (data = readAll(Object.keys(files), async (path) => files[path]!)));
  return data;
}

async function readAll(paths: readonly string[], text: (path: string) => Promise<string>): Promise<Map<Language, AceData>> {
  const data = new Map<Language, AceData>();
  for (const language of languagesOf(paths)) data.set(language, await readAce(paths, language, text));
  return data;
}

export const aceFiles: BenchmarkFiles<AceTask> = {
  help: 'the repository of ACEBench. The literals of its Python files are read; nothing is run.',
  expected: () => 'data_en/data_agent_multi_turn.json',
  withoutPolicy: true,
  find({ path, files, all }) {
    if (!languagesOf([...files.values()]).length) return null;
    // A copy has a folder for each language. The first of them stands for all.
    const root = rootOf([...files.values()]);
    const inRoot = all.filter((one) => one.startsWith(root));
    const [first] = languagesOf(inRoot);
    if (!path.endsWith(`data_${first}`)) return null;
    return { domain: DOMAIN, files: new Map(inRoot.map((one) => [one.slice(root.length), one])) };
  },
  async open({ files: named }, files) {
    const texts: Texts = {};
    // Only the files that are needed are read, and only they are stored.
    const data = await readAll([...named.keys()], async (name) => (texts[name] = await files.text(named.get(name)!)));
    parsed.set(texts, Promise.resolve(data));
    return { domain: DOMAIN, database: { files: texts } };
  },
  async read({ candidate, database }) {
    const data = [...(await dataOf(database)).values()];
    if (data.some(({ prompts }) => !prompts))
      throw new ImportError(
        candidate.folder || 'the files',
        '',
        'there are no prompts in model_inference: expected the whole repository of ACEBench',
      );
    const splits: Record<string, string[]> = {};
    for (const { language, entries } of data) {
      const own = [...entries.values()];
      splits[language] = own.map(taskId);
      for (const kind of KINDS) {
        const ids = own.filter((entry) => entry.kind === kind).map(taskId);
        if (ids.length > 0) splits[`${language}_${kind}`] = ids;
      }
    }
    return {
      tables: tablesOf(database),
      tasks: data.flatMap((own) => [...own.entries.values()].map((entry) => aceTask(own, entry))),
      splits,
      absent: {},
      policy: '',
    };
  },
  fileOf: () => 'data_en/data_agent_multi_turn.json',
};

/** What the page shows as tables: the attributes of a new object of each class. @throws {ImportError} if a file is wrong */
export function tablesOf(database: Json): WorldTables {
  const { files } = database as { files: Texts };
  const paths = Object.keys(files);
  return new Map(
    languagesOf(paths).flatMap((language) =>
      Object.entries(statesOf(files, paths, language)).map(([className, own]) => [
        `${className} (${language})`,
        new Map(Object.entries(own).map(([name, value]) => [name, toJson(value)])),
      ]),
    ),
  );
}

function statesOf(files: Texts, paths: readonly string[], language: Language): States {
  const { literals } = findFiles(paths, language);
  if ('states' in literals) return statesFromJson(loads(files[literals.states]!), language);
  return statesFromSource((name) => {
    const path = literals.sources.get(name)!;
    return { path, text: files[path]! };
  });
}
