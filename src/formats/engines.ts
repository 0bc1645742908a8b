/** @file The engines that train on `mua env-serve`. */

export const ENGINES = ['trl', 'verifiers', 'verl'] as const;
export type EngineName = (typeof ENGINES)[number];
