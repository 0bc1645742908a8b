/** @file Makes the folder with which another training engine trains on a run's world, customers and settings. */
import type { RunRow } from '../../records/run.ts';
import { importedParts } from '../../benchmarks/imported-benchmark.ts';
import { adapterFolder } from '../../formats/adapters.ts';
import type { EngineName } from '../../formats/engines.ts';
import { zipFiles } from '../../exchange/zip.ts';
import { PRESETS } from '../../training/presets.ts';
import { overridesOf } from '../run-data/config-diff.ts';
import { askWorlds } from '../clients/worlds-client.ts';

/** The model in the folder's settings. Users of the folder can change it in these settings. */
const MODEL = 'Qwen/Qwen3-0.6B';
/** The address at which `mua env-serve` listens by default. */
const URL = 'http://127.0.0.1:8019';
/** The number of tasks for a generated domain. */
const TASKS = 1000;

/** Writes the folder as a zip. @throws Error if the data of an imported domain is not in this browser */
export async function trainingFolder(engine: EngineName, { request, config: own }: Pick<RunRow, 'request' | 'config'>): Promise<Blob> {
  // An imported run can lack settings.
  const config = { ...PRESETS[request.preset]!.config, ...own };
  const { domain, greeting, tasks, validation } = await askWorlds((browser) => browser.trainingTasks(config, TASKS));
  const serve = serveCommand(request.preset, config);
  const files = adapterFolder(engine, { domain, greeting, tasks, validation, config, model: MODEL, form: 'calls', serve, url: URL });
  const encoder = new TextEncoder();
  const bytes = Object.entries(files).map(([name, text]) => [`mua-${engine}/${name}`, encoder.encode(text)] as const);
  return zipFiles(Object.fromEntries(bytes), new Date());
}

/** The command that serves the run's world. It has a placeholder for the path of benchmark data, which a browser does not know. */
function serveCommand(preset: string, config: RunRow['config']): string {
  const imported = importedParts(config.domain);
  const place = imported
    ? ['--domain', imported.domain, '--rules', imported.benchmark, '--data', 'DATA_FOLDER']
    : ['--domain', config.domain, '--level', config.level];
  const { domain: _domain, level: _level, ...changed } = overridesOf(PRESETS[preset]!.config, config);
  const settings = Object.entries(changed).map(([name, value]) => `--set ${name}=${value}`);
  return ['./mua env-serve', ...place, '--preset', preset, '--seed', config.seed, ...settings, '--max-sessions 256'].join(' ');
}
