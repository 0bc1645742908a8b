/** @file A task and models for a visitor who has no run yet: the bundled model before and after the recorded training. */
import { RECORDED_WEIGHTS } from './recorded-source.ts';
import type { RouteOf } from '../routes/routes.ts';

/**
 * Four customers of the recorded evaluation give their email and ask for another payment in their first message. The model before the
 * training asked none of them for a yes; the model after it asked all four. This is one of them. `scripts/measure-first-play.mts` asks
 * both models 16 times.
 */
export const FIRST_TASK: RouteOf<'play'> = { name: 'play', domain: 'retail', task: 'retail/nano/heldout/1/40' };
/** The customer's first message. */
export const FIRST_WORDS = 'Hello. My email is ada.brown4504@example.com. Please change the payment of order #W9397181 to my credit card.';

export const BEFORE_AND_AFTER = ['nano-retail', RECORDED_WEIGHTS] as const;
