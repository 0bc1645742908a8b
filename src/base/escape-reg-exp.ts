/** A pattern that matches exactly this text, in a class of characters and with the flag `u` too. */
export const escapeRegExp = (text: string): string => text.replace(/[.*+?^${}()|[\]\\/]/g, '\\$&').replaceAll('-', '\\x2d');
