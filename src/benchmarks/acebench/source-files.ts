/** @file Finds ACEBench's files in a visitor's copy, by their names. */
import { ImportError } from '../../exchange/import-error.ts';
import { type Language, LANGUAGES } from './classes/api.ts';
import { type Kind, KINDS } from './instances.ts';

/** The source files of the classes, in the folder of a language's scenarios. */
export const CLASS_SOURCES: Readonly<Record<string, string>> = {
  MessageApi: 'phone_platform/message',
  ReminderApi: 'phone_platform/reminder',
  FoodPlatform: 'phone_platform/food_services',
  Travel: 'travel',
};

/** The source files of the prompts, without the language. */
const PROMPT_SOURCES = {
  turn: 'multi_turn/common_agent.py',
  step: 'multi_step/common_agent_step.py',
  user: 'multi_turn/APIModel_user.py',
} as const;

const QUESTIONS = /(?:^|\/)data_(en|zh)\/data_agent_(multi_turn|multi_step)\.json$/;

/** The paths of the files of one language. */
export interface CopyPaths {
  /** The tasks and the answers of each kind that the copy has. */
  tasks: Map<Kind, { questions: string; answers: string }>;
  /** JSON files of literals, or the source files by their names in `model_inference`. */
  literals: { states: string; prompts: string | undefined } | { sources: Map<string, string> };
}

/** The languages of the tasks in a copy. */
export const languagesOf = (paths: readonly string[]): Language[] =>
  LANGUAGES.filter((language) => paths.some((path) => QUESTIONS.exec(path)?.[1] === language));

/** The names of the prompts' files for a language. */
export const promptSources = (language: Language) => ({ ...PROMPT_SOURCES, rules: `prompt_${language}.py` });

/** @throws {ImportError} that names the missing file */
export function findFiles(paths: readonly string[], language: Language): CopyPaths {
  const root = rootOf(paths);
  const inRoot = paths.filter((path) => path.startsWith(root));
  const byEnd = (end: string) => inRoot.find((path) => path === end || path.endsWith(`/${end}`));
  const need = (end: string) => {
    const found = byEnd(end);
    if (found === undefined)
      throw new ImportError(root || 'the files', '', `there is no ${end}: expected the whole repository of ACEBench`);
    return found;
  };
  const tasks: CopyPaths['tasks'] = new Map();
  for (const kind of KINDS) {
    const name = `data_agent_${kind}.json`;
    const questions = byEnd(`data_${language}/${name}`);
    if (questions !== undefined) tasks.set(kind, { questions, answers: need(`data_${language}/possible_answer/${name}`) });
  }
  const states = byEnd('initial_states.json');
  if (states !== undefined) return { tasks, literals: { states, prompts: byEnd('prompts.json') } };
  const sources = new Map(Object.values(CLASS_SOURCES).map((name) => [name, need(`multi_turn/scenarios${language}/${name}.py`)]));
  for (const name of Object.values(promptSources(language))) {
    const path = byEnd(`model_inference/${name}`);
    if (path !== undefined) sources.set(name, path);
  }
  return { tasks, literals: { sources } };
}

/** The folder that has all files: the parent of `data_en`, or of `data_all`. */
export function rootOf(paths: readonly string[]): string {
  const found = paths.find((path) => QUESTIONS.test(path));
  if (found === undefined)
    throw new ImportError('the files', '', 'there is no data_en/data_agent_multi_turn.json: expected the whole repository of ACEBench');
  const folder = found.replace(QUESTIONS, '').replace(/(^|\/)data_all$/, '');
  return folder && `${folder}/`;
}
