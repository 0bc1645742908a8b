/** @file Reads the files of an import as values and reports progress. */
import type { Benchmark } from '../../records/benchmark-task.ts';
import type { Json } from '../../records/json.ts';
import type { FileReader, ImportLimits } from '../../exchange/file-source.ts';
import { ImportError } from '../../exchange/import-error.ts';
import { decode, parseJson, parseToml } from './parse.ts';

export interface ImportOptions {
  /** The benchmark to import, if the files contain more than one. */
  benchmark?: Benchmark;
  domain?: string;
  /** What the files must contain in addition to the database. Default: both. Anything else is empty if its file is missing. */
  needs?: readonly ('tasks' | 'policy')[];
  limits?: Partial<ImportLimits>;
  onProgress?: (done: number, total: number, label: string) => void;
  signal?: AbortSignal;
}

/** The database of a folder belongs to no known domain. */
export class UnknownDomain extends ImportError {}

/** Reads files and reports progress. */
export class Files {
  private done = 0;
  private total = 0;

  constructor(
    private readonly reader: FileReader,
    private readonly options: ImportOptions,
  ) {}

  /** Sets how many files will be read. */
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

  /** A database as JSON. Objects whose keys look like integers are lists of `[key, value]`. */
  async database(path: string): Promise<Json> {
    const text = await this.text(path);
    return path.endsWith('.toml') ? parseToml(path, text) : parseJson(path, text, true);
  }

  finish(): void {
    this.options.onProgress?.(this.done, this.done, 'done');
  }
}
