/** @file Reads ACEBench Agent from a visitor's copy. Literals of its Python source are read; nothing of it is run. */
import { loads } from '../../python/json.ts';
import { itemOf, iterate } from '../../python/operations.ts';
import { Dict, type Value } from '../../python/values.ts';
import { ImportError } from '../../exchange/import-error.ts';
import type { Language } from './classes/api.ts';
import { dictOf, textOf, textsOf, wrongField } from '../python-fields.ts';
import { jsonLines, readIn, type Source } from '../python-copy.ts';
import { CLASSES } from './classes/index.ts';
import type { Kind, Setting, States } from './instances.ts';
import { type Prompts, promptsFromJson, promptsFromSource } from './prompts.ts';
import { statesFromJson, statesFromSource } from './read-states.ts';
import { type CopyPaths, findFiles, promptSources } from './source-files.ts';

export interface Entry extends Setting {
  id: string;
  question: string;
  functions: Value[];
  /** The expected attributes of each class. */
  truth: Dict[];
  /** The messages of a solution, or several such lists. */
  milestones: string[] | string[][];
}

/** The tasks of one language. */
export interface AceData {
  language: Language;
  entries: ReadonlyMap<string, Entry>;
  states: States;
  /** Absent if the copy has no prompts. */
  prompts?: Prompts;
}

/** @param text reads a file @throws {ImportError} that names the file and the reason */
export async function readAce(paths: readonly string[], language: Language, text: (path: string) => Promise<string>): Promise<AceData> {
  const files = findFiles(paths, language);
  const lines = async (path: string) => jsonLines(path, await text(path));
  const entries = new Map<string, Entry>();
  for (const [kind, { questions, answers }] of files.tasks) {
    const solved = new Map(
      (await lines(answers)).map(({ line, value }) => readIn(answers, `line ${line}`, () => [idOf(value), answerOf(value)] as const)),
    );
    for (const { line, value } of await lines(questions))
      readIn(questions, `line ${line}`, () => {
        const id = idOf(value);
        const answer = solved.get(id);
        if (!answer) throw new ImportError(answers, '', `there is no answer to ${id}, which is in ${questions}`);
        entries.set(id, { id, ...taskOf(value, language, kind), ...answer });
      });
  }
  return { language, entries, ...(await readLiterals(files.literals, language, text)) };
}

async function readLiterals(
  literals: CopyPaths['literals'],
  language: Language,
  text: (path: string) => Promise<string>,
): Promise<Pick<AceData, 'states' | 'prompts'>> {
  if ('states' in literals) {
    const json = async (path: string) => {
      const content = await text(path);
      return readIn(path, '', () => loads(content));
    };
    const states = await json(literals.states);
    const prompts = literals.prompts === undefined ? undefined : await json(literals.prompts);
    return {
      states: readIn(literals.states, '', () => statesFromJson(states, language)),
      ...(prompts !== undefined && { prompts: readIn(literals.prompts!, '', () => promptsFromJson(prompts, language)) }),
    };
  }
  const sources = new Map<string, Source>();
  for (const [name, path] of literals.sources) sources.set(name, { path, text: await text(path) });
  const source = (name: string) => sources.get(name)!;
  const hasPrompts = Object.values(promptSources(language)).every((name) => sources.has(name));
  return { states: statesFromSource(source), ...(hasPrompts && { prompts: promptsFromSource(source, language) }) };
}

/** The names of known classes. @throws if a name is unknown */
function checkClasses(names: readonly string[], where: string): void {
  const unknown = names.find((name) => !Object.hasOwn(CLASSES, name));
  if (unknown !== undefined) throw new Error(`${where} has "${unknown}": expected ${Object.keys(CLASSES).join(', ')}`);
}

const idOf = (one: Value): string => textOf(itemOf(one, 'id'), 'id');

function taskOf(one: Value, language: Language, kind: Kind): Omit<Entry, 'id' | 'truth' | 'milestones'> {
  const involved = textsOf(itemOf(one, 'involved_classes'), 'involved_classes');
  checkClasses(involved, 'involved_classes');
  const functions = itemOf(one, 'function');
  return {
    language,
    kind,
    involved,
    config: dictOf(itemOf(one, 'initial_config'), 'initial_config'),
    question: textOf(itemOf(one, 'question'), 'question'),
    functions: Array.isArray(functions) ? functions : [functions],
  };
}

function answerOf(answer: Value): Pick<Entry, 'truth' | 'milestones'> {
  const own = itemOf(answer, 'ground_truth');
  const truth = Array.isArray(own) ? own : [own];
  if (!truth.every((one) => one instanceof Dict && one.values().every((value) => value instanceof Dict)))
    throw wrongField(own, 'ground_truth', 'a list of objects with the attributes of a class');
  const lists = iterate(itemOf(answer, 'mile_stone'));
  const milestones = Array.isArray(lists[0]) ? lists.map((list) => textsOf(list, 'mile_stone')) : textsOf(lists, 'mile_stone');
  return { truth: truth as Dict[], milestones };
}
