/** @file The settings that `mua train` and `mua sft` keep in `status.json`. */
import * as z from 'zod/mini';
import { endpoint } from '../exchange/run-schema.ts';
import { type Fields, jsonObject, name, text, texts } from '../exchange/schema-fields.ts';
import { local, scripted } from '../exchange/user-schema.ts';
import { ANSWER_FLAGS, type AnswerValues } from './answer.ts';
import { valuesSchema } from './args.ts';
import { type KeptWorld, keptWorldSchema } from './world.ts';
import type { BrowserUser, UserConfig } from '../records/user.ts';

/** The settings with which `mua train` was started. */
export interface TrainSettings {
  preset: string;
  algorithm: string;
  overrides: Record<string, string>;
  /** The imported benchmark whose tasks the run trains on. Absent: generated tasks. */
  benchmark?: { rules: string; domain: string; data: string; files_sha256: string };
  /** The visitor's own scenario, whose file is in the folder of the run. */
  world?: KeptWorld;
  /** The name or path of the model. */
  model: string;
  /** The adapter that the run continues to train, if an experiment names one. */
  lora?: string;
  user: UserConfig;
  val_user?: BrowserUser;
  /** Binds the key of the customer's server to its address (`keyProof`). */
  key?: string;
  /** Who answers the tools in training, if it is a cassette or a server. */
  answers?: KeptAnswers;
}

/** The flags of `--answer`. `key` binds the key of the server to its address (`keyProof`). */
export type KeptAnswers = AnswerValues & { answer: string; key?: string };

/** The settings with which `mua sft` was started. */
export interface SftSettings {
  overrides: Record<string, string>;
  model: string;
  data: string;
  data_sha256: string;
}

const server = z.extend(endpoint, { extraBody: z.optional(jsonObject<Record<string, unknown>>()) });

export const trainSchema = z.object({
  preset: name,
  algorithm: name,
  overrides: texts,
  benchmark: z.optional(z.object({ rules: text, domain: text, data: text, files_sha256: text })),
  world: z.optional(keptWorldSchema),
  model: text,
  lora: z.optional(text),
  user: z.union([scripted, server, local]),
  val_user: z.optional(z.union([scripted, local])),
  key: z.optional(text),
  answers: z.optional(
    z.extend(valuesSchema(ANSWER_FLAGS), { answer: text, key: z.optional(text) }) as unknown as z.ZodMiniType<KeptAnswers>,
  ),
} satisfies Fields<TrainSettings>);

export const sftSchema = z.object({ overrides: texts, model: text, data: text, data_sha256: text } satisfies Fields<SftSettings>);
