/** @file The list of rollouts from which the visitor opened a rollout. The address of the rollout has this list. */
import { listOrder, RolloutIndex, type RolloutQuery } from '../run-data/rollout-filter.ts';
import { readQuery } from '../routes/routes.ts';
import type { RunData } from '../run-data/run-data.svelte.ts';

/** The text of the list without filters. An empty text means that the visitor did not come from a list. */
const ALL = 'all';

/** The filters and the order of a list as one text. */
export function listText({ at: _, ...query }: RolloutQuery): string {
  const chosen = Object.entries(query).flatMap(([name, value]) => (value === '' || value === null ? [] : [[name, String(value)]]));
  return new URLSearchParams(chosen).toString() || ALL;
}

export const readList = (text: string): RolloutQuery => readQuery('rollouts', new URLSearchParams(text));

/** The ids of the rollouts of a list, in its order. @throws Error if the storage fails while texts are searched */
export async function listedIds(data: Pick<RunData, 'rollouts' | 'texts'>, text: string, signal: AbortSignal): Promise<string[]> {
  // Lets the browser draw the page first, because a long list takes a while to sort.
  await new Promise((resolve) => setTimeout(resolve));
  signal.throwIfAborted();
  const query = readList(text);
  const words = query.q.trim();
  const found = words === '' ? null : (await data.texts.search(words, () => {}, signal)).found;
  return new RolloutIndex(listOrder(data.rollouts)).filter(query, found).rows.map(({ id }) => id);
}
