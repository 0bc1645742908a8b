/**
 * @file `status.json` of a folder of results. It says how far the command is, and which files the command has written. Folders
 * come from strangers too, so a status is checked before it is used, and it can only name files as the playground names them.
 */
import * as z from 'zod/mini';
import { type Fields, jsonObject, natural, text } from '../exchange/schema-fields.ts';

export const STATUS = 'status.json';
/** The visitor's own scenario that a run was trained on, or an evaluation was played in. */
export const SCENARIO = 'scenario.json';
export const CHECKPOINT = /^checkpoint-(\d{1,15})\.safetensors$/;
/** The logs to which a step adds lines. */
export const LOGS = ['metrics.jsonl', 'trajectories.jsonl', 'evaluations.jsonl'] as const;
/** Prefix of the logs with lines that a continued run has replaced. */
export const SUPERSEDED = 'superseded-';
/** The name of a log of a training or of an evaluation. */
export const LOG = /^(superseded-)?(metrics|evaluations|trajectories(-\d{1,6})?)\.jsonl$/;
/** The name of another file of a result, as far as it is no log. */
const FILE = /^[^.\p{C}/\\:][^\p{C}/\\:]{0,200}\.(json|jinja|safetensors|md)$/u;

export interface SavedCheckpoint {
  step: number;
  file: string;
  sha256: string;
  /** The length of each log when the checkpoint was saved. */
  bytes: Record<string, number>;
}

/** The content of `status.json`. */
export interface Status<Settings extends object = object> {
  command: string;
  /** If the process was killed, this is still `running`. */
  state: 'running' | 'interrupted' | 'failed' | 'done';
  pid?: number | undefined;
  /** The last finished step. */
  step: number;
  /** The settings with which the command was started. */
  settings: Settings;
  /** Names of the model's files, except for its weights. */
  files: string[];
  /** The files with the weights with which a run began. */
  weights?: Record<string, { path: string; sha256: string }> | undefined;
  /** The newest checkpoint comes first. */
  checkpoints: SavedCheckpoint[];
  /** Names of the checkpoints and of the trained model's files. A name is added before its file is written. */
  written?: string[] | undefined;
  /** The reason why the command failed. */
  message?: string | undefined;
  /** The SHA-256 digests of the files, in hex. Only after the command is done. */
  sha256?: Record<string, string> | undefined;
}

const hash = z.string().check(z.regex(/^[0-9a-f]{64}$/, '64 hexadecimal digits'));
export const isResultFile = (name: string) => (FILE.test(name) || LOG.test(name)) && name !== STATUS;
const file = z.string().check(z.refine(isResultFile, 'the plain name of a file of a result, such as config.json'));
const state = z.enum(['running', 'interrupted', 'failed', 'done']);
const checkpoint = z.object({
  step: natural,
  file: z.string().check(z.regex(CHECKPOINT, 'checkpoint-N.safetensors')),
  sha256: hash,
  bytes: z.record(z.string().check(z.regex(LOG, 'the name of a log')), natural),
} satisfies Fields<SavedCheckpoint>);
const checkpoints = z.array(checkpoint).check(z.maxLength(100));
const hashes = z.optional(z.record(file, hash));

export const statusSchema = z.object({
  command: text,
  state,
  pid: z.optional(natural),
  step: natural,
  settings: jsonObject(),
  files: z.array(file),
  weights: z.optional(z.record(text, z.object({ path: text, sha256: hash }))),
  checkpoints,
  written: z.optional(z.array(file)),
  message: z.optional(text),
  sha256: hashes,
} satisfies Fields<Status>);

/** The part of a status from which `mua verify` checks the files. */
export const verifiedSchema = z.object({ command: z.optional(text), state, checkpoints, sha256: hashes });
export type VerifiedStatus = z.output<typeof verifiedSchema>;

/** The files that a status names, and so those that the commands have written beside the logs. */
export const filesOf = ({ files, checkpoints, written = [], sha256 = {} }: Status): string[] => [
  ...files,
  ...checkpoints.map(({ file }) => file),
  ...written,
  ...Object.keys(sha256),
];
