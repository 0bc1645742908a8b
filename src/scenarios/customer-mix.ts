/** @file The customers of scenarios. This file is small, because the page reads it at its start. */
import { shares } from '../environments/conditions.ts';
import type { CustomerShares } from '../records/conditions.ts';

/** The customers of tasks that choose no others. */
export const SCENARIO_CUSTOMERS: CustomerShares = shares({
  upfront: 0.38,
  on_request: 0.34,
  changes_mind: 0.18,
  pushy: 0.03,
  impossible: 0.07,
});
