/** @file A task and models for a visitor who has no run yet: the bundled model before and after the recorded training. */
import { RECORDED_WEIGHTS } from './recorded-source.ts';
import type { RouteOf } from '../routes/routes.ts';

/**
 * Of the first 16 held-out tasks, this one shows best what the training changed: before it, the model asked for a yes in 4 of 16 answers to
 * the customer's first message; after it, in 15 of 16 (`npx tsx scripts/measure-first-play.mts`).
 */
export const FIRST_TASK: RouteOf<'play'> = { name: 'play', domain: 'retail', task: 'retail/nano/heldout/1/14' };
/** The customer's first message. */
export const FIRST_WORDS = 'Hello. My email is ben.novak7598@example.com. Please change the payment of order #W1554199 to my credit card.';

export const BEFORE_AND_AFTER = ['nano-retail', RECORDED_WEIGHTS] as const;
