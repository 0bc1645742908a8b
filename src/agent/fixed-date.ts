/** @file The date that chat templates write. Some write the date of today. A fixed date gives the same tokens on every day. */

/** The parts of 26 July 2024 by their letters in Python's `strftime`. */
const PARTS: Record<string, string> = { d: '26', b: 'Jul', B: 'July', m: '07', Y: '2024', y: '24', H: '00', M: '00', S: '00' };

/** Writes the date in a format of `strftime`. Unknown letters stay as they are. */
export const fixedDate = (format: string): string => format.replace(/%([a-zA-Z])/g, (whole, part: string) => PARTS[part] ?? whole);
