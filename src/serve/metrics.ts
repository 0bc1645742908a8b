/** @file Counts the events of a server, and writes the counts in Prometheus' text format. Counts of several processes are added. */

/** Upper bounds of the buckets of the histogram of step times, in seconds. */
const BUCKETS = [0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 5, 30] as const;

/** The counts of one process. They can be sent to another process. */
export interface Counts {
  sessions_open: number;
  sessions_total: number;
  sessions_refused: number;
  steps: number;
  step_seconds: number;
  /** For each bound, the number of steps that took at most this time. */
  step_buckets: number[];
  /** Termination → number of episodes. */
  episodes: Record<string, number>;
  rewarded: number;
  /** Error code → number of error frames. */
  errors: Record<string, number>;
  memory_bytes: number;
}

export class Metrics {
  readonly counts: Counts = {
    sessions_open: 0,
    sessions_total: 0,
    sessions_refused: 0,
    steps: 0,
    step_seconds: 0,
    step_buckets: BUCKETS.map(() => 0),
    episodes: {},
    rewarded: 0,
    errors: {},
    memory_bytes: 0,
  };

  stepped(seconds: number): void {
    this.counts.steps += 1;
    this.counts.step_seconds += seconds;
    BUCKETS.forEach((bound, i) => {
      if (seconds <= bound) this.counts.step_buckets[i]! += 1;
    });
  }

  ended(termination: string, reward: number | null): void {
    add(this.counts.episodes, termination);
    if (reward === 1) this.counts.rewarded += 1;
  }

  failed(code: string): void {
    add(this.counts.errors, code);
  }

  snapshot(): Counts {
    return structuredClone({ ...this.counts, memory_bytes: process.memoryUsage.rss() });
  }
}

function add(counts: Record<string, number>, name: string): void {
  counts[name] = (counts[name] ?? 0) + 1;
}

/** The text of `GET /metrics`, for the counts of all processes. */
export function prometheus(all: readonly Counts[]): string {
  const sum = (value: (counts: Counts) => number) => all.reduce((total, counts) => total + value(counts), 0);
  const lines: string[] = [];
  const metric = (name: string, type: string, help: string, values: [labels: string, value: number][]) => {
    lines.push(`# HELP mua_${name} ${help}`, `# TYPE mua_${name} ${type}`);
    for (const [labels, value] of values) lines.push(`mua_${name}${labels} ${value}`);
  };
  const one = (value: (counts: Counts) => number): [string, number][] => [['', sum(value)]];
  const by = (label: string, of: (counts: Counts) => Record<string, number>): [string, number][] =>
    [...new Set(all.flatMap((counts) => Object.keys(of(counts))))]
      .sort()
      .map((name) => [`{${label}="${name}"}`, sum((counts) => of(counts)[name] ?? 0)]);
  metric('processes', 'gauge', 'Processes that serve sessions.', [['', all.length]]);
  metric(
    'sessions_open',
    'gauge',
    'Open connections.',
    one((counts) => counts.sessions_open),
  );
  metric(
    'sessions_total',
    'counter',
    'Connections that were accepted.',
    one((counts) => counts.sessions_total),
  );
  metric(
    'sessions_refused_total',
    'counter',
    'Connections that found no room.',
    one((counts) => counts.sessions_refused),
  );
  metric(
    'episodes_total',
    'counter',
    'Episodes by their end.',
    by('termination', (counts) => counts.episodes),
  );
  metric(
    'episodes_rewarded_total',
    'counter',
    'Episodes with reward 1.',
    one((counts) => counts.rewarded),
  );
  metric(
    'errors_total',
    'counter',
    'Error frames by code.',
    by('code', (counts) => counts.errors),
  );
  metric('step_seconds', 'histogram', 'Time from an act to its observation.', []);
  BUCKETS.forEach((bound, i) => lines.push(`mua_step_seconds_bucket{le="${bound}"} ${sum((counts) => counts.step_buckets[i]!)}`));
  lines.push(`mua_step_seconds_bucket{le="+Inf"} ${sum((counts) => counts.steps)}`);
  lines.push(`mua_step_seconds_sum ${sum((counts) => counts.step_seconds)}`, `mua_step_seconds_count ${sum((counts) => counts.steps)}`);
  metric(
    'resident_memory_bytes',
    'gauge',
    'Resident memory of all processes.',
    one((counts) => counts.memory_bytes),
  );
  return `${lines.join('\n')}\n`;
}
