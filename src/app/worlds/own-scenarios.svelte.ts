/** @file The state of the current or the last import of a scenario file. */
import { importScenario } from '../clients/import-scenario.ts';
import { learnScenarios } from '../library/own-scenarios.ts';
import type { OwnScenario } from '../../worlds/types.ts';

class ScenarioImport {
  running = $state(false);
  /** The number of tasks that were checked. */
  checked = $state(0);
  problem = $state('');
  imported = $state.raw<OwnScenario | null>(null);

  /** Checks and stores a file. */
  async start(file: File): Promise<void> {
    if (this.running) return;
    Object.assign(this, { running: true, checked: 0, problem: '', imported: null });
    try {
      this.imported = await importScenario(file, (checked) => (this.checked = checked));
      await learnScenarios();
    } catch (cause) {
      this.problem = (cause as Error).message;
    } finally {
      this.running = false;
    }
  }
}

export const scenarioImport = new ScenarioImport();
