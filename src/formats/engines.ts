/** @file The engines that train on `mua env-serve`. */

export const ENGINES = ['trl', 'verifiers', 'verl', 'skyrl'] as const;
export type EngineName = (typeof ENGINES)[number];

/** The versions with which `npm run engines` has run the adapters. */
export const VERSIONS = {
  trl: '1.16.0',
  transformers: '5.24.0',
  openenv: '0.10.0',
  verl: '0.9.1',
  verifiers: '0.4.0',
  skyrlGym: '0.4.0',
};
