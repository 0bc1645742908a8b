/** Loads the code that reads settings. First the visitor's scenarios become domains, because an address can name one. */
export async function loadSetup(): Promise<typeof import('./setup.ts')> {
  const [setup, { learnScenarios }] = await Promise.all([import('./setup.ts'), import('../library/own-scenarios.ts')]);
  await learnScenarios();
  return setup;
}
