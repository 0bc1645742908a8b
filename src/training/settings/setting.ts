/** @file The description of a setting and of a group of settings, and the schemas that several settings share. */
import { z } from 'zod';

type Value = string | number | boolean;

/** A row of the decision sheet: where MUA-RL's code makes a choice, what that choice is, and what this project does. */
export interface Choice {
  topic: string;
  upstream: string;
  ours: string;
}

/** The whole description of a setting. Configuration, form, command line, documents and comparisons are generated from it. */
export interface Setting {
  schema: z.ZodType<Value>;
  /** The value in MUA-RL's script `mua_grpo.sh` and its configuration files. A preset lists only what it changes. */
  default: Value;
  /** The default in `mua sft`. Absent if `mua sft` has no such setting. */
  sft?: Value;
  label: string;
  help: string;
  /** The name in TRL, if it differs. */
  trl?: string;
  /** The path of the setting in verl's configuration. */
  verl?: string;
  /** Another name that is accepted for the setting: verl's name without its path. */
  alias?: string;
  /** Other words for the values of this setting: maps a word to the value. */
  valueAliases?: Readonly<Record<string, string>>;
  /** The row of the decision sheet, if MUA-RL's choice needs one. */
  choice?: Choice;
  /** The view Setup shows this setting outside its group. */
  apart?: true;
}

export interface SettingGroup {
  id: string;
  title: string;
  settings: Readonly<Record<string, Setting>>;
  /** Rows of the decision sheet that have no setting, because MUA-RL's way is not available here. */
  choices?: readonly Choice[];
}

/** With this type, a default that does not fit its schema is a compile error. */
type Fitting<S extends Record<string, Setting>> = {
  [K in keyof S]: { default: z.output<S[K]['schema']>; sft?: z.output<S[K]['schema']> };
};

export const settingGroup = <const Id extends string, const S extends Record<string, Setting>>(group: {
  id: Id;
  title: string;
  settings: S & Fitting<S>;
  choices?: readonly Choice[];
}): { id: Id; title: string; settings: S; choices?: readonly Choice[] } => group;

/**
 * The most steps, conversations or tokens of one kind. The work keeps lists of this length, and a list of JavaScript cannot have 4 billion
 * entries.
 */
const MOST = 2 ** 20;
export const count = z.int().min(1).max(MOST);
export const natural = z.int().min(0).max(MOST);
export const seed = z.int().min(0).max(0xffffffff);
/** A number of tokens in all sequences together. */
export const allTokens = z.int().min(0).max(0xffffffff);
export const positive = z.number().positive();
export const amount = z.number().min(0);
export const share = z.number().min(0).max(1);
