/** @file The part of a message that a scripted customer hears. */

/** The number of characters of a message that the customer hears. The longest message of an agent in tau-bench's results has 1,300. */
const MAX_HEARD = 8192;

/** The part of a message that the customer hears. With this limit and bounded patterns, even a hostile message is processed fast. */
export const hearable = (message: string): string => message.slice(0, MAX_HEARD);
