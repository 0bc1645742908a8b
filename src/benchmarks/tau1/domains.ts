/** @file The domains of tau-bench. */
import { exactAirline } from '../../domains/airline/exact.ts';
import type { ExactDomain } from '../../domains/exact/types.ts';
import { exactRetail } from '../../domains/retail/exact.ts';

export const TAU1_DOMAINS: readonly ExactDomain[] = [exactRetail.tau1, exactAirline.tau1];
