/** @file All settings of a run, in the groups and the order of Setup. A setting is described here and nowhere else. */
import { z } from 'zod';
import type { GrpoConfig } from '../../records/run.ts';
import { method } from './method.ts';
import { customers } from './customers.ts';
import { evaluation } from './evaluation.ts';
import { lora } from './lora.ts';
import { loss } from './loss.ts';
import { optimizer } from './optimizer.ts';
import { rewards } from './rewards.ts';
import { rollout } from './rollout.ts';
import type { Setting, SettingGroup } from './setting.ts';
import { tasks } from './tasks.ts';

const groups = [method, tasks, rollout, customers, rewards, loss, lora, optimizer, evaluation] as const;
type Group = (typeof groups)[number];
type Intersection<U> = (U extends unknown ? (u: U) => void : never) extends (i: infer I) => void ? I : never;
type All = Intersection<Group['settings']>;
type Values<S> = { -readonly [K in keyof S]: S[K] extends { schema: infer Z extends z.ZodType } ? z.output<Z> : never };
type Schemas<S> = { -readonly [K in keyof S]: S[K] extends { schema: infer Z extends z.ZodType } ? Z : never };
/** The settings that `mua sft` has too. */
type SftSettings = { [K in keyof All as All[K] extends { sft: unknown } ? K : never]: All[K] };

/** The whole configuration of a run. */
type RunSettings = Values<All>;
/** The configuration of `mua sft`. */
export type SftConfig = Values<SftSettings>;
/** The optimizer (AdamW) and its learning-rate schedule. */
export type OptimiserConfig = Values<(typeof optimizer)['settings']> & Pick<SftConfig, 'total_training_steps' | 'seed'>;

declare module '../../records/run.ts' {
  // The room `records` may import nothing, so the settings join its type from here.
  // eslint-disable-next-line @typescript-eslint/no-empty-object-type
  interface GrpoConfig extends RunSettings {}
}

export type GroupId = Group['id'];
export const GROUPS: readonly (SettingGroup & { id: GroupId })[] = groups;

/** Each setting with its description. */
export const SETTINGS = Object.assign({}, ...GROUPS.map(({ settings }) => settings)) as Record<keyof GrpoConfig, Setting>;
const entries = Object.entries(SETTINGS);

/** A value of each setting; a setting without one is left out. */
export const collect = <T>(value: (setting: Setting) => unknown): T =>
  Object.fromEntries(entries.flatMap(([name, setting]) => (value(setting) === undefined ? [] : [[name, value(setting)]]))) as T;

export const grpoSchema = z.strictObject(collect<Schemas<All>>(({ schema }) => schema)) satisfies z.ZodType<GrpoConfig>;
export const sftSchema = z.strictObject(
  collect<Schemas<SftSettings>>(({ schema, sft }) => (sft === undefined ? undefined : schema)),
) satisfies z.ZodType<SftConfig>;

/** Names of verl and TRL → our names. */
const OWN_NAMES = new Map(entries.flatMap(([name, { trl, alias }]) => [trl, alias].flatMap((other) => (other ? [[other, name]] : []))));

/** The name that a setting has here, of a name from verl or TRL. Other names stay as they are. */
export const ownName = (given: string): string => OWN_NAMES.get(given) ?? given;

/** The label of a setting; undefined for a name that this version does not have. */
export const settingLabel = (name: string): string | undefined =>
  Object.hasOwn(SETTINGS, name) ? SETTINGS[name as keyof GrpoConfig].label : undefined;
