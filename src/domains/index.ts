/** @file The domains, one line each. `registry.ts` answers every question about them. */
export { airline } from './airline/index.ts';
export { mock } from './mock/index.ts';
export { retail } from './retail/index.ts';
export { telecom } from './telecom/index.ts';
