/** @file The work of `mua synthesize`: plays its places, mixes what is kept, and writes the file and its card. */
import { availableParallelism } from 'node:os';
import type { SynthesizedConversation } from '../records/dataset.ts';
import type { SynthesisReport } from '../synthesis/funnel.ts';
import { mixed, portions } from '../training/mix.ts';
import type { Synthesis } from '../training/synthesize.ts';
import { writtenCard } from './card-file.ts';
import { errorOfWork } from './errors.ts';
import { onInterrupt, writeAll } from './files.ts';
import type { ProgressBar } from './progress.ts';
import { Journal } from './synthesis-journal.ts';
import { type Listener, type Part, playParts } from './synthesis-part.ts';
import type { Place } from './synthesis-places.ts';

export interface SynthesisJob {
  places: readonly Place[];
  count: number;
  demonstrator: 'careful' | 'brisk' | 'both';
  side: 'agent' | 'customer';
  nearMiss?: number | undefined;
  settings: Record<string, string>;
  seed: number;
  threads?: number | undefined;
  out: string;
  /** The command as its card shows it. */
  command: string;
  resume?: boolean | undefined;
  card?: string | undefined;
  name?: string | undefined;
  licence?: string | undefined;
}

/** The output depends on neither the threads nor an interruption. */
export async function synthesizeFile(job: SynthesisJob, progress: ProgressBar): Promise<{ out: string } & SynthesisReport> {
  const { places, count, demonstrator, side, nearMiss, settings, seed, out } = job;
  const start = performance.now();
  const counts = portions(places.map(({ share }) => share), count); // prettier-ignore
  const decisive = {
    places: places.map(({ domain, level, world }, i) => ({ domain, level, count: counts[i], ...(world && { world: world.sha256 }) })),
    demonstrator,
    side,
    seed,
    near_miss: nearMiss ?? 0,
    set: settings,
  };
  const journal = await Journal.open(out, decisive, job.resume ?? false);
  const forget = onInterrupt(() => journal.close());
  const kept = places.map(() => 0);
  const tell = () => {
    const open = places.flatMap(({ domain }, i) => (kept[i]! > 0 && kept[i]! < counts[i]! ? [`${domain} ${kept[i]}/${counts[i]}`] : []));
    const all = kept.reduce((sum, n) => sum + n, 0);
    progress.update(all, count, `conversations${places.length > 1 && open.length > 0 ? ` (${open.join(', ')})` : ''}`);
  };
  const parts = places.map(({ domain, level, world }, i): Part => ({
    order: {
      domain,
      level,
      count: counts[i]!,
      ...(demonstrator !== 'both' && { styles: [demonstrator] }),
      side,
      seed,
      ...(nearMiss !== undefined && { near_misses: nearMiss }),
      settings,
    },
    world,
    done: journal.played(i),
  }));
  const listeners = places.map((_, place): Listener => ({
    played: (tried) => journal.add(tried.map(([task, played]) => ({ place, task, played }))),
    kept: (n) => {
      kept[place] = n;
      tell();
    },
  }));
  try {
    const threads = Math.min(job.threads ?? availableParallelism(), parts.length);
    progress.phase('playing conversations');
    const made = await playParts(parts, threads, listeners);
    const rows = mixedRows(places, made, seed);
    const report = reportOf(places, made, (performance.now() - start) / 1000);
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

type Row = SynthesizedConversation & { domain: string; level: string };

/** The rows of all places. A near-miss stays behind its success. */
function mixedRows(places: readonly Place[], made: readonly Synthesis[], seed: number): Row[] {
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

function reportOf(places: readonly Place[], made: readonly Synthesis[], seconds: number): SynthesisReport {
  const own = made.map(({ conversations, tried, solved }, i) => {
    const { domain, level, world } = places[i]!;
    const kept = conversations.filter(({ near_miss: spoilt }) => !spoilt).length;
    return { domain, level, ...(world && { world_sha256: world.sha256 }), tried, solved, kept };
  });
  const sum = (of: 'tried' | 'solved' | 'kept') => own.reduce((all, place) => all + place[of], 0);
  const misses = made.flatMap(({ near_misses: one }) => one ?? []);
  return {
    places: own,
    tried: sum('tried'),
    solved: sum('solved'),
    kept: sum('kept'),
    seconds,
    ...(misses.length > 0 && { near_misses: sumOf(misses) }),
  };
}

function sumOf(misses: readonly NonNullable<Synthesis['near_misses']>[]): NonNullable<Synthesis['near_misses']> {
  const kept = { ...misses[0]!.kept };
  for (const one of misses.slice(1)) for (const kind of Object.keys(kept) as (keyof typeof kept)[]) kept[kind] += one.kept[kind];
  return { kept, dropped: misses.reduce((all, { dropped }) => all + dropped, 0) };
}
