/** @file Refuses files of tau-bench 2, whose rules and rewards are others than those of tau2-bench 1. */
import { isObject } from '../../base/json.ts';
import { ImportError } from '../../exchange/import-error.ts';
import { REWARD_TYPES } from '../../records/benchmark-task.ts';
import type { Folder } from '../definition.ts';

/** The file of the repository that names the version. */
export const PROJECT = 'pyproject.toml';

/** The path of the project file of the repository in which a folder is. Undefined if the visitor brought only a part of it. */
export const projectOf = ({ path, all }: Pick<Folder, 'path' | 'all'>): string | undefined =>
  all
    .filter((file) => file === PROJECT || file.endsWith(`/${PROJECT}`))
    .filter((file) => `${path}/`.startsWith(file.slice(0, -PROJECT.length)))
    .sort((a, b) => b.length - a.length)[0];

const KNOWN: readonly string[] = REWARD_TYPES;

const refused = (file: string, path: string, found: string, verb = 'seem to be') =>
  new ImportError(
    file,
    path,
    `${found}: these ${verb} files of tau-bench 2, whose rules and rewards this playground lacks (its languages, frozen tasks and judged communication); expected tau2-bench 1, such as v1.0.1`,
  );

/** @param text the project file @throws {ImportError} if it is that of tau-bench 2 or later */
export function checkProject(file: string, text: string): void {
  const [project = ''] = /^\[project\][^]*?(?=^\[|(?![^]))/m.exec(text) ?? [];
  const field = (name: string) => new RegExp(`^${name}\\s*=\\s*["']([^"']+)["']`, 'm').exec(project)?.[1];
  const version = field('version');
  if (/^tau/.test(field('name') ?? '') && version !== undefined && Number.parseInt(version) >= 2)
    throw refused(file, 'project.version', `it is "${version}"`, 'are');
}

/** @param tasks the JSON value of a file of tasks @throws {ImportError} if a task has what only tasks of tau-bench 2 have */
export function checkTasks(file: string, tasks: unknown): void {
  if (!Array.isArray(tasks)) return;
  for (const [i, task] of (tasks as unknown[]).entries()) {
    if (!isObject(task)) continue;
    for (const [name, place] of [
      ['', task],
      ['user_scenario.', task.user_scenario],
    ] as const) {
      const language = isObject(place) ? (['language', 'locale'] as const).find((key) => typeof place[key] === 'string') : undefined;
      if (language) throw refused(file, `[${i}].${name}${language}`, `it is "${String((place as Record<string, unknown>)[language])}"`);
    }
    const basis = isObject(task.evaluation_criteria) ? task.evaluation_criteria.reward_basis : undefined;
    const at = Array.isArray(basis) ? basis.findIndex((type) => typeof type === 'string' && !KNOWN.includes(type)) : -1;
    if (at >= 0)
      throw refused(
        file,
        `[${i}].evaluation_criteria.reward_basis[${at}]`,
        `it is "${String((basis as unknown[])[at])}", and tau2-bench 1 has ${KNOWN.join(', ')}`,
      );
  }
}
