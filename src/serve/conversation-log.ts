/**
 * @file The files in which `mua env-serve --audit` keeps conversations. `conversations-N.jsonl` has one conversation in each line.
 * `conversations-N.chain` has one line when a conversation begins, and one with its hash when it ends. Each line of the chain has its
 * number and the hash of the line before, so a conversation that is removed or missing shows.
 */
import { createHash } from 'node:crypto';
import { closeSync, fstatSync, ftruncateSync, mkdirSync, openSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import type { Trajectory } from '../records/trajectory.ts';

export const CHAIN = '.chain';

/** What a line of a chain says, beside its number, its time and the hash of the line before. */
type ChainEvent =
  | { event: 'opened' | 'closed' }
  | { event: 'began'; id: string; task: string }
  | { event: 'ended'; id: string; sha256: string }
  /** The conversation ended with an error, so there is nothing to keep. */
  | { event: 'failed'; id: string };

export const lineHash = (line: string): string => createHash('sha256').update(line).digest('hex');

export class ConversationLog {
  readonly #conversations: number;
  readonly #chain: number;
  #number = 0;
  #previous = '';

  /** Makes new files in the folder. Files of earlier processes stay. @throws Error if the folder cannot be written to */
  constructor(folder: string) {
    mkdirSync(folder, { recursive: true });
    for (let i = 1; ; i++) {
      const name = join(folder, `conversations-${process.pid}${i === 1 ? '' : `-${i}`}`);
      try {
        this.#conversations = openSync(`${name}.jsonl`, 'ax');
        this.#chain = openSync(`${name}${CHAIN}`, 'ax');
        break;
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
      }
    }
    this.#add({ event: 'opened' });
  }

  began(id: string, task: string): void {
    this.#add({ event: 'began', id, task });
  }

  failed(id: string): void {
    this.#add({ event: 'failed', id });
  }

  /** Keeps a conversation, or nothing of it if this fails. */
  ended(trajectory: Trajectory): void {
    const line = JSON.stringify(trajectory);
    const { size } = fstatSync(this.#conversations);
    append(this.#conversations, line);
    try {
      // The group is the id with which the conversation began.
      this.#add({ event: 'ended', id: trajectory.group, sha256: lineHash(line) });
    } catch (error) {
      ftruncateSync(this.#conversations, size);
      throw error;
    }
  }

  close(): void {
    this.#add({ event: 'closed' });
    closeSync(this.#conversations);
    closeSync(this.#chain);
  }

  #add(event: ChainEvent): void {
    const line = JSON.stringify({ number: this.#number + 1, previous: this.#previous, time: new Date().toISOString(), ...event });
    append(this.#chain, line);
    this.#number += 1;
    this.#previous = lineHash(line);
  }
}

/** Appends a whole line, or nothing: a full disk takes only a part of it. */
function append(file: number, line: string): void {
  const { size } = fstatSync(file);
  const bytes = Buffer.from(`${line}\n`);
  try {
    for (let at = 0; at < bytes.length;) at += writeSync(file, bytes, at);
  } catch (error) {
    ftruncateSync(file, size);
    throw error;
  }
}
