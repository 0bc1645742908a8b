/** @file Links that import a published run on another machine and open one of its conversations. */
import { href } from '../routes/routes.ts';
import { sourceUrl } from './fetch-bundle.ts';

const ROLLOUT = /^rollouts\/(.+)$/s;

/**
 * The address that imports the bundle at `source`, and then opens `rollout` or, if `rollout` is undefined, the run.
 * @param page the address of this page
 * @throws Error if `source` is no address that the import page reads
 */
export function importLink(page: string, source: string, rollout?: string): string {
  // A relative address is refused, because it does not work on another machine.
  if (!URL.canParse(source.trim()))
    throw new Error(`"${source.trim()}" is no whole address: expected one such as https://example.org/run.mua.zip`);
  const src = sourceUrl(source.trim(), page).href;
  return new URL(href({ name: 'import' }, { src, open: rollout === undefined ? null : `rollouts/${rollout}` }), page).href;
}

/** The id of the rollout that a link opens after the import; null if it opens the run. */
export const readOpen = (open: string): string | null => ROLLOUT.exec(open)?.[1] ?? null;
