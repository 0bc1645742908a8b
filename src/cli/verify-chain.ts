/** @file Checks a file of `mua env-serve --audit` against its chain. */
import * as z from 'zod/mini';
import { parserReason } from '../base/input-error.ts';
import { natural, text } from '../exchange/schema-fields.ts';
import { lineHash } from '../serve/conversation-log.ts';
import { readLines } from './read.ts';

const schema = z.object({
  number: natural,
  previous: text,
  event: z.enum(['opened', 'began', 'ended', 'failed', 'closed']),
  id: z.optional(text),
  sha256: z.optional(text),
});
type Line = z.output<typeof schema>;

/**
 * @returns what is wrong, and the number of conversations that had begun and not ended when the process was killed
 * @throws Error if a file cannot be read
 */
export async function verifyChain(file: string, chain: string): Promise<{ problems: string[]; unfinished: number }> {
  const problems: string[] = [];
  const lines = await readChain(chain, problems);
  const kept: Counts = new Map();
  for await (const line of readLines(file)) if (line.whole) add(kept, lineHash(line.text), 1);
  const open: Counts = new Map();
  for (const { event, id = '', sha256 = '' } of lines) {
    if (event === 'began') add(open, id, 1);
    if (event === 'ended' || event === 'failed') add(open, id, -1);
    if (event === 'ended' && add(kept, sha256, -1) < 0) problems.push(`conversation "${id}" is missing, or was changed`);
  }
  const strangers = leftIn(kept);
  if (strangers > 0) problems.push(`${strangers} conversations of the file are not in the chain`);
  const unfinished = leftIn(open);
  const closed = lines.at(-1)?.event === 'closed';
  if (closed && unfinished > 0) problems.push(`${unfinished} conversations began, but neither ended nor failed`);
  return { problems, unfinished: closed ? 0 : unfinished };
}

type Counts = Map<string, number>;

/** Changes a count, and returns it. */
function add(counts: Counts, key: string, change: number): number {
  const count = (counts.get(key) ?? 0) + change;
  counts.set(key, count);
  return count;
}

/** The sum of the counts above 0. */
const leftIn = (counts: Counts): number => [...counts.values()].reduce((sum, count) => sum + Math.max(0, count), 0);

async function readChain(path: string, problems: string[]): Promise<Line[]> {
  const lines: Line[] = [];
  let previous = '';
  for await (const line of readLines(path)) {
    if (!line.whole) break; // a process that was killed leaves half a line
    let value: Line;
    try {
      value = schema.parse(JSON.parse(line.text)) as Line;
    } catch (error) {
      throw new Error(`${path}, line ${line.number} is not a line of a chain: ${parserReason(error)}`);
    }
    if (value.number !== line.number || value.previous !== previous)
      problems.push(`line ${line.number} does not follow the line before: lines were removed, moved or changed`);
    previous = lineHash(line.text);
    lines.push(value);
  }
  if (lines[0]?.event !== 'opened') problems.push('the beginning of the chain is missing');
  return lines;
}
