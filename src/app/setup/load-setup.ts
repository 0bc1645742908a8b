/** @file Loads the code that reads settings. */

/** The visitor's scenarios become domains first, because the settings in an address can name one. */
export async function loadSetup(): Promise<typeof import('./setup.ts')> {
  const [setup, { learnScenarios }] = await Promise.all([import('./setup.ts'), import('../library/own-scenarios.ts')]);
  await learnScenarios();
  return setup;
}
