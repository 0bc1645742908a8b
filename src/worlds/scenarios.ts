/** @file The visitor's own scenarios: imports, checks, lists and deletes them. */
import { hasSessions } from '../environments/domain.ts';
import type { WorldTables } from '../environments/overlay.ts';
import { InputError } from '../base/input-error.ts';
import { sourceNamed } from '../domains/registry.ts';
import type { Finding } from '../scenarios/check.ts';
import { type OwnScenarios, readForPage, type ScenarioRow } from '../storage/own-scenarios.ts';
import { FIRST } from './open-world.ts';
import { rowCounts } from './tables.ts';
import type { OwnScenario } from './types.ts';

/** The tasks of each level that an import checks. `mua scenario check` can check more. */
const TASKS = 20;
const FINDINGS_SHOWN = 5;

export class Scenarios {
  constructor(private readonly own: OwnScenarios) {}

  /**
   * Checks a scenario file and its tasks, and stores it.
   * @param onProgress called with the number of tasks that were checked
   * @throws InputError that names the first fault of the file, or what its tasks lack. Then nothing is stored
   */
  async add(file: Blob, name: string, onProgress?: (done: number) => void): Promise<OwnScenario> {
    const [{ checkScenarioTasks }, { MOST_TEXT }] = await Promise.all([import('../scenarios/check.ts'), import('../scenarios/read.ts')]);
    // A character has at most four bytes.
    if (file.size > 4 * MOST_TEXT) throw new InputError(`${name}: has ${file.size} bytes: expected at most ${MOST_TEXT} characters`);
    const text = await file.text();
    const { findings } = await checkScenarioTasks(await readForPage(text, name), TASKS, 1, async (done) => onProgress?.(done));
    if (findings.length > 0) throw new InputError(`${name}: ${findingsText(findings)}`);
    return described(await this.own.store(text, name));
  }

  /** The newest first. A scenario whose worlds cannot be made has its reason. */
  async list(): Promise<OwnScenario[]> {
    await this.own.learn();
    const rows = (await this.own.list()).sort((a, b) => b.addedAt - a.addedAt);
    return Promise.all(rows.map(described));
  }

  /** The file as it was imported. @throws if it is not stored */
  async text(name: string): Promise<string> {
    const row = await this.own.get(name);
    if (!row) throw new Error(`there is no scenario "${name}" in this browser`);
    return row.text;
  }

  /** @throws Error that names a run, evaluation or dataset that needs the scenario */
  remove(name: string): Promise<void> {
    return this.own.remove(name);
  }
}

async function described({ name, title, file, sha256, addedAt, levels }: ScenarioRow): Promise<OwnScenario> {
  const scenario = { name, title, file, sha256, addedAt };
  try {
    const holds = await Promise.all(
      levels.map(async (level) => ({ name: level.name, rows: rowCounts(await firstWorld(name, level.name)) })),
    );
    return { ...scenario, levels: holds };
  } catch (error) {
    return { ...scenario, levels: [], problem: (error as Error).message };
  }
}

/** The tables of the first world of a level. A world that an MCP server holds has none to show. */
async function firstWorld(name: string, level: string): Promise<WorldTables> {
  const definition = await sourceNamed(name)!.load();
  return hasSessions(definition) || !definition.worlds ? new Map() : definition.world(definition.worlds.id(level, FIRST));
}

function findingsText(findings: readonly Finding[]): string {
  const shown = findings.slice(0, FINDINGS_SHOWN).map(({ check, level, of, text }) => `${check}: ${level}: ${of}: ${text}`);
  const others = findings.length - shown.length;
  return `${findings.length} checks of its tasks fail: ${[...shown, ...(others > 0 ? [`${others} more`] : [])].join('; ')}`;
}
