/** @file The file of `mua shadow`: each answer is appended as soon as it comes, and the same command continues the file. */
import { readFile, stat, truncate } from 'node:fs/promises';
import { canonicalJson } from '../base/json.ts';
import { shown } from '../base/input-error.ts';
import { readShadow } from '../exchange/shadow-schema.ts';
import type { ShadowConversation, ShadowHead, ShadowLine, ShadowTurn } from '../records/shadow.ts';
import { UsageError } from './errors.ts';
import { checkParent, reason, unreadable, writeAll } from './files.ts';
import { type FolderLock, lockFolder } from './lock-file.ts';
import { appendLines } from './out-folder.ts';

const line = (one: ShadowLine) => `${JSON.stringify(one)}\n`;

export class ShadowOut {
  /** Resolves when all earlier lines are on the disk. */
  #written: Promise<unknown> = Promise.resolve();

  private constructor(
    readonly path: string,
    private readonly lock: FolderLock,
    /** The answers from before an interruption. */
    readonly turns: readonly ShadowTurn[],
    /** The lines before the first answer of a new file. '' if the file has them. */
    private start: string,
  ) {}

  /**
   * Locks the file until the end of the process.
   * @throws UsageError if the file is of another shadow, is in use or cannot be written
   */
  static async open(path: string, head: ShadowHead, conversations: readonly ShadowConversation[]): Promise<ShadowOut> {
    await checkParent('out', path);
    const lock = await lockFolder(path, '--out');
    const start = line({ shadow: head }) + conversations.map((conversation) => line({ conversation })).join('');
    if (!(await stat(path).catch(() => null))) return new ShadowOut(path, lock, [], start);
    const text = await readFile(path, 'utf8').catch((error) => {
      throw new UsageError(`--out is "${path}": ${reason(error)}`);
    });
    let earlier;
    try {
      earlier = readShadow(path, text);
    } catch (error) {
      const { message } = unreadable(path, error as Error);
      throw new UsageError(`--out is "${path}", which exists and is no shadow to continue: expected a new file (${message})`);
    }
    const [own, stored] = [settingsOf(head), settingsOf(earlier.head)];
    for (const field of new Set([...Object.keys(own), ...Object.keys(stored)])) {
      const [before, value] = [stored[field], own[field]];
      if (canonicalJson([before ?? null]) !== canonicalJson([value ?? null]))
        throw new UsageError(
          `--out is "${path}": its ${field} is ${shown(before ?? null)}, and now it is ${shown(value ?? null)}: expected another file, or the same settings to continue it`,
        );
    }
    // A process that was killed may have left an incomplete last line.
    await truncate(path, Buffer.byteLength(text.slice(0, text.lastIndexOf('\n') + 1)));
    return new ShadowOut(path, lock, earlier.turns, '');
  }

  /** Appends an answer. @throws CommandError or an error of the disk */
  add(turn: ShadowTurn): Promise<void> {
    const write = async () => {
      if (this.start === '') return appendLines(this.path, line({ turn }));
      await writeAll({ [this.path]: this.start + line({ turn }) });
      this.start = '';
    };
    const written = this.#written.then(write);
    this.#written = written.catch(() => {});
    return written;
  }

  /** Waits for the lines on their way to the disk, and lets other commands use the file. */
  async close(): Promise<void> {
    await this.#written;
    await this.lock.release();
  }

  /** Whether the file has an answer. */
  get isNew(): boolean {
    return this.start !== '';
  }
}

/** What must be the same to continue. Prices and limits of the server may change. */
const settingsOf = ({ agent, ...head }: ShadowHead): Record<string, unknown> => ({
  ...head,
  ...('baseUrl' in agent
    ? {
        agent: agent.baseUrl,
        'agent-model': agent.model,
        'agent-format': agent.format,
        'agent-max-tokens': agent.maxTokens,
        'agent-body': agent.extraBody,
      }
    : { 'SHA-256 of the weights': agent.model_sha256, precision: agent.precision }),
});
