/** @file Whether a run has metrics of writes. */
import { isAudited } from '../../agent/violations.ts';
import type { GrpoConfig } from '../../records/run.ts';

/** Runs of earlier versions did not measure writes with a yes. They lack the settings of the reward. */
export const measuresWrites = (config: GrpoConfig): boolean => isAudited(config.domain) && Object.hasOwn(config, 'reward.outcome');
