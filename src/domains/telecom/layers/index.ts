/** @file The layers of the provider. */
import { safetyCheck } from '../../../agent/layers/safety.ts';
import type { DomainLayers } from '../../../agent/layers.ts';
import { ACTS, AUDIT } from '../audit.ts';
import { checkAccess, othersShown } from './access.ts';
import { communication } from './communication.ts';
import { askedFor, policyCheck } from './policy.ts';
import { RULES } from './rules.ts';
import { recovery } from './recovery.ts';

const WORDS = Object.fromEntries(Object.entries(ACTS).map(([tool, { own }]) => [tool, own]));

export const LAYERS: DomainLayers = {
  communication,
  recovery,
  policy: policyCheck,
  safety: safetyCheck({ book: RULES, audit: AUDIT, acts: WORDS, policy: policyCheck, checkAccess, others: othersShown, asked: askedFor }),
};
