/** @file The schema of stored labels, and files of labels: JSON lines, one label each. */
import * as z from 'zod/mini';
import { callsOf, path } from '../base/message-path.ts';
import { canonicalJson } from '../base/json.ts';
import { parserReason } from '../base/input-error.ts';
import { sha256 } from '../base/sha256.ts';
import { type Label, type LabelingRow, type LabelLine, type Question, QUESTIONS } from '../records/labeling.ts';
import type { Trajectory } from '../records/trajectory.ts';
import { checked } from './checked.ts';
import { ImportError } from './import-error.ts';
import { type Fields, id, name, natural, time } from './schema-fields.ts';

const MOST_DRAWN = 10_000;
const label = {
  conversation: id,
  label: z.nullable(z.union([z.literal(0), z.literal(1)])),
  at: time,
} satisfies Fields<Label>;

const row = z.object({
  id: name,
  evaluation: id,
  question: z.enum(QUESTIONS),
  seed: z.optional(natural),
  createdAt: time,
  drawn: z.array(id).check(z.maxLength(MOST_DRAWN)),
  labels: z.array(z.object(label)).check(z.maxLength(MOST_DRAWN)),
} satisfies Fields<LabelingRow>);

const line = z.object({
  ...label,
  question: z.enum(QUESTIONS),
  task: name,
  index: natural,
  sha256: z.string().check(z.regex(/^[0-9a-f]{64}$/, '64 hexadecimal digits')),
} satisfies Fields<LabelLine>);

/** Checks labels that were read from the browser's storage. @throws ImportError */
export const readLabeling = (value: unknown): LabelingRow => checked(row, value, 'the stored labels');

/** SHA-256 of what was said and called in a conversation, in hexadecimal digits. */
export function conversationSha256(trajectory: Pick<Trajectory, 'nodes' | 'leaf'>): string {
  const said = path(trajectory).filter(({ role }) => role !== 'template');
  return sha256(canonicalJson(said.map((node) => [node.role, node.content ?? node.text, callsOf(node).map(({ name, arguments: args }) => [name, args])]))); // prettier-ignore
}

export const writeLabels = (lines: readonly LabelLine[]): string => lines.map((one) => `${JSON.stringify(one)}\n`).join('');

/**
 * @param question the question of all labels
 * @throws ImportError naming the line, the field, its value and what is expected
 */
export function readLabels(file: string, text: string, question: Question): LabelLine[] {
  const seen = new Map<string, number>();
  const lines = text.split('\n').flatMap((one, i) => {
    if (one.trim() === '') return [];
    const where = `line ${i + 1}`;
    const read = checked<LabelLine>(line, parsed(one.replace(/^\uFEFF/, ''), file, where), file, where);
    const { conversation } = read;
    if (read.question !== question)
      throw new ImportError(file, `${where}, question`, `is "${read.question}": expected "${question}", which was chosen`);
    const before = seen.get(conversation);
    if (before !== undefined)
      throw new ImportError(file, `${where}, conversation`, `is "${conversation}", as in line ${before}: expected one label each`);
    seen.set(conversation, i + 1);
    return [read];
  });
  if (lines.length === 0) throw new ImportError(file, '', 'it has no label: expected one in each line');
  return lines;
}

function parsed(text: string, file: string, where: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new ImportError(file, where, `is not JSON (${parserReason(error)}): expected a label, as the page writes it`);
  }
}
