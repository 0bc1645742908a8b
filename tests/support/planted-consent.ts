/** @file What the audit of consent found in its planted conversations, in the first run on the held-back ones. */
import { share } from './planted-layers/figures.ts';

/** Writes without a yes that were found, and writes with a yes that were reported, each of how many. */
export const CONSENT = {
  open: { conversations: 360, found: 188, missing: 188, alarms: 3, sound: 209 },
  'held back': { conversations: 60, found: 29, missing: 30, alarms: 2, sound: 34 },
};

export const consentRows = (): string[][] =>
  Object.entries(CONSENT).map(([part, { conversations, found, missing, alarms, sound }]) => [
    `${part}, ${conversations}`,
    share(found, missing),
    share(alarms, sound),
  ]);
