/** @file All settings of a run. Groups and order are those of the view Setup. A setting is described in this folder and nowhere else. */
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
/** The settings that `mua sft` also has. */
type SftSettings = { [K in keyof All as All[K] extends { sft: unknown } ? K : never]: All[K] };

/** The whole configuration of a run. */
type RunSettings = Values<All>;
/** The configuration of `mua sft`. */
export type SftConfig = Values<SftSettings>;
/** The optimizer (AdamW) and its learning-rate schedule. */
export type OptimiserConfig = Values<(typeof optimizer)['settings']> & Pick<SftConfig, 'total_training_steps' | 'seed'>;

declare module '../../records/run.ts' {
  // The room `records` may not import anything, so the settings are added to its type here.
  // eslint-disable-next-line @typescript-eslint/no-empty-object-type
  interface GrpoConfig extends RunSettings {}
}

export type GroupId = Group['id'];
export const GROUPS: readonly (SettingGroup & { id: GroupId })[] = groups;

/** The description of each setting, by its name. */
export const SETTINGS = Object.assign({}, ...GROUPS.map(({ settings }) => settings)) as Record<keyof GrpoConfig, Setting>;
const entries = Object.entries(SETTINGS);

/** Makes an object with a value for each setting. A setting for which `value` returns undefined is absent. */
export const collect = <T>(value: (setting: Setting) => unknown): T =>
  Object.fromEntries(entries.flatMap(([name, setting]) => (value(setting) === undefined ? [] : [[name, value(setting)]]))) as T;

export const grpoSchema = z.strictObject(collect<Schemas<All>>(({ schema }) => schema)) satisfies z.ZodType<GrpoConfig>;
export const sftSchema = z.strictObject(
  collect<Schemas<SftSettings>>(({ schema, sft }) => (sft === undefined ? undefined : schema)),
) satisfies z.ZodType<SftConfig>;

/** Maps names of verl and TRL to our names. */
const OWN_NAMES = new Map(entries.flatMap(([name, { trl, alias }]) => [trl, alias].flatMap((other) => (other ? [[other, name]] : []))));

/** Our name for a setting that has this name in verl or TRL. Other names are returned unchanged. */
export const ownName = (given: string): string => OWN_NAMES.get(given) ?? given;

/** The label of a setting. Undefined if this version has no setting of that name. */
export const settingLabel = (name: string): string | undefined =>
  Object.hasOwn(SETTINGS, name) ? SETTINGS[name as keyof GrpoConfig].label : undefined;
