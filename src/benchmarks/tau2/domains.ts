/** @file The domains of tau2-bench. */
import { exactAirline } from '../../domains/airline/exact.ts';
import type { ExactDomain } from '../../domains/exact/types.ts';
import { exactMock } from '../../domains/mock/exact.ts';
import { exactRetail } from '../../domains/retail/exact.ts';
import { telecom } from '../../domains/telecom/exact.ts';

export const TAU2_DOMAINS: readonly ExactDomain[] = [exactRetail.tau2, exactAirline.tau2, telecom, exactMock];
