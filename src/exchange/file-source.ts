/** @file Reads files from a folder, a file picker or a zip, within limits. */
import { ImportError } from './import-error.ts';
import { joined, unzipEntry, type ZipEntry, zipEntries } from './unzip.ts';

export type FileData = Uint8Array | Blob | ReadableStream<Uint8Array>;
/** A file, or a function that returns it. A folder may have thousands of files, so the function is called only if its file is needed. */
export type FileSource = FileData | (() => Promise<FileData>);
/** A zip, or files with their paths (a Map, `Object.entries`, …). */
export type BenchmarkFiles = FileData | Iterable<readonly [path: string, data: FileSource]>;

export interface ImportLimits {
  /** Maximum number of paths in a folder or a zip. */
  files: number;
  /** Maximum bytes of one file. For a file in a zip, these are its unpacked bytes. The zip itself also has this limit. */
  fileBytes: number;
  /** Maximum bytes of all files that are read. */
  totalBytes: number;
  /** Maximum number of rows in one table. */
  rows: number;
}

/** The usual limits. A string in JavaScript cannot be longer than about 512 MiB. */
export const LIMITS: ImportLimits = { files: 50_000, fileBytes: 256 * 2 ** 20, totalBytes: 512 * 2 ** 20, rows: 4_000_000 };

export type FileReader = (path: string) => Promise<Uint8Array>;
export interface Listing {
  paths: string[];
  read: FileReader;
  /** The file as a Blob, which can be read in pieces. Undefined if the file is in a zip or is not a Blob. */
  blob(path: string): Promise<Blob | undefined>;
}

export const megabytes = (bytes: number) => `${Math.round(bytes / 2 ** 20)} MiB`;
const isData = (source: unknown): source is FileData =>
  source instanceof Uint8Array || source instanceof Blob || source instanceof ReadableStream;

/** Lists the files. `read` of the listing reads one of them. @throws ImportError for too many files or a broken zip */
export async function openFiles(source: BenchmarkFiles, limits: ImportLimits): Promise<Listing> {
  const budget = new Budget(limits);
  if (isData(source)) return openZip('the zip file', await readAll(source, 'the zip file', limits.fileBytes), budget);
  const files = new Map<string, FileSource>();
  for (const [path, data] of source) {
    files.set(normalPath(path), data);
    if (files.size > limits.files) throw new ImportError('', '', `there are more than ${limits.files} files: choose a smaller folder`);
  }
  const [only] = files;
  if (files.size === 1 && only![0].toLowerCase().endsWith('.zip'))
    return openZip(only![0], await readAll(await resolved(only![1]), only![0], limits.fileBytes), budget);
  return {
    paths: [...files.keys()],
    read: async (path) => budget.take(path, await readAll(await resolved(files.get(path)!), path, limits.fileBytes)),
    blob: async (path) => {
      const data = await resolved(files.get(path)!);
      return data instanceof Blob ? data : undefined;
    },
  };
}

const resolved = (source: FileSource) => (typeof source === 'function' ? source() : source);
const normalPath = (path: string) => path.replaceAll('\\', '/').replace(/^(\.?\/)+/, '');

class Budget {
  private used = 0;
  constructor(readonly limits: ImportLimits) {}

  take(path: string, bytes: Uint8Array): Uint8Array {
    this.used += bytes.length;
    if (this.used > this.limits.totalBytes)
      throw new ImportError(path, '', `the files together are larger than ${megabytes(this.limits.totalBytes)}`);
    return bytes;
  }
}

const tooLarge = (path: string, limit: number) => new ImportError(path, '', `it is larger than ${megabytes(limit)}`);

async function readAll(data: FileData, path: string, limit: number): Promise<Uint8Array> {
  if (data instanceof Uint8Array) {
    if (data.length > limit) throw tooLarge(path, limit);
    return data;
  }
  if (data instanceof Blob && data.size > limit) throw tooLarge(path, limit);
  const reader = (data instanceof Blob ? data.stream() : data).getReader();
  const chunks: Uint8Array[] = [];
  let size = 0;
  try {
    for (let step = await reader.read(); !step.done; step = await reader.read()) {
      chunks.push(step.value);
      size += step.value.length;
      if (size > limit) throw tooLarge(path, limit);
    }
  } catch (cause) {
    await reader.cancel().catch(() => {});
    throw cause instanceof ImportError ? cause : new ImportError(path, '', `it could not be read: ${(cause as Error).message}`);
  }
  return joined(chunks, size);
}

/** Reads the zip's directory. Each file is unpacked only when it is read. */
function openZip(name: string, bytes: Uint8Array, budget: Budget): Listing {
  const { limits } = budget;
  const entries = new Map<string, ZipEntry>();
  for (const entry of zipEntries(bytes, name)) {
    const path = normalPath(entry.name);
    if (path.split('/').includes('..')) throw new ImportError(name, '', `it names a file outside of itself: ${entry.name.slice(0, 200)}`);
    if (entries.has(path)) throw new ImportError(name, '', `it contains ${path.slice(0, 200)} twice`);
    if (!entry.name.endsWith('/')) entries.set(path, entry);
    if (entries.size > limits.files) throw new ImportError(name, '', `it contains more than ${limits.files} files`);
  }
  return {
    paths: [...entries.keys()],
    read: async (path) => {
      const entry = entries.get(path)!;
      if (entry.size > limits.fileBytes) throw tooLarge(path, limits.fileBytes);
      return budget.take(path, await unzipEntry(bytes, entry, path));
    },
    blob: async () => undefined,
  };
}
