/** @file Demonstrators and scripted customers write the conversations of `mua synthesize`, in threads. */
import { availableParallelism } from 'node:os';
import type { Synthesis } from '../training/synthesize.ts';
import { type Listener, type Part, playParts } from './synthesis-part.ts';
import type { PlayedPlaces, Playing } from './synthesis-job.ts';

export async function playDemonstrators({ job, orders, journal, kept }: Playing): Promise<PlayedPlaces> {
  const parts = orders.map((order, i): Part => ({ order, world: job.places[i]!.world, done: journal.played(i) }));
  const listeners = orders.map((_, place): Listener => ({
    played: (tried) => journal.add(tried.map(([task, played]) => ({ place, task, played }))),
    kept: (count) => kept(place, count),
  }));
  const places = await playParts(parts, Math.min(job.threads ?? availableParallelism(), parts.length), listeners);
  const misses = places.flatMap(({ near_misses: one }) => one ?? []);
  return { places, ...(misses.length > 0 && { near_misses: sumOf(misses) }) };
}

type Misses = NonNullable<Synthesis['near_misses']>;

function sumOf(misses: readonly Misses[]): Misses {
  const kept = { ...misses[0]!.kept };
  for (const one of misses.slice(1)) for (const kind of Object.keys(kept) as (keyof typeof kept)[]) kept[kind] += one.kept[kind];
  return { kept, dropped: misses.reduce((all, { dropped }) => all + dropped, 0) };
}
