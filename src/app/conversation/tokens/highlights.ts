/** @file The highlights of a conversation: strong pushes of the update, uncertain choices, flips, database writes, and broken rules. */
import type { Trajectory } from '../../../records/trajectory.ts';
import { brokenCalls, noViolations } from '../../labels/labels.ts';
import { number } from '../../kit/format.ts';
import { type MarkSource, quoted } from './marks.ts';
import { annotation, type Span } from './sequence.ts';

export type HighlightKind = 'push' | 'uncertain' | 'flip' | 'write' | 'violation';

export interface Highlight {
  kind: HighlightKind;
  /** Position in the whole sequence. For a write and a violation: the token at which the name of the called tool begins. */
  position: number;
  sentence: string;
}

export interface HighlightGroup {
  kind: HighlightKind;
  label: string;
  /** The highlights of this kind, the strongest first. */
  highlights: Highlight[];
  /** How many highlights of this kind are not listed; 0 for pushes and choices, because these rank all sampled tokens. */
  more: number;
  /** Why there are no highlights of this kind; '' if there are some. */
  reason: string;
}

export type HighlightSource = Pick<MarkSource, 'sequence' | 'values' | 'second' | 'vocabulary' | 'text'> & {
  trajectory: Pick<Trajectory, 'violations' | 'task' | 'foreign'>;
};

/** The number of highlights that are listed of each kind. */
const KEPT = 3;
/** In nats. With less entropy than this, the agent was sure of its token, so the token is not an uncertain choice. */
const LEAST_ENTROPY = 0.01;
const LEAST_PUSH = 1e-6;

type Found = Omit<HighlightGroup, 'kind' | 'label'>;

/** All kinds of highlights, ranked within each kind. A kind without highlights has a reason. */
export function highlightsOf(source: HighlightSource): HighlightGroup[] {
  return [
    { kind: 'push', label: 'Strongest pushes (approximate)', ...pushes(source) },
    { kind: 'uncertain', label: 'Most uncertain choices', ...choices(source) },
    { kind: 'flip', label: source.second ? `Flips by ${source.second.name}` : 'Flips by the update', ...flips(source) },
    { kind: 'write', label: 'Writes to the database', ...writes(source) },
    { kind: 'violation', label: 'Broken rules', ...violations(source) },
  ];
}

/** The highlights at each position, in the order of the conversation. */
export function byPosition(groups: readonly HighlightGroup[]): ReadonlyMap<number, Highlight[]> {
  const found = new Map<number, Highlight[]>();
  for (const highlight of groups.flatMap(({ highlights }) => highlights).toSorted((a, b) => a.position - b.position))
    found.set(highlight.position, [...(found.get(highlight.position) ?? []), highlight]);
  return found;
}

/** The next (1) or previous (-1) of `positions`, which are in rising order. The first follows the last. Null if there are no positions. */
export function stepPosition(positions: readonly number[], from: number | null, offset: 1 | -1): number | null {
  const next = offset > 0 ? positions.find((at) => at > (from ?? -1)) : positions.findLast((at) => at < (from ?? Infinity));
  return next ?? positions.at(offset > 0 ? 0 : -1) ?? null;
}

/** A share in percent, with three significant digits. */
const percent = (share: number) => `${number(100 * share)} %`;
const rows = (count: number) => `${count} ${count === 1 ? 'row' : 'rows'}`;
const absent = (reason: string): Found => ({ highlights: [], more: 0, reason });
const SAMPLED_NOTHING = 'The agent sampled no token in this conversation.';

/** The positions with the largest sizes, the largest first. NaN is ignored. Needs only one pass, because a conversation may be long. */
function largest(length: number, size: (position: number) => number, least: number): { positions: number[]; count: number } {
  const best: { position: number; size: number }[] = [];
  let count = 0;
  for (let position = 0; position < length; position++) {
    const own = size(position);
    if (!(own >= least)) continue;
    count += 1;
    if (best.length === KEPT && own <= best.at(-1)!.size) continue;
    best.splice(best.findLastIndex((other) => other.size >= own) + 1, 0, { position, size: own });
    best.length = Math.min(best.length, KEPT);
  }
  return { positions: best.map(({ position }) => position), count };
}

function pushes(source: HighlightSource): Found {
  const { sequence, values } = source;
  if (!sequence.mask.includes(1)) return absent(SAMPLED_NOTHING);
  const { positions } = largest(sequence.length, (t) => Math.abs(values.pressure[t]!), LEAST_PUSH);
  if (positions.length === 0)
    return absent(
      values.advantage.some((value) => !Number.isNaN(value))
        ? 'The advantage of this rollout is 0, so its reward did not push its tokens.'
        : 'No advantage is stored for this conversation. Only rollouts that a run trained on have one.',
    );
  const highlights = positions.map((position): Highlight => {
    const push = values.pressure[position]!;
    const change = values.delta_p[position]!;
    const product = `advantage ${number(values.advantage[position]!)} × (1 − ${percent(Math.exp(values.logprob[position]!))})`;
    const then =
      Number.isNaN(change) || change === 0
        ? ''
        : ` The update ${change > 0 ? 'raised' : 'lowered'} its probability by ${number(100 * Math.abs(change))} percentage points.`;
    return {
      kind: 'push',
      position,
      sentence: `${quoted(source, position)} was pushed ${push > 0 ? 'up' : 'down'} by ${number(Math.abs(push))}: ${product}.${then}`,
    };
  });
  return { highlights, more: 0, reason: '' };
}

function choices(source: HighlightSource): Found {
  const { sequence, values, second } = source;
  const known = (name: 'entropy' | 'by_entropy') => values[name].some((value) => !Number.isNaN(value));
  if (!sequence.mask.includes(1)) return absent(SAMPLED_NOTHING);
  const name = known('entropy') ? 'entropy' : known('by_entropy') ? 'by_entropy' : null;
  if (!name) return absent('Entropy is not stored for this conversation. Choose weights under “Scored by” to compute it.');
  const { positions } = largest(sequence.length, (t) => values[name][t]!, LEAST_ENTROPY);
  if (positions.length === 0) return absent(`The agent was sure of every token: no entropy is above ${LEAST_ENTROPY} nats.`);
  const likeliest = topBefore(source);
  const highlights = positions.map((position): Highlight => {
    const entropy = `entropy ${number(values[name][position]!)} nats${name === 'by_entropy' ? ` by ${second!.name}` : ''}`;
    const chosen = `${quoted(source, position)} was sampled with probability ${percent(Math.exp(values.logprob[position]!))}, ${entropy}.`;
    const top = likeliest(position);
    const other =
      top && top.id !== sequence.ids[position] ? ` The most likely token was ${quoted(source, position, top.id)}, ${percent(top.p)}.` : '';
    return { kind: 'uncertain', position, sentence: chosen + other };
  });
  return { highlights, more: 0, reason: '' };
}

interface Top {
  id: number;
  p: number;
}

/** Returns a function that reads the most likely token at a position from the annotations `name_…`. It returns null if none is stored. */
function stored({ sequence }: HighlightSource, name: string): (position: number) => Top | null {
  const [ids, logprobs] = [annotation(sequence, `${name}_id`), annotation(sequence, `${name}_logprob`)];
  return (t) => (Number.isNaN(ids[t]!) ? null : { id: ids[t]!, p: Math.exp(logprobs[t]!) });
}

/** Reads the token that was most likely at sampling. If it is not stored, a sampled token with a probability over 50 % is that token. */
function topBefore(source: HighlightSource): (position: number) => Top | null {
  const known = stored(source, 'top_1');
  return (t) => {
    const p = Math.exp(source.values.logprob[t]!);
    return known(t) ?? (p > 0.5 ? { id: source.sequence.ids[t]!, p } : null);
  };
}

function flips(source: HighlightSource): Found {
  const { sequence, second } = source;
  const sampled = sequence.mask.reduce((sum, m) => sum + m, 0);
  if (sampled === 0) return absent(SAMPLED_NOTHING);
  const before = topBefore(source);
  const updated = stored(source, 'after_top_1');
  const after = second
    ? (t: number): Top => ({
        id: second.scores.top.ids[t * second.scores.top.k]!,
        p: Math.exp(second.scores.top.logprobs[t * second.scores.top.k]!),
      })
    : updated;
  let compared = 0;
  const { positions, count } = largest(
    sequence.length,
    (t) => {
      if (!sequence.mask[t]) return NaN;
      const [then, now] = [before(t), after(t)];
      if (!then || !now) return NaN;
      compared += 1;
      return then.id === now.id ? NaN : now.p;
    },
    0,
  );
  if (compared === 0)
    return absent(
      'The most likely tokens before and after the update are not stored for this conversation. Choose weights under “Scored by” to compare with them.',
    );
  const by = second ? `by ${second.name}` : 'after the update';
  if (count === 0)
    return absent(
      `The most likely token ${by} is the same ${compared === sampled ? 'everywhere' : `at all ${compared} tokens where both are known`}.`,
    );
  const highlights = positions.map((position): Highlight => {
    const [then, now] = [before(position)!, after(position)!];
    const name = (top: Top) => `${quoted(source, position, top.id)} (${percent(top.p)})`;
    return { kind: 'flip', position, sentence: `The most likely token was ${name(then)}; ${by} it is ${name(now)}.` };
  });
  return { highlights, more: count - positions.length, reason: '' };
}

/** The tool calls that have a result: each result, and the position of the token at which the tool's name begins. */
function calls({ sequence: { spans }, text }: HighlightSource): { result: NonNullable<Span['node']['toolResult']>; position: number }[] {
  return spans.flatMap(({ node: { toolResult } }, i) => {
    const made = toolResult && spans.slice(0, i).findLast(({ node }) => node.role === 'assistant');
    return made ? [{ result: toolResult, position: nameAt(made, toolResult.name, text?.pieces) }] : [];
  });
}

function nameAt({ node, start, end }: Span, name: string, pieces: readonly string[] | undefined): number {
  const begin = pieces ? pieces.slice(start, end).join('').indexOf(`"${name}"`) + 1 : 0;
  let length = 0;
  for (let t = start; t < end && begin > 0; t++) {
    length += pieces![t]!.length;
    if (length > begin) return t;
  }
  return start + Math.max(0, node.mask.indexOf(1));
}

function writes(source: HighlightSource): Found {
  const wrote = calls(source)
    .filter(({ result }) => !result.error && result.changes.length > 0)
    .sort((a, b) => b.result.changes.length - a.result.changes.length);
  if (wrote.length === 0)
    return absent(
      source.trajectory.foreign ? 'The file does not say that a call changed rows.' : 'No call of the agent changed the database.',
    );
  const highlights = wrote.slice(0, KEPT).map(({ result: { name, changes }, position }): Highlight => {
    const [{ table, key }] = changes as [(typeof changes)[number]];
    const where = changes.length === 1 ? `${table} ${key}` : [...new Set(changes.map((change) => change.table))].join(', ');
    return { kind: 'write', position, sentence: `${name} changed ${rows(changes.length)}: ${where}.` };
  });
  return { highlights, more: wrote.length - highlights.length, reason: '' };
}

function violations(source: HighlightSource): Found {
  const { violations: broken, task } = source.trajectory;
  const made = new Map(calls(source).map((call) => [call.result.index, call]));
  const highlights = [...brokenCalls(broken)].flatMap(([call, rules]): Highlight[] => {
    const found = made.get(call);
    if (!found) return [];
    return rules.map((rule) => ({ kind: 'violation', position: found.position, sentence: `${found.result.name}: the agent ${rule}.` }));
  });
  if (highlights.length === 0) return absent(noViolations(task.domain));
  return { highlights: highlights.slice(0, KEPT), more: Math.max(0, highlights.length - KEPT), reason: '' };
}
