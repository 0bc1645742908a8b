/** @file The work of `mua synthesize`: plays its places, mixes what is kept, and writes the file and its card. */
import type { EndpointConfig } from '../records/user.ts';
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
    const playing = { job, orders, journal, progress, kept: progressOf(places, counts, progress) };
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

function progressOf(places: readonly Place[], counts: readonly number[], progress: ProgressBar): Playing['kept'] {
  const kept = places.map(() => 0);
  const all = counts.reduce((sum, n) => sum + n, 0);
  return (place, count) => {
    kept[place] = count;
    const open = places.flatMap(({ domain }, i) => (kept[i]! > 0 && kept[i]! < counts[i]! ? [`${domain} ${kept[i]}/${counts[i]}`] : []));
    const done = kept.reduce((sum, n) => sum + n, 0);
    progress.update(done, all, `conversations${places.length > 1 && open.length > 0 ? ` (${open.join(', ')})` : ''}`);
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
