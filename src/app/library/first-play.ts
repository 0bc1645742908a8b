/** @file A task and models for a visitor who has no run yet: the bundled model before and after the recorded training. */
import { RECORDED_WEIGHTS } from './recorded-source.ts';
import type { RouteOf } from '../routes/routes.ts';

/** The customer of this task names her order, and changes her mind. */
export const FIRST_TASK: RouteOf<'play'> = { name: 'play', domain: 'retail', task: 'retail/nano/heldout/1/7' };

export const BEFORE_AND_AFTER = ['nano-retail', RECORDED_WEIGHTS] as const;
