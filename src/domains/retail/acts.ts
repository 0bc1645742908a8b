/** @file The tool of the shop that transfers the customer to a human. */
export const TRANSFER = 'transfer_to_human_agents';
