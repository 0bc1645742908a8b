/** @file The state of the current or the last import of a scenario file. */
import * as comlink from 'comlink';
import { READ_LIMIT_MS } from '../clients/in-worker.ts';
import { learnScenarios } from '../library/own-scenarios.ts';
import { askWorlds, endWorlds } from '../clients/worlds-client.ts';
import type { OwnScenario } from '../../worlds/types.ts';

class ScenarioImport {
  running = $state(false);
  /** The number of tasks that were checked. */
  checked = $state(0);
  problem = $state('');
  imported = $state.raw<OwnScenario | null>(null);

  /** Checks and stores a file. If its expressions keep the worker too busy, the worker is ended. */
  async start(file: File): Promise<void> {
    if (this.running) return;
    Object.assign(this, { running: true, checked: 0, problem: '', imported: null });
    let timer: ReturnType<typeof setTimeout> | undefined;
    const watch = (checked: number) => {
      this.checked = checked;
      clearTimeout(timer);
      timer = setTimeout(
        () => endWorlds(new Error(`the checks of ${file.name} made no progress for ${READ_LIMIT_MS / 1000} s and were ended`)),
        READ_LIMIT_MS,
      );
    };
    try {
      watch(0);
      this.imported = await askWorlds((browser) => browser.importScenario(file, file.name, comlink.proxy(watch)));
      await learnScenarios();
    } catch (cause) {
      this.problem = (cause as Error).message;
    } finally {
      clearTimeout(timer);
      this.running = false;
    }
  }
}

export const scenarioImport = new ScenarioImport();
