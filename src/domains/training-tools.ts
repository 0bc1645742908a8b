/**
 * @file The worlds of simulated tools in training. This is apart from `answered.ts`: the page checks settings on its first screen, and
 * must not load what simulated tools need.
 */
import type { OpenedAnswerer } from '../scenarios/simulated/index.ts';
import { type AnswerSettings, scenarios, trainingAnswerer } from './answered.ts';

/** The worlds of `answerTraining`, by domain. */
const given = new Map<string, OpenedAnswerer>();

/** Trains on these tools in this process, whatever the settings of a run say. For answerers that need a file or a key. */
export const answerTraining = (domain: string, opened: OpenedAnswerer): void => void given.set(domain, opened);

/** The simulated tools on which a run trains. Null: the domain's own tools. @throws InputError */
export async function trainingTools(settings: AnswerSettings): Promise<OpenedAnswerer | null> {
  const opened = given.get(settings.domain);
  const answerer = trainingAnswerer(settings);
  if (opened || !answerer) return opened ?? null;
  const { scenario } = scenarios().find(({ name }) => name === settings.domain)!;
  const { openAnswerer } = await import('../scenarios/simulated/index.ts');
  return openAnswerer(await scenario!(), answerer);
}
