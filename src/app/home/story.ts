/** @file One customer, served before and after training: the pair of conversations that home plays. `scripts/story-pair.ts` chooses it. */
import { answersOf, path } from '../../base/message-path.ts';
import type { Json } from '../../records/json.ts';
import type { StepMetrics } from '../../records/run.ts';
import type { ToolCall } from '../../records/task.ts';
import type { Trajectory } from '../../records/trajectory.ts';
import { STOP } from '../../users/types.ts';

/** What one party says, or a tool call with its result. */
export interface StoryAct {
  /** The id of the message to open. */
  node: number;
  by: 'customer' | 'agent';
  /** What is said; '' for a call. */
  text: string;
  call: (ToolCall & { index: number; wrote: boolean; /** The tool's error; '' if there is none. */ error: string }) | null;
}

export interface Side {
  trial: Trajectory;
  /** The acts after those of `Story.common`. */
  acts: StoryAct[];
}

export interface Story {
  /** The acts at the beginning that are equal on both sides, word for word. */
  common: StoryAct[];
  before: Side;
  after: Side;
  /** The number of acts of `common` plus those of the longer side. */
  moments: number;
  /** The names of the fields to show of the changed row, for both sides. */
  fields: string[];
}

/** The content of recorded-story.json, which `scripts/record-run.mts` writes. */
export interface RecordedStory {
  /** The id of the recorded run, and those of its evaluations. */
  run: string;
  evaluations: { before: string; after: string };
  /** The two conversations without their tokens. */
  before: Trajectory;
  after: Trajectory;
  /** Only what the chart of the reward shows. */
  metrics: StepMetrics[];
}

/** The story of two conversations with one customer. */
export function storyOf({ before, after }: Pick<RecordedStory, 'before' | 'after'>): Story {
  const [first, second] = [actsOf(before), actsOf(after)];
  const differs = first.findIndex((act, i) => JSON.stringify(act) !== JSON.stringify(second[i]));
  const shared = differs < 0 ? first.length : differs;
  const [rest, other] = [first.slice(shared), second.slice(shared)];
  return {
    common: first.slice(0, shared),
    before: { trial: before, acts: rest },
    after: { trial: after, acts: other },
    moments: shared + Math.max(rest.length, other.length),
    fields: FIELDS.filter((name) => [before, after].some((trial) => rowsOf(trial).some((row) => leaves(row).has(name)))),
  };
}

function actsOf(trial: Trajectory): StoryAct[] {
  const acts: StoryAct[] = [];
  const nodes = path(trial);
  const answers = answersOf(nodes);
  for (const node of nodes) {
    const { id, role, text, toolCall } = node;
    if (role === 'user') acts.push({ node: id, by: 'customer', text: text.replace(STOP, '').trim(), call: null });
    if (role === 'assistant' && !toolCall) acts.push({ node: id, by: 'agent', text: node.content ?? text, call: null });
    const answer = answers.get(id);
    if (!answer) continue;
    const { asked, call, result } = answer;
    const { index, changes, error } = result;
    acts.push({ node: asked, by: 'agent', text: '', call: { ...call, index, wrote: changes.length > 0, error: error ? answer.text : '' } });
  }
  return acts;
}

export interface StoryField {
  name: string;
  now: string;
  goal: string;
  /**
   * `first`: the value has not changed. `right`: it was changed to the value that the task wants. `wrong`: it was changed to another value,
   * or the conversation ended without the change that the task wants.
   */
  state: 'first' | 'right' | 'wrong';
}

export interface StoryRow {
  table: string;
  key: string;
  fields: StoryField[];
}

/** The fields that a visitor can read at a glance, the most telling ones first. */
const FIELDS = ['status', 'cancel_reason', 'payment_method_id'];

/** The row that the task changes, after the first `shown` acts of a side: its present values and the values that the task wants. */
export function storyRow({ trial, acts }: Side, names: readonly string[], shown: number): StoryRow | null {
  const wanted = trial.verdict?.goal[0];
  if (!wanted) return null;
  const { table, key } = wanted;
  const call = acts.slice(0, shown).findLast((act) => act.call)?.call?.index ?? -1;
  const [start, held, aim] = [wanted.before, rowAfter(trial, call, table, key) ?? wanted.before, wanted.after].map(leaves) as [
    Leaves,
    Leaves,
    Leaves,
  ];
  const value = (side: Leaves, name: string) => side.get(name) ?? '–';
  const ended = shown >= acts.length;
  return {
    table,
    key,
    fields: names.map((name) => {
      const [now, goal] = [value(held, name), value(aim, name)];
      const unchanged = now === value(start, name);
      return { name, now, goal, state: unchanged && (now === goal || !ended) ? 'first' : now === goal ? 'right' : 'wrong' };
    }),
  };
}

/** Three states of the row that the task changes: before the conversation, as the task wants it, and after the conversation. */
function rowsOf({ verdict }: Trajectory): (Json | undefined)[] {
  const wanted = verdict?.goal[0];
  const made = verdict?.changes.find(({ table, key }) => table === wanted?.table && key === wanted.key);
  return [wanted?.before, wanted?.after, made?.after];
}

/** The row after the calls up to and including `call`; undefined if none of them changed the row. */
function rowAfter({ nodes, leaf }: Trajectory, call: number, table: string, key: string): Json | undefined {
  return path({ nodes, leaf })
    .flatMap(({ toolResult }) => (toolResult && toolResult.index <= call ? toolResult.changes : []))
    .findLast((change) => change.table === table && change.key === key)?.after;
}

type Leaves = Map<string, string>;

/** The scalar fields of a row by name, with the fields of the last payment in its payment history. */
function leaves(row: Json | undefined): Leaves {
  const found: Leaves = new Map();
  if (typeof row !== 'object' || row === null || Array.isArray(row)) return found;
  for (const [name, value] of Object.entries(row)) {
    if (Array.isArray(value)) {
      const paid = value.findLast(
        (entry): entry is Record<string, Json> =>
          typeof entry === 'object' && entry !== null && !Array.isArray(entry) && entry.transaction_type === 'payment',
      );
      for (const [inner, text] of leaves(paid ?? null)) found.set(inner, text);
    } else if (typeof value !== 'object') found.set(name, String(value));
  }
  return found;
}
