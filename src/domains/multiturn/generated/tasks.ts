/** @file Generated tasks of one class: a config, one to four right calls, and an instruction that asks for them. */
import { escapeRegExp } from '../../../base/escape-reg-exp.ts';
import { hash32 } from '../../../base/random.ts';
import { loads } from '../../../python/json.ts';
import { Dict, PySet } from '../../../python/values.ts';
import type { Json } from '../../../records/json.ts';
import type { ToolCall } from '../../../records/task.ts';
import { type Solved, settingOf } from '../check.ts';
import { Instances } from '../instances.ts';
import type { Tables } from '../tables.ts';
import { argumentsOf, callText } from '../tool-call.ts';
import { Draw } from './draw.ts';
import { TOPICS } from './more-topics.ts';
import type { Pools, Sentence, Topic } from './topics.ts';

/** Generated tasks need no table of BFCL's copy: each config has the whole state. */
export const NO_TABLES: Tables = {
  states: new Dict([['MessageAPI', new Dict([['generated_ids', new PySet()]])]]),
  symbols: new Dict(),
  sectors: new Dict(),
  routes: [],
  rates: [],
  airportByCity: new Dict(),
  airports: [],
  zipcodes: new Dict(),
  distances: [],
  fillers: new Dict(),
};

export interface GeneratedTask {
  instruction: string;
  calls: ToolCall[];
  solved: Solved;
}

/** The most right calls of a task. */
const MOST = 4;
/** Of so many instructions, one is held out. */
const HELD_OUT = 4;

const SLOT = /\{(\w+)(?::(int|float))?\}/g;
/** Slots that stand for arguments of another name. */
const ARGUMENTS: Record<string, Record<string, string>> = {
  echo: { old: 'file_name' },
  rm: { old: 'file_name' },
  cp: { old: 'source' },
  mv: { old: 'source' },
};

/** The task of a level at an index. The same arguments give the same task. No instruction is both in `train` and in another split. */
export function generatedTask(level: string, split: string, seed: number, index: number): GeneratedTask {
  const topic = TOPICS[level]!;
  for (let attempt = 0; ; attempt++) {
    const task = drawn(topic, new Draw(seed, index, attempt, split === 'train' ? 1 : 2));
    if (task && isHeldOut(task.instruction) === (split !== 'train')) return task;
  }
}

const isHeldOut = (instruction: string): boolean => hash32(...new TextEncoder().encode(instruction)) % HELD_OUT === 0;

/** Null if a right call fails, or if a later sentence repeats an earlier one. */
function drawn(topic: Topic, draw: Draw): GeneratedTask | null {
  const { config, pools } = topic.make(draw);
  const sentences = Array.from({ length: draw.int(1, MOST) }, () => filled(draw.pick(topic.sentences), pools, draw));
  if (new Set(sentences.map(({ text }) => text)).size < sentences.length) return null;
  const calls = sentences.map(({ call }) => call);
  const solved: Solved = {
    id: 'generated',
    involved: [topic.className],
    config: new Dict([[topic.className, loads(config)]]),
    gold: [calls.map((call) => callText(call.name, argumentsOf(call)))],
  };
  const objects = new Instances(settingOf(solved), NO_TABLES);
  const failed = solved.gold[0]!.some((call) => {
    const { text, error } = objects.run(call);
    return error || text.includes('"error"') || text.includes('false') || text.includes('Already');
  });
  return failed ? null : { instruction: sentences.map(({ text }) => text).join(' '), calls, solved };
}

function filled({ text, name, fixed = {} }: Sentence, pools: Pools, draw: Draw): { text: string; call: ToolCall } {
  const args: Record<string, Json> = { ...(fixed as Record<string, Json>) };
  const said = text.replace(SLOT, (_, slot: string) => {
    const value = draw.pick(pools[slot]!);
    args[argumentOf(name, slot)] = value;
    return String(value);
  });
  return { text: said, call: { name, arguments: args } };
}

const argumentOf = (name: string, slot: string): string => ARGUMENTS[name]?.[slot] ?? slot;

/** The calls that an instruction asks for. Null if it has other sentences. */
export function callsAsked(level: string, instruction: string): ToolCall[] | null {
  const calls: ToolCall[] = [];
  let at = 0;
  while (at < instruction.length) {
    const found = TOPICS[level]?.sentences.flatMap((sentence) => read(sentence, instruction, at) ?? [])[0];
    if (!found) return null;
    calls.push(found.call);
    at = found.end;
  }
  return calls;
}

const KINDS: Record<string, string> = { int: '(-?\\d+)', float: '(-?\\d+\\.\\d+)' };

function read({ text, name, fixed = {} }: Sentence, instruction: string, at: number): { call: ToolCall; end: number } | null {
  const slots = [...text.matchAll(SLOT)];
  const literals = text.split(SLOT).filter((_, i) => i % 3 === 0);
  const pattern = literals.map((part, i) => escapeRegExp(part) + (slots[i] ? (KINDS[slots[i][2] ?? ''] ?? '([^"]+)') : '')).join('');
  const match = new RegExp(`${pattern}(?: |$)`, 'y');
  match.lastIndex = at;
  const found = match.exec(instruction);
  if (!found) return null;
  const given = slots.map(([, slot, kind], i) => [argumentOf(name, slot!), kind ? Number(found[i + 1]) : found[i + 1]!] as const);
  return { call: { name, arguments: { ...(fixed as Record<string, Json>), ...Object.fromEntries(given) } }, end: match.lastIndex };
}
