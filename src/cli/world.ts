/** @file The visitor's own scenario file as the domain of a command. */
import { lstat } from 'node:fs/promises';
import { join } from 'node:path';
import * as z from 'zod/mini';
import { InputError } from '../base/input-error.ts';
import { didYouMean } from '../base/did-you-mean.ts';
import { isObject } from '../base/json.ts';
import { addOwn, reachedBy, readOwn } from '../domains/own.ts';
import { domainOf, isOwn, levelsOf } from '../domains/registry.ts';
import { readNames } from '../environments/conditions.ts';
import { type Fields, text } from '../exchange/schema-fields.ts';
import type { Flags } from './args.ts';
import { UsageError } from './errors.ts';
import { readJson, readText } from './files.ts';
import { SCENARIO, STATUS } from './status.ts';

export const WORLD_FLAGS = {
  world: {
    type: 'string',
    value: 'FILE.json',
    help: 'your own scenario file as the domain, instead of --domain; ./mua scenario check FILE.json checks it',
  },
} as const satisfies Flags;

/** A scenario that is a domain of this process. */
export interface OpenWorld {
  /** The name of the domain. */
  domain: string;
  sha256: string;
  file: string;
  text: string;
}

interface Asked {
  world?: string | undefined;
  domain?: string | undefined;
  rules?: string | undefined;
  data?: string | undefined;
}

/**
 * Makes the file of `--world` a domain of this process.
 * @returns undefined without `--world`
 * @throws UsageError
 */
export async function openWorld({ world: file, domain, rules, data }: Asked): Promise<OpenWorld | undefined> {
  if (file === undefined) return undefined;
  const other = Object.entries({ domain, rules, data }).find(([, value]) => value !== undefined);
  if (other) throw new UsageError(`--${other[0]} is given: expected no --${other[0]} with --world, which is the domain`);
  return open(file);
}

async function open(file: string, isStrange = false): Promise<OpenWorld> {
  const text = await readText(file);
  try {
    const own = await readOwn(text, file);
    const reached = isStrange && reachedBy(own);
    if (reached) throw new InputError(`${file}: host: needs ${reached}: expected --world ${file} to allow that`);
    addOwn(own);
    return { domain: own.domain, sha256: own.hash, file, text };
  } catch (error) {
    throw error instanceof InputError ? new UsageError(error.message) : error;
  }
}

/**
 * The scenario of a folder that kept it. Undefined if the folder has none.
 * @param isPlayed false for a command that starts no episode
 * @throws UsageError if it cannot be read, or if it starts a program or asks a server: a folder can come from a stranger
 */
export async function keptWorld(folder: string, isPlayed = true): Promise<OpenWorld | undefined> {
  const file = join(folder, SCENARIO);
  const info = await lstat(file).catch(() => null);
  return info?.isFile() ? open(file, isPlayed) : undefined;
}

/** What a folder keeps of its scenario. */
export interface KeptWorld {
  /** The name of the domain. */
  name: string;
  sha256: string;
}

export const keptWorldSchema = z.object({ name: text, sha256: text } satisfies Fields<KeptWorld>);

/**
 * The scenario on which the model of a folder was trained. Undefined if the training had none; then other files of the folder do not
 * matter.
 * @throws UsageError if the folder has not kept it
 */
export async function trainedWorld(model: string): Promise<OpenWorld | undefined> {
  const status = await readJson(join(model, STATUS)).catch(() => null);
  const { data: kept } = keptWorldSchema.safeParse(isObject(status) && isObject(status.settings) ? status.settings.world : undefined);
  if (!kept) return undefined;
  const world = await keptWorld(model);
  if (world?.sha256 === kept.sha256) return world;
  const found = world ? `has the hash ${world.sha256}` : 'is missing';
  throw new UsageError(
    `--model is "${model}": its ${SCENARIO} ${found}: expected the scenario ${kept.name} with the hash ${kept.sha256}, on which the model was trained, or other tasks by --domain or --world`,
  );
}

/**
 * The scenario with which a stopped command goes on: that of its folder. Undefined if the folder has none.
 * @param resume the value of --resume, for messages
 * @param given the file of `--world`, which must have the same scenario
 * @throws UsageError if the file, or the folder's own copy, has another scenario
 */
export async function resumedWorld(
  resume: string,
  folder: string,
  kept: KeptWorld | undefined,
  given: string | undefined,
): Promise<OpenWorld | undefined> {
  if (!kept) {
    if (given === undefined) return undefined;
    throw new UsageError(`--world is "${given}": expected no --world, as "${resume}" has no scenario`);
  }
  const { name, sha256 } = kept;
  const world = (await openWorld({ world: given })) ?? (await keptWorld(folder));
  if (!world)
    throw new UsageError(`--resume is "${resume}": its ${SCENARIO} is missing: expected --world FILE.json with the scenario ${name}`);
  if (world.sha256 !== sha256)
    throw new UsageError(
      `--resume is "${resume}": the scenario in "${world.file}" has the hash ${world.sha256}: expected ${sha256}, that of the scenario which was played before`,
    );
  return world;
}

/**
 * @param what names the domain, such as `rows.jsonl: line 3: domain`
 * @throws UsageError if the domain is a visitor's own scenario, and no file with it was read
 */
export function checkOpened(domain: string | undefined, what: string): void {
  if (domain === undefined || !isOwn(domain) || domainOf(domain)) return;
  throw new UsageError(`${what} is "${domain}", a scenario of yours: expected --world FILE.json with this scenario`);
}

/** The domains that settings of a run name. */
export const playedIn = ({ domain, val_domains }: Partial<Record<string, unknown>>): string[] =>
  [domain, val_domains].flatMap((names) => readNames(String(names ?? '')));

/** The same as `checkOpened` for the settings of a run. */
export function checkPlayed(settings: Partial<Record<string, unknown>>, file = ''): void {
  for (const name of playedIn(settings)) checkOpened(name, `${file}${name === settings.domain ? 'domain' : 'val_domains'}`);
}

/** @throws UsageError if the generated domain has no such level */
export function checkLevel(domain: string, level: string | undefined): void {
  const levels = levelsOf(domain);
  if (level !== undefined && !levels.includes(level))
    throw new UsageError(`--level is "${level}"${didYouMean(level, levels)}: expected ${levels.join(', ')} for the domain ${domain}`);
}
