/** @file Reads and parses the files of an import, and reports progress. */
import type { Benchmark } from '../../records/benchmark-task.ts';
import type { Json } from '../../records/json.ts';
import type { FileReader, ImportLimits } from '../../exchange/file-source.ts';
import { ImportError } from '../../exchange/import-error.ts';
import { decode, parseJson, parseToml } from './parse.ts';

export interface ImportOptions {
  /** The benchmark to import. Needed if the files contain more than one. */
  benchmark?: Benchmark;
  domain?: string;
  /** The files that must exist in addition to the database. Default: tasks and policy. A file that may be missing counts as empty. */
  needs?: readonly ('tasks' | 'policy')[];
  limits?: Partial<ImportLimits>;
  onProgress?: (done: number, total: number, label: string) => void;
  signal?: AbortSignal;
}

/** Thrown if the database of a folder belongs to no known domain. */
export class UnknownDomain extends ImportError {}

/** Reads files and reports progress. */
export class Files {
  private done = 0;
  private total = 0;

  constructor(
    private readonly reader: FileReader,
    private readonly options: ImportOptions,
  ) {}

  /** Sets the total number of files that will be read. */
  plan(total: number): void {
    this.total = Math.max(total, this.done + 1);
  }

  async text(path: string): Promise<string> {
    this.options.signal?.throwIfAborted();
    this.options.onProgress?.(this.done++, Math.max(this.total, this.done + 1), path);
    return decode(path, await this.reader(path));
  }

  async json(path: string): Promise<Json> {
    return parseJson(path, await this.text(path));
  }

  /** Reads a database from JSON. Objects whose keys look like integers become lists of `[key, value]`. */
  async database(path: string): Promise<Json> {
    const text = await this.text(path);
    return path.endsWith('.toml') ? parseToml(path, text) : parseJson(path, text, true);
  }

  finish(): void {
    this.options.onProgress?.(this.done, this.done, 'done');
  }
}
