/** @file What `mua train`, `mua sft` and `mua dpo` share: the folder of a new run, and what a resumed run accepts. */
import type { Values } from '../args.ts';
import { UsageError } from '../errors.ts';
import { findModel } from '../files.ts';
import { RunFolder } from '../run-folder.ts';
import { SCENARIO } from '../status.ts';
import type { OpenWorld } from '../world.ts';
import type { SftSettings, TrainSettings } from '../settings.ts';
import { checkAlone } from './shared.ts';
import type { RUN_FLAGS } from './train-flags.ts';

/** @param allowed flags that may be given together with `--resume` */
export function checkResume<F extends { resume: string | undefined; out: string | undefined }>(
  command: string,
  { resume, out, ...flags }: F,
  allowed: readonly string[],
): void {
  if (resume === undefined && out === undefined)
    throw new UsageError(`--out is missing: expected --out DIR, or ./mua ${command} --resume DIR`);
  if (resume !== undefined) checkAlone({ out, ...flags }, allowed);
}

export async function newRun<Settings extends TrainSettings | SftSettings>(
  command: string,
  { out, lora, force }: Pick<Values<typeof RUN_FLAGS>, 'out' | 'lora' | 'force'>,
  model: string,
  settings: Settings,
  note: (text: string) => void,
  world?: OpenWorld,
): Promise<RunFolder<Settings>> {
  const inputs = ['data' in settings ? settings.data : [], world?.file ?? []].flat();
  const kept = world && { [SCENARIO]: world.text };
  const files = await findModel(model, { tokenizer: true, lora });
  return RunFolder.create(out!, { command, settings, model: files, ...(kept && { kept }), force, inputs, note });
}

/** The message of a run that is stopped too early. */
export const BEFORE_CHECKPOINT =
  'stopped before the first checkpoint: no step is kept, so start the run again (with --force if its folder exists)';
