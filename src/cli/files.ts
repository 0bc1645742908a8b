/**
 * @file Reads input files and writes output files. An output file is written under a temporary name in the same folder and
 * renamed at the end.
 */
import { randomBytes } from 'node:crypto';
import { openAsBlob } from 'node:fs';
import { mkdir, open, readdir, readFile, realpath, rename, rm, rmdir, stat, writeFile } from 'node:fs/promises';
import { basename, dirname, join, resolve, sep } from 'node:path';
import { InputError } from '../base/input-error.ts';
import { filesFromGguf } from '../exchange/gguf/gguf-folder.ts';
import { readJson as readModelJson } from '../exchange/model-folder.ts';
import { CommandError, UsageError } from './errors.ts';
import type { Offer } from './job-files.ts';
import { LONGEST_TEXT, reading } from './read.ts';

/** A model on disk in Hugging Face layout or in a GGUF file, perhaps with a LoRA adapter from another folder. */
export interface ModelFolder {
  /** The model's files, by name. Those that follow from a GGUF file are not on the disk. */
  files: Record<string, Offer>;
  vocabSize: number;
}

/** The paths of the model's files that are on the disk. */
export const pathsOf = ({ files }: Pick<ModelFolder, 'files'>): string[] =>
  Object.values(files).flatMap((offer) => ('file' in offer ? [offer.file] : []));

/** Names of the files that the folder of a run has in addition to its model and its logs. */
export const RUN_FILE = /^(status|result|scenario)\.json$|^checkpoint-\d+\.safetensors$/;

/**
 * Checks a model folder, or a GGUF file, without reading its weights.
 * @param options.tokenizer whether the model needs a tokenizer
 * @param options.lora folder of an adapter
 * @throws UsageError
 */
export async function findModel(
  directory: string,
  { tokenizer = false, lora }: { tokenizer?: boolean; lora?: string | undefined } = {},
): Promise<ModelFolder> {
  if (/\.gguf$/i.test(directory)) {
    const model = await ggufModel(directory);
    return { ...model, files: { ...model.files, ...(lora !== undefined && (await findAdapter(lora))) } };
  }
  let names: string[];
  try {
    names = await readdir(directory);
  } catch (error) {
    throw new UsageError(`--model is "${directory}": ${reason(error)}`);
  }
  const candidates = names.filter((name) => /\.(json|safetensors|jinja)$/.test(name) && !RUN_FILE.test(name));
  const own = await ownFiles(directory);
  const kept = await Promise.all(candidates.map((name) => own(name)));
  const files = candidates.filter((_, i) => kept[i]);
  const needed = ['config.json', ...(tokenizer ? ['tokenizer.json', 'tokenizer_config.json'] : [])];
  for (const name of needed)
    if (!files.includes(name)) {
      const linked = candidates.includes(name) ? `its ${name} is not a regular file of the folder` : `it has no ${name}`;
      throw new UsageError(`--model is "${directory}": ${linked}`);
    }
  const weights = files.filter((name) => name.endsWith('.safetensors'));
  if (weights.every((name) => ADAPTER_FILES.includes(name)))
    throw new UsageError(
      `--model is "${directory}": ${weights.length > 0 ? 'it has only an adapter: expected its base model here, and the adapter as --lora' : 'it has no model.safetensors'}`,
    );
  for (const name of weights) await checkSafetensors(join(directory, name));
  const config = (await readJson(join(directory, 'config.json'))) as { vocab_size?: unknown } | null;
  const vocabSize = config?.vocab_size;
  if (typeof vocabSize !== 'number' || !Number.isInteger(vocabSize) || vocabSize < 1) {
    throw new UsageError(`${join(directory, 'config.json')}: vocab_size is ${JSON.stringify(vocabSize)}: expected a positive whole number`);
  }
  return { files: { ...onDisk(directory, files), ...(lora !== undefined && (await findAdapter(lora))) }, vocabSize };
}

/** Files of a folder, by name. */
export const onDisk = (directory: string, names: readonly string[]): Record<string, { file: string }> =>
  Object.fromEntries(names.map((name) => [name, { file: join(directory, name) }]));

/** @throws UsageError */
async function ggufModel(path: string): Promise<ModelFolder> {
  const info = await stat(path).catch((error) => {
    throw new UsageError(`--model is "${path}": ${reason(error)}`);
  });
  if (!info.isFile()) throw new UsageError(`--model is "${path}": expected a file, but it is not a regular file`);
  try {
    const made = await filesFromGguf({ [basename(path)]: await openAsBlob(path) });
    const { vocab_size: vocabSize } = readModelJson(made, 'config.json') as { vocab_size: number };
    return {
      files: { [basename(path)]: { file: path }, ...Object.fromEntries(Object.entries(made).map(([name, data]) => [name, { data }])) },
      vocabSize,
    };
  } catch (error) {
    throw error instanceof InputError ? new UsageError(`--model is "${path}": ${error.message}`) : error;
  }
}

/** The files of a LoRA adapter in PEFT's format. */
const ADAPTER_FILES = ['adapter_config.json', 'adapter_model.safetensors'];

/** @returns the adapter's files, by name @throws UsageError */
async function findAdapter(directory: string): Promise<Record<string, Offer>> {
  const own = await ownFiles(directory).catch((error) => {
    throw new UsageError(`--lora is "${directory}": ${reason(error)}`);
  });
  for (const name of ADAPTER_FILES)
    if (!(await own(name))) throw new UsageError(`--lora is "${directory}": it has no ${name}, as PEFT writes it`);
  await checkSafetensors(join(directory, 'adapter_model.safetensors'));
  return onDisk(directory, ADAPTER_FILES);
}

/**
 * Returns a function that says whether a file of a model folder may be read. Allowed are regular files, and links to regular
 * files inside the folder. Other links would copy files from outside into the output folder. In the cache of Hugging Face, a
 * snapshot links to the blobs of its repository: these links are allowed too.
 */
async function ownFiles(directory: string): Promise<(name: string) => Promise<boolean>> {
  const root = await realpath(directory);
  const repository = /^(.*[\\/]models--[^\\/]+)[\\/]snapshots[\\/][^\\/]+$/.exec(root)?.[1];
  const roots = [root, ...(repository ? [join(repository, 'blobs')] : [])];
  return async (name: string) => {
    const path = await realpath(join(root, name)).catch(() => '');
    const info = await stat(path).catch(() => null);
    return info?.isFile() === true && roots.some((folder) => path.startsWith(folder + sep));
  };
}

/** The reference implementation has the same limit. */
const MOST_HEADER_BYTES = 100_000_000;

/** Checks the length of a safetensors file against its header, because the usual problem is a download that was cut off. */
async function checkSafetensors(path: string): Promise<void> {
  const { size } = await stat(path);
  const file = await open(path);
  try {
    const word = Buffer.alloc(8);
    const { bytesRead } = await file.read(word, 0, 8, 0);
    const length = bytesRead === 8 ? Number(word.readBigUInt64LE()) : Infinity;
    if (length > Math.min(size - 8, MOST_HEADER_BYTES))
      throw new UsageError(`${path} is truncated or not a safetensors file: ${size} bytes are less than its header needs`);
    const header = Buffer.alloc(length);
    await file.read(header, 0, length, 8);
    let tensors: Record<string, { data_offsets?: unknown[] } | null> | null;
    try {
      tensors = JSON.parse(header.toString('utf8')) as typeof tensors;
    } catch {
      throw new UsageError(`${path} is not a safetensors file: its header is not JSON`);
    }
    if (typeof tensors !== 'object' || tensors === null)
      throw new UsageError(`${path} is not a safetensors file: its header is not a JSON object`);
    const end = Object.values(tensors).reduce((most, tensor) => Math.max(most, Number(tensor?.data_offsets?.[1] ?? 0)), 0);
    if (8 + length + end > size) throw new UsageError(`${path} is truncated: its header needs ${8 + length + end} bytes, it has ${size}`);
  } finally {
    await file.close();
  }
}

/** @throws UsageError when the file can't be read or is not JSON */
export async function readJson(path: string): Promise<unknown> {
  const text = await readText(path);
  try {
    return JSON.parse(text) as unknown;
  } catch (error) {
    throw new UsageError(`${path} is not JSON: ${(error as Error).message.split('\n')[0]}`);
  }
}

/** @throws UsageError when the file can't be read. A pipe is refused, because reading it may never end */
export async function readText(path: string): Promise<string> {
  try {
    const info = await stat(path);
    if (!info.isFile() && !info.isDirectory()) throw new Error('expected a file, but it is not a regular file');
    if (info.size > LONGEST_TEXT) throw new Error(`has ${info.size} bytes: expected at most ${LONGEST_TEXT}`);
    return await reading.during(`reading ${basename(path)}`, () => readFile(path, 'utf8'));
  } catch (error) {
    throw new UsageError(`${path}: ${reason(error)}`);
  }
}

/** Checks, before minutes of work, that an output can be written. @param inputs the files that the command reads: it replaces none of them */
export async function checkParent(flag: string, path: string, inputs: readonly string[] = []): Promise<void> {
  const parent = dirname(resolve(path));
  const info = await stat(parent).catch(() => null);
  if (!info?.isDirectory()) throw new UsageError(`--${flag} is "${path}": the folder "${dirname(path)}" does not exist`);
  const existing = await stat(path).catch(() => null);
  if (existing?.isDirectory()) throw new UsageError(`--${flag} is "${path}": expected a file, but it is a folder`);
  // Writing replaces the file, so a device or a pipe is refused.
  if (existing && !existing.isFile()) throw new UsageError(`--${flag} is "${path}": expected a file, but it is not a regular file`);
  const place = (name: string) => realpath(name).catch(() => resolve(name));
  const [written, ...read] = await Promise.all([path, ...inputs].map(place));
  if (read.includes(written!)) throw new UsageError(`--${flag} is "${path}": expected another file, as the command reads this one`);
}

const temporaryName = (path: string) =>
  join(dirname(resolve(path)), `.${basename(path)}.${process.pid}.${randomBytes(3).toString('hex')}.tmp`);

/** Writes several files: either all of them appear, or none. @param contents the content of each file, by path */
export async function writeAll(contents: Record<string, string | Uint8Array | Iterable<string>>): Promise<void> {
  const pending = await Promise.all(
    Object.entries(contents).map(async ([name, data]) => {
      // If the path is a link, replace its target and keep the link.
      const path = await realpath(name).catch(() => name);
      return { path, data, temporary: temporaryName(path) };
    }),
  );
  try {
    for (const { path } of pending) await checkReplaceable(path);
    // The content must be on the disk before the name, or a power failure could leave an empty file under the name.
    for (const { data, temporary } of pending) await writeFile(temporary, data, { flush: true });
    for (const { path, temporary } of pending) await rename(temporary, path);
    for (const folder of new Set(pending.map(({ path }) => dirname(path)))) await syncFolder(folder);
  } catch (error) {
    throw new CommandError(`could not write ${pending.map(({ path }) => path).join(', ')}: ${reason(error)}`);
  } finally {
    await Promise.all(pending.map(({ temporary }) => rm(temporary, { force: true })));
  }
}

/** Puts the names in a folder on the disk. Windows does not need this, and does not allow it. */
async function syncFolder(path: string): Promise<void> {
  const folder = await open(path).catch(() => null);
  await folder?.sync().catch(() => {});
  await folder?.close();
}

async function checkReplaceable(path: string): Promise<void> {
  const existing = await stat(path).catch(() => null);
  if (existing && !existing.isFile()) throw new Error(`${path} is not a regular file`);
}

/** Makes a folder, which gets its name only after `work` has succeeded. Until then, its files are in a temporary folder next to it. */
export async function writeFolder<T>(directory: string, work: (temporary: string) => Promise<T>): Promise<T> {
  const existing = await stat(directory).catch(() => null);
  if (existing && !existing.isDirectory()) throw new UsageError(`--out is "${directory}": expected a folder, but it is a file`);
  const temporary = temporaryName(directory);
  try {
    await mkdir(temporary, { recursive: true });
  } catch (error) {
    throw new UsageError(`--out is "${directory}": ${reason(error)}`);
  }
  const discard = () => rm(temporary, { recursive: true, force: true });
  const forget = onInterrupt(discard);
  try {
    const result = await work(temporary);
    await moveFolder(temporary, directory);
    return result;
  } finally {
    await discard();
    forget();
  }
}

/**
 * Renames a temporary folder to its final name. If a folder of that name exists, the files are moved into it, and so are those
 * of its subfolders.
 */
async function moveFolder(temporary: string, directory: string): Promise<void> {
  const existing = await stat(directory).catch(() => null);
  if (!existing) return rename(temporary, directory);
  for (const entry of await readdir(temporary, { withFileTypes: true })) {
    const [from, to] = [join(temporary, entry.name), join(directory, entry.name)];
    await (entry.isDirectory() ? moveFolder(from, to) : rename(from, to));
  }
  await rmdir(temporary);
}

type Interruption = () => unknown;
const interruptions = new Set<Interruption>();

/**
 * Registers clean-up work for Ctrl-C. If it returns a text, or a promise of one, the text says what is kept and how to go on.
 * Returns a function that removes the work again.
 */
export function onInterrupt(work: Interruption): () => void {
  interruptions.add(work);
  return () => void interruptions.delete(work);
}

/** Returns the texts of the work. */
export async function runInterruptions(): Promise<string[]> {
  const ended = await Promise.allSettled([...interruptions].map(async (work) => work()));
  return ended.flatMap((one) => (one.status === 'fulfilled' && typeof one.value === 'string' ? [one.value] : []));
}

/** The reason why a file could not be read or written. */
export function reason(error: unknown): string {
  const { code, message } = error as NodeJS.ErrnoException;
  const words: Record<string, string> = {
    ENOENT: 'there is no such file or folder',
    EACCES: 'permission denied',
    EISDIR: 'it is a folder',
    ENOTDIR: 'it is not a folder',
    ENOSPC: 'the disk is full',
  };
  return words[code ?? ''] ?? message;
}

/** The error for a file or folder of another tool that cannot be read. The errors of the readers already name the place. */
export const unreadable = (path: string, error: Error): UsageError =>
  new UsageError(['InputError', 'ImportError', 'UsageError'].includes(error.name) ? error.message : `${path}: ${reason(error)}`);
