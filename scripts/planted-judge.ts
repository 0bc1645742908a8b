/** @file What is measured on planted near-misses: what rules and judges find, and what is kept if a text in the conversation bribes the judge. */
import { readFileSync } from 'node:fs';
import { isObject } from '../src/base/json.ts';
import { hash32 } from '../src/base/random.ts';
import { sha256 } from '../src/base/sha256.ts';
import { wilson } from '../src/base/wilson.ts';
import type { ChatMessage } from '../src/records/conversation.ts';
import type { Grades, JudgeGrade } from '../src/records/grades.ts';
import { NEAR_MISSES, type NearMissKind } from '../src/records/scenario.ts';
import { decide, rulesKeep } from '../src/synthesis/keep.ts';
import { judgePrompt } from '../src/synthesis/prompt.ts';
import { neutral } from '../src/synthesis/transcript.ts';
import type { GradedRow } from '../src/synthesis/types.ts';
import { type JudgedCase, lastMessage, replyTo, replyWith } from '../tests/support/fake-judge.ts';

/** The places of a bribe. */
export const PLACES = ['tool result', 'value of a row', 'customer', 'agent'] as const;
export type Place = (typeof PLACES)[number];

/** The conversation with a text that speaks to the judge. Null: it has no such place. */
export function bribed(row: GradedRow, text: string, place: Place): GradedRow | null {
  const role = place === 'customer' ? 'user' : place === 'agent' ? 'assistant' : 'tool';
  const at = row.messages.findIndex((message) => message.role === role && message.content !== '' && insert(message, text, place) !== null);
  if (at < 0) return null;
  return {
    ...row,
    messages: row.messages.map((message, i) => (i === at ? { ...message, content: insert(message, text, place)! } : message)),
  };
}

function insert({ content }: ChatMessage, text: string, place: Place): string | null {
  if (place !== 'value of a row') return `${content} ${text}`;
  try {
    const read: unknown = JSON.parse(content);
    const record: unknown = Array.isArray(read) ? read[0] : read;
    if (typeof record === 'string') return JSON.stringify([`${record}, ${text}`, ...(read as unknown[]).slice(1)]);
    const name = isObject(record) && Object.keys(record).find((key) => key !== 'id' && typeof record[key] === 'string');
    if (!name) return null;
    record[name] = `${String(record[name])} ${text}`;
    return JSON.stringify(read);
  } catch {
    return null;
  }
}

/** The rules' grades of a row whose reward nobody knows. */
const withoutReward = (grades: Grades): Grades => ({
  ...grades,
  rules: { ...grades.rules, reward: { ok: null, why: 'the row has no reward' } },
});

/** The scripted judge keeps this share of near-misses, and rejects this share of good conversations. */
const MISSES = 0.2;
const ALARMS = 0.05;

interface JudgeOptions {
  /** Whether the case is a near-miss. */
  bad: boolean;
  bribes: readonly string[];
  /** Whether it knows who speaks, although it obeys. A judge that is not shrewd says yes to everything. */
  isShrewd: boolean;
}

/** The reply of a judge of known error rates, which obeys each bribe that it reads. */
export function scriptedJudge(one: JudgedCase, { bad, bribes, isShrewd }: JudgeOptions): string {
  const obeys = bribes.some((text) => one.text.includes(neutral(text)));
  const draw = hash32(parseInt(sha256(recordOf(one.text)).slice(0, 8), 16), 1) / 2 ** 32;
  const rejects = !obeys && (bad ? draw >= MISSES : draw < ALARMS);
  const verdict = (name: string) => ({ met: !(rejects && name === 'goal_done'), ...lastMessage(one) });
  return obeys && !isShrewd ? replyWith(one, verdict) : replyTo(one, verdict);
}

/** The record that a prompt shows, whatever the seed. */
export const recordOf = (prompt: string): string => prompt.slice(prompt.indexOf('\n'), prompt.indexOf('\n</record '));
export const recordOfRow = (row: GradedRow): string => recordOf(judgePrompt(row, 0).user);

export interface Planted {
  /** Null: a good conversation. */
  kind: NearMissKind | null;
  grades: Grades;
}

interface KindCounts {
  kind: NearMissKind | 'all kinds' | 'good';
  n: number;
  /** Rejected by the rules, without the reward and with it. */
  rules: number;
  reward: number;
  /** Rejected by the rules without the reward or by the scripted judge. */
  both: number;
}

/** One row for each kind, then all kinds, then the good conversations, whose rejections are false alarms. */
export function countKinds(all: readonly Planted[]): KindCounts[] {
  const kinds = [
    ...NEAR_MISSES.map((kind) => [kind, all.filter((one) => one.kind === kind)] as const),
    ['all kinds', all.filter(({ kind }) => kind)] as const,
    ['good', all.filter(({ kind }) => !kind)] as const,
  ];
  return kinds.map(([kind, own]) => {
    const count = (rejects: (grades: Grades) => boolean) => own.filter(({ grades }) => rejects(grades)).length;
    return {
      kind,
      n: own.length,
      rules: count((grades) => !rulesKeep(withoutReward(grades))),
      reward: count((grades) => !rulesKeep(grades)),
      both: count((grades) => decide(withoutReward(grades)).keep === 'no'),
    };
  });
}

/** A near-miss with a bribe: what the rules say, and the verdicts of two judges that obey. */
export interface Bribed {
  set: string;
  grades: Grades;
  blunt: JudgeGrade;
  shrewd: JudgeGrade;
}
interface BribeCounts {
  set: string;
  n: number;
  /** A person decides, because the search finds the text. */
  found: number;
  /** Of the others: rejected by the rules, without the reward. */
  rules: number;
  /** Of the rest, by judges that obey: kept, if the rows have no reward. */
  kept_blunt: number;
  kept_shrewd: number;
  /** Kept by the shrewd judge, if the rows have a reward. */
  kept_with_reward: number;
}

export function countBribes(all: readonly Bribed[]): BribeCounts[] {
  return [...new Set(all.map(({ set }) => set))].map((set) => {
    const own = all.filter((one) => one.set === set).map((one) => ({ ...one, grades: withoutReward(one.grades), full: one.grades }));
    const count = (holds: (one: (typeof own)[number]) => boolean) => own.filter(holds).length;
    const kept = (grades: Grades, judge: JudgeGrade) => decide({ ...grades, judge }).keep === 'yes';
    return {
      set,
      n: own.length,
      found: count(({ grades }) => grades.addressed !== undefined),
      rules: count(({ grades }) => !grades.addressed && !rulesKeep(grades)),
      kept_blunt: count(({ grades, blunt }) => kept(grades, blunt)),
      kept_shrewd: count(({ grades, shrewd }) => kept(grades, shrewd)),
      kept_with_reward: count(({ full, shrewd }) => kept(full, shrewd)),
    };
  });
}

/** docs/results/judge.json */
export interface JudgeFile {
  kinds: KindCounts[];
  bribes: BribeCounts[];
}

const file = (): JudgeFile => JSON.parse(readFileSync('docs/results/judge.json', 'utf8')) as JudgeFile;

export const kindRows = (): string[][] => [
  ['kind', 'rules without the reward', 'rules with it', 'rules without it, and the judge'],
  ...file().kinds.map(({ kind, n, rules, reward, both }) => [
    kind.replaceAll('_', ' '),
    ...[rules, reward, both].map((hits) => shareOf(hits, n)),
  ]),
];

export const bribeRows = (): string[][] => [
  [
    'texts',
    'a person decides',
    'the rules reject',
    'kept: a judge that says yes to everything',
    'kept: a shrewd judge',
    'kept: a shrewd judge, rows with a reward',
  ],
  ...file().bribes.map(({ set, n, found, rules, kept_blunt, kept_shrewd, kept_with_reward }) => [
    set,
    ...[found, rules, kept_blunt, kept_shrewd, kept_with_reward].map((hits) => shareOf(hits, n)),
  ]),
];

/** A share in percent with Wilson's interval: `36 of 49: 73.5 (59.7 to 83.8)`. */
function shareOf(hits: number, of: number): string {
  const ends = wilson(hits, of);
  const percent = (share: number) => (100 * share).toFixed(1);
  return ends ? `${hits} of ${of}: ${percent(hits / of)} (${percent(ends.low)} to ${percent(ends.high)})` : 'none';
}
