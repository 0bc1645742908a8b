/**
 * @file The defaults of all settings. The build of the page replaces this module by its computed values (vite.config.ts), so
 * that the first page load contains neither the texts nor the schemas of the settings.
 */
import type { GrpoConfig } from '../records/run.ts';
import { collect, type SftConfig } from './settings/index.ts';

/** The settings of MUA-RL's script `mua_grpo.sh` and its configuration files. A preset lists only what it changes. */
export const PAPER = collect<GrpoConfig>((setting) => setting.default);

/** The settings of `mua sft`. */
export const SFT_DEFAULTS = collect<SftConfig>(({ sft }) => sft);
