/** @file The work of `mua synthesize`: plays its places, mixes what is kept, and writes the file and its card. */
import type { SynthesizedConversation } from '../records/dataset.ts';
import type { EndpointConfig } from '../records/user.ts';
import type { Attempt } from '../records/written.ts';
import type { PlaceReport, SynthesisReport } from '../synthesis/funnel.ts';
import { mixed, portions } from '../training/mix.ts';
import type { PlaceOrder } from '../training/synthesize-place.ts';
import type { Writers } from '../training/write-places.ts';
import { writtenCard } from './card-file.ts';
import { errorOfWork } from './errors.ts';
import { onInterrupt, writeAll } from './files.ts';
import type { ProgressBar } from './progress.ts';
import { playDemonstrators } from './synthesis-demonstrators.ts';
import { Journal } from './synthesis-journal.ts';
import type { PlayedPlace, PlayedPlaces, Playing, SynthesisJob } from './synthesis-job.ts';
import type { Place } from './synthesis-places.ts';
import { playWriters } from './synthesis-writers.ts';

/** The output depends on neither the threads nor an interruption. */
export async function synthesizeFile(job: SynthesisJob, progress: ProgressBar): Promise<{ out: string } & SynthesisReport> {
  const { places, count, demonstrator, side, nearMiss, settings, seed, out, writers, answerer } = job;
  const counts = portions(places.map(({ share }) => share), count); // prettier-ignore
  const decisive = {
    places: places.map(({ domain, level, world }, i) => ({ domain, level, count: counts[i], ...(world && { world: world.sha256 }) })),
    demonstrator,
    side,
    seed,
    near_miss: nearMiss ?? 0,
    set: settings,
    ...(answerer && { answerer: answerer.kind === 'llm' ? { ...answerer, endpoint: decisiveServer(answerer.endpoint) } : answerer }),
    ...(writers && decisiveOf(writers)),
  };
  const journal = await Journal.open(out, decisive, job.resume ?? false);
  const forget = onInterrupt(() => journal.close());
  const orders = places.map(({ domain, level }, i): PlaceOrder => ({
    domain,
    level,
    count: counts[i]!,
    ...(demonstrator !== 'both' && { styles: [demonstrator] }),
    side,
    seed,
    ...(nearMiss !== undefined && { near_misses: nearMiss }),
    settings,
  }));
  try {
    progress.phase('playing conversations');
    const earlier = counts.map((most, i) => Math.min(most, keptBefore(journal, i, side)));
    const playing = { job, orders, journal, progress, kept: progressOf(places, counts, earlier, progress) };
    const made = await (writers ? playWriters(playing, writers) : playDemonstrators(playing));
    const rows = mixedRows(places, made.places, seed);
    const report = reportOf(places, made, journal.seconds);
    const jsonl = rows.map((row) => `${JSON.stringify(row)}\n`).join('');
    await writeAll({ [out]: jsonl, ...(job.card !== undefined && { [job.card]: writtenCard({ ...job, jsonl, rows, report }) }) });
    await journal.remove();
    return { out, ...report };
  } catch (error) {
    const continuation = await journal.close();
    const { name, message } = error as Error;
    throw errorOfWork({ name, message: journal.isEmpty ? message : `${message}. ${continuation}` });
  } finally {
    forget();
    progress.clear();
  }
}

/** What decides the conversations of language models. */
function decisiveOf({ agent, customer, tries }: Writers): Record<string, unknown> {
  return {
    ...(agent && { agent: { ...agent, server: decisiveServer(agent.server) } }),
    ...(customer && { customer: decisiveServer(customer) }),
    tries,
  };
}

/** What decides the answers of a server. Keys, prices and budgets do not. */
function decisiveServer({ apiKey: _, budget: _budget, promptPrice: _prompt, completionPrice: _completion, ...server }: EndpointConfig) {
  return server;
}

/** The number of conversations of a place that a stopped command kept. */
function keptBefore(journal: Journal, place: number, side: SynthesisJob['side']): number {
  const played = [...journal.played<SynthesizedConversation | Attempt | null>(place).values()];
  return played.filter((one) => one && ('refused' in one ? !one.refused : one.reward === 1 || side === 'customer')).length;
}

/** @param earlier the conversations of each place that were kept before */
function progressOf(
  places: readonly Place[],
  counts: readonly number[],
  earlier: readonly number[],
  progress: ProgressBar,
): Playing['kept'] {
  const kept = [...earlier];
  const sum = (numbers: readonly number[]) => numbers.reduce((all, n) => all + n, 0);
  const show = () => {
    const open = places.flatMap(({ domain }, i) => (kept[i]! > 0 && kept[i]! < counts[i]! ? [`${domain} ${kept[i]}/${counts[i]}`] : []));
    progress.update(sum(kept), sum(counts), `conversations${places.length > 1 && open.length > 0 ? ` (${open.join(', ')})` : ''}`);
  };
  show();
  return (place, count) => {
    // What was played before is read again from its beginning.
    kept[place] = Math.max(earlier[place]!, count);
    show();
  };
}

type Row = PlayedPlace['conversations'][number] & { domain: string; level: string };

/** The rows of all places. A near-miss stays behind its success. */
function mixedRows(places: readonly Place[], made: readonly PlayedPlace[], seed: number): Row[] {
  const blocks = made.map(({ conversations }, i): Row[][] => {
    const { domain, level } = places[i]!;
    const own: Row[][] = [];
    for (const conversation of conversations) {
      const row = { ...conversation, domain, level };
      if (row.near_miss) own.at(-1)!.push(row);
      else own.push([row]);
    }
    return own;
  });
  return mixed(blocks, seed).flat();
}

function reportOf(places: readonly Place[], { places: made, ...more }: PlayedPlaces, seconds: number): SynthesisReport {
  const own = made.map(({ conversations, tried, solved }, i): PlaceReport => {
    const { domain, level, world } = places[i]!;
    const kept = conversations.filter(({ near_miss: spoilt }) => !spoilt).length;
    return { domain, level, ...(world && { world_sha256: world.sha256 }), tried, solved, kept };
  });
  const sum = (of: 'tried' | 'solved' | 'kept') => own.reduce((all, place) => all + place[of], 0);
  const dropped = made.reduce((all, place) => all + (place.dropped ?? 0), 0);
  return { places: own, ...(dropped > 0 && { dropped }), tried: sum('tried'), solved: sum('solved'), kept: sum('kept'), seconds, ...more };
}
