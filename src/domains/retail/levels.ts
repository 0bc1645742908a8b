/** @file The levels of the generated shop in their order in lists, each with its usual customers. */
import { shares } from '../../environments/conditions.ts';
import type { DomainLevel } from '../types.ts';

/** Most of these customers change their mind, so an agent that writes before it asks often fails. */
const NANO = shares({ upfront: 0.19, on_request: 0.13, changes_mind: 0.55, pushy: 0.1, impossible: 0.03 });
/**
 * Almost all of these customers change their mind, and none withholds facts. So conversations are short, and asking is
 * rewarded at once.
 */
const GLIMPSE = shares({ upfront: 0.02, changes_mind: 0.95, impossible: 0.03 });
const STANDARD = shares({ upfront: 0.37, on_request: 0.32, changes_mind: 0.15, pushy: 0.1, impossible: 0.06 });

export const RETAIL_LEVELS = [
  { name: 'nano', customers: NANO },
  // docs/decisions.md says why `small` is played with the customers of `nano`.
  { name: 'small', customers: NANO, uncoded: STANDARD },
  { name: 'full', customers: STANDARD },
  { name: 'glimpse', customers: GLIMPSE },
] as const satisfies readonly DomainLevel[];
