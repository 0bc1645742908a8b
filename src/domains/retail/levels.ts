/** @file The levels of the generated shop in their order in lists, each with its usual customers. */
import { shares } from '../../environments/conditions.ts';
import type { DomainLevel } from '../types.ts';
import { INTENTS } from './schema.ts';

/** Most of these customers change their mind, so an agent that writes before it asks often fails. */
const NANO = shares({ upfront: 0.19, on_request: 0.13, changes_mind: 0.55, pushy: 0.1, impossible: 0.03 });
/**
 * Almost all of these customers change their mind, and none withholds facts. So conversations are short, and asking is
 * rewarded at once.
 */
export const GLIMPSE_CUSTOMERS = shares({ upfront: 0.02, changes_mind: 0.95, impossible: 0.03 });
const STANDARD = shares({ upfront: 0.37, on_request: 0.32, changes_mind: 0.15, pushy: 0.1, impossible: 0.06 });

/** The intents of the small levels, which have only two tools that write. */
const TWO = ['cancel', 'modify_payment'] as const;

export const RETAIL_LEVELS = [
  { name: 'nano', customers: NANO, intents: TWO },
  // docs/decisions.md says why `small` is played with the customers of `nano`.
  { name: 'small', customers: NANO, uncoded: STANDARD, intents: INTENTS },
  { name: 'full', customers: STANDARD, intents: INTENTS },
  { name: 'glimpse', customers: GLIMPSE_CUSTOMERS, intents: TWO },
] as const satisfies readonly DomainLevel[];
