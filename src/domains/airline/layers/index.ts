/** @file The layers of the airline. */
import { policyCheck } from '../../../agent/layers/policy.ts';
import { safetyCheck } from '../../../agent/layers/safety.ts';
import type { DomainLayers } from '../../../agent/layers.ts';
import { ACTS, AUDIT } from '../audit.ts';
import { checkAccess, othersShown } from './access.ts';
import { communication } from './communication.ts';
import { askedFor, checkCalls, TRANSFERS } from './policy.ts';
import { RULES } from './rules.ts';
import { recovery } from './recovery.ts';

const WORDS = Object.fromEntries(Object.entries(ACTS).map(([tool, { own }]) => [tool, own]));

const SHARED = { book: RULES, audit: AUDIT, checkAccess, asked: askedFor };

export const LAYERS: DomainLayers = {
  communication,
  recovery,
  policy: policyCheck({ ...SHARED, checkActs: checkCalls, transfers: () => TRANSFERS }),
  safety: safetyCheck({ ...SHARED, acts: WORDS, others: othersShown }),
};
