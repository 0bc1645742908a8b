/** The versions that exported folders install are those with which `npm run engines` checks the folders. */
import { expect, it } from 'vitest';
import { VERSIONS } from '../../../src/formats/engines.ts';
import environments from '../../engines/environments.json';

it.each([
  [environments.trl, `trl==${VERSIONS.trl}`],
  [environments.trl, `transformers==${VERSIONS.transformers}`],
  [environments.trl, `openenv==${VERSIONS.openenv}`],
  [environments.verl, `verl==${VERSIONS.verl}`],
  [environments.verifiers, `verifiers[openenv]==${VERSIONS.verifiers}`],
  [environments.openenv, `skyrl-gym==${VERSIONS.skyrlGym}`],
])('%j: %s', ({ packages }, name) => {
  expect(packages).toContain(name);
});
