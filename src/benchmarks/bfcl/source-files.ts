/** @file Finds BFCL's files in a visitor's copy, by their names. */
import { ImportError } from '../../exchange/import-error.ts';

export const CATEGORIES = ['base', 'miss_func', 'miss_param', 'long_context'] as const;
export type Category = (typeof CATEGORIES)[number];

/** The documents of each class. */
export const DOCUMENTS: Readonly<Record<string, string>> = {
  GorillaFileSystem: 'gorilla_file_system',
  MathAPI: 'math_api',
  MessageAPI: 'message_api',
  TwitterAPI: 'posting_api',
  TicketAPI: 'ticket_api',
  TradingBot: 'trading_bot',
  TravelAPI: 'travel_booking',
  VehicleControlAPI: 'vehicle_control',
};

/** The name of the questions file that errors name. */
export const QUESTIONS_NAME = 'BFCL_v4_multi_turn_base.json';
const QUESTIONS = /(^|\/)BFCL_v\d+_multi_turn_(base|miss_func|miss_param|long_context)\.json$/;

/** The paths of a copy: the folder of the Python package, or files that hold its literals as JSON. */
export interface CopyPaths {
  /** The questions and the answers of each category that the copy has. */
  questions: Map<Category, { questions: string; answers: string }>;
  documents: Map<string, string>;
  /** JSON files of literals, or the source files. */
  literals: { api: string; fillers: string; prompts: string | undefined } | { sources: Map<string, string> };
}

const SOURCES = ['long_context', 'message_api', 'posting_api', 'ticket_api', 'trading_bot', 'travel_booking', 'vehicle_control'];

/** The source files of the prompts, in the package's folder. */
export const PROMPT_SOURCES = ['constants/default_prompts.py', 'utils.py'] as const;

/** Whether a folder has BFCL's questions. @param names the names of its files */
export const hasQuestions = (names: Iterable<string>): boolean => [...names].some((name) => QUESTIONS.test(name));

/** @throws {ImportError} that names the missing file */
export function findFiles(paths: readonly string[]): CopyPaths {
  const root = folderOf(paths);
  const inRoot = paths.filter((path) => path.startsWith(root));
  const byEnd = (end: string) => inRoot.find((path) => path === end || path.endsWith(`/${end}`));
  const need = (end: string) => {
    const found = byEnd(end);
    if (found === undefined)
      throw new ImportError(root || 'the files', '', `there is no ${end}: expected BFCL's package bfcl_eval, or its files`);
    return found;
  };
  const questions: CopyPaths['questions'] = new Map();
  for (const path of inRoot) {
    const [, , category] = path.includes('possible_answer/') ? [] : (QUESTIONS.exec(path) ?? []);
    if (category) {
      const name = path.slice(path.lastIndexOf('/') + 1);
      questions.set(category as Category, { questions: path, answers: need(`possible_answer/${name}`) });
    }
  }
  const documents = new Map(Object.entries(DOCUMENTS).map(([className, name]) => [className, need(`multi_turn_func_doc/${name}.json`)]));
  if (byEnd('api_tables.json') !== undefined)
    return {
      questions,
      documents,
      literals: { api: need('api_tables.json'), fillers: need('long_context.json'), prompts: byEnd('prompts.json') },
    };
  const sources = new Map(SOURCES.map((name) => [name, need(`func_source_code/${name}.py`)]));
  for (const name of PROMPT_SOURCES) if (inRoot.includes(root + name)) sources.set(name, root + name);
  return { questions, documents, literals: { sources } };
}

/** The folder that has all files: the parent of `data`, or the folder of the questions. */
export function folderOf(paths: readonly string[]): string {
  const found = paths.find((path) => QUESTIONS.test(path) && !path.includes('possible_answer/'));
  if (found === undefined)
    throw new ImportError('the files', '', `there is no ${QUESTIONS_NAME}: expected BFCL's package bfcl_eval, or its files`);
  const folder = found.slice(0, found.lastIndexOf('/') + 1);
  return folder.replace(/(^|\/)data\/$/, '$1');
}
