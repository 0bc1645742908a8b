/** @file The visitor's own scenarios: stored in the browser, and made domains of the thread that asks for them. */
import type { EntityTable } from 'dexie';
import { InputError } from '../base/input-error.ts';
import { storageError } from '../base/storage-error.ts';
import { VersionedDatabase } from '../base/versioned-database.ts';
import { reachedBy, readOwn } from '../domains/own.ts';
import { addDomain, isOwn, removeDomain, sourceNamed } from '../domains/registry.ts';
import { readNames } from '../environments/conditions.ts';
import type { DomainSource } from '../environments/domain.ts';
import { moduleOf, type ScenarioSummary, summaryOf } from '../scenarios/module.ts';
import type { ReadScenario } from '../scenarios/read.ts';
import { RunDatabase } from './database.ts';

/**
 * Reads a scenario file for the page.
 * @throws InputError that names the first fault; also if the scenario starts a program or asks a server: a file can come from a stranger
 */
export async function readForPage(text: string, file: string): Promise<ReadScenario> {
  const own = await readOwn(text, file);
  const reached = reachedBy(own);
  if (reached) throw new InputError(`${file}: host: needs ${reached}: expected "here", a server inside the page`);
  return own;
}

/** A stored scenario: what lists show, and the text of its file. */
export interface ScenarioRow extends ScenarioSummary {
  /** The hash of the scenario, not of the text. */
  sha256: string;
  /** The name of the file, for messages. */
  file: string;
  text: string;
  addedAt: number;
}

/** The scenarios have a database of their own, so that the layout of runs stays as it is. */
export class ScenarioDatabase extends VersionedDatabase {
  declare scenarios: EntityTable<ScenarioRow, 'name'>;

  constructor(name = 'mua-scenarios') {
    super(name, 1, { scenarios: 'name' }, { chromeTransactionDurability: 'strict' });
  }
}

export class OwnScenarios {
  /** The stored scenarios that are domains of this thread. */
  #known: readonly string[] = [];

  constructor(
    private readonly db = new ScenarioDatabase(),
    private readonly runs = () => new RunDatabase(),
  ) {}

  /** Makes each stored scenario a domain of this thread. Those that were deleted are no domains any more. */
  async learn(): Promise<void> {
    const names = await this.db.scenarios.toCollection().primaryKeys();
    const added = names.filter((name) => !this.#known.includes(name));
    for (const row of await this.db.scenarios.bulkGet(added)) if (row) addDomain(moduleOf(row, () => readRow(row)));
    for (const name of this.#known) if (!names.includes(name)) removeDomain(name);
    this.#known = names;
  }

  /** The worlds of a visitor's own scenario. Undefined if the name is not that of a stored one. */
  async find(name: string): Promise<DomainSource | undefined> {
    if (!isOwn(name)) return undefined;
    if (!sourceNamed(name)) await this.learn();
    return sourceNamed(name);
  }

  /**
   * Stores a scenario. Storing it again does nothing.
   * @param text the text of its file  @param file the name of the file, for messages
   * @throws InputError that names the first fault; Error if the storage is full. Then nothing is stored
   */
  async store(text: string, file: string): Promise<ScenarioRow> {
    const own = await readOwn(text, file);
    const row = { ...summaryOf(own), sha256: own.hash, file, text, addedAt: Date.now() };
    const stored = await this.db
      .transaction('rw', this.db.scenarios, async () => {
        const same = await this.db.scenarios.get(row.name);
        // The name has only the start of the hash.
        if (same && same.sha256 !== row.sha256)
          throw new InputError(
            `${file}: its hash ${row.sha256} begins like that of the stored scenario ${same.name}, ${same.sha256}: change "title" a little`,
          );
        if (!same) await this.db.scenarios.add(row);
        return same ?? row;
      })
      .catch((cause: unknown) => {
        throw storageError(cause, 'this scenario');
      });
    await this.learn();
    return stored;
  }

  get(name: string): Promise<ScenarioRow | undefined> {
    return this.db.scenarios.get(name);
  }

  list(): Promise<ScenarioRow[]> {
    return this.db.scenarios.toArray();
  }

  /** @throws Error that names a run, evaluation, experiment or dataset that needs the scenario */
  async remove(name: string): Promise<void> {
    const user = await this.#userOf(name);
    if (user !== undefined) throw new Error(`${user} needs the scenario ${name}: delete that first`);
    await this.db.scenarios.delete(name);
    await this.learn();
  }

  async #userOf(name: string): Promise<string | undefined> {
    const { runs, evaluations, datasets, experiments } = this.runs();
    const isNamed = ({ domain, val_domains }: Partial<Record<string, unknown>>) =>
      [domain, ...readNames(String(val_domains ?? ''))].includes(name);
    const run = await runs.filter(({ config }) => isNamed({ ...config })).first();
    if (run) return `the run "${run.name}"`;
    const evaluation = await evaluations.filter(({ settings }) => settings.domain === name).first();
    if (evaluation) return `an evaluation of ${new Date(evaluation.createdAt).toISOString().slice(0, 10)}`;
    const experiment = await experiments
      .filter(({ base, variants, evaluation }) => [base, ...variants].some(({ overrides }) => isNamed(overrides)) || isNamed(evaluation))
      .first();
    if (experiment) return `the experiment "${experiment.name}"`;
    const dataset = await datasets.filter(({ made }) => made?.domain === name).first();
    return dataset && `the dataset "${dataset.name}"`;
  }
}

/** @throws InputError if this version cannot read the file any more, or reads another scenario in it */
async function readRow({ text, file, sha256 }: ScenarioRow): Promise<ReadScenario> {
  const own = await readOwn(text, file).catch((error: Error) => {
    throw new InputError(`the stored scenario ${error.message}`);
  });
  if (own.hash !== sha256) throw new InputError(`the stored scenario ${file} has the hash ${own.hash}: expected ${sha256}`);
  return own;
}
