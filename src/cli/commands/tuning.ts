/** @file `mua sft` and `mua dpo`: train a model on a file into a folder, from the start or from a checkpoint. */
import { basename, resolve } from 'node:path';
import type { SftResult } from '../../trainer/messages.ts';
import type { Flags, Values } from '../args.ts';
import { ON } from '../backend.ts';
import { command } from '../command.ts';
import { UsageError } from '../errors.ts';
import { unreadable } from '../files.ts';
import { runJob } from '../job.ts';
import { sha256 } from '../out-folder.ts';
import { readBytes } from '../read.ts';
import { RunFolder } from '../run-folder.ts';
import { type SftSettings, sftSchema } from '../settings.ts';
import { BEFORE_CHECKPOINT, checkResume, newRun } from './new-run.ts';
import { JSON_FLAG, keepWhenStopped, MODEL, SET } from './shared.ts';
import { overridesOf, RUN_FLAGS, SEED_OF_PRESET, STEPS } from './train-flags.ts';

type TuningCommand = 'sft' | 'dpo';

const flagsOf = (data: string, set: string) =>
  ({
    model: { ...MODEL, required: false, help: 'model folder in Hugging Face layout (required, except with --resume)' },
    data: { type: 'string', value: 'FILE', help: `${data}, as JSONL or Parquet (required, except with --resume)` },
    steps: { ...STEPS, help: 'number of optimizer steps (default: two passes over the data)' },
    seed: SEED_OF_PRESET,
    set: { ...SET, help: `${SET.help}${set}` },
    ...RUN_FLAGS,
    on: ON,
    json: JSON_FLAG,
  }) as const satisfies Flags;

type TuningFlags = Values<ReturnType<typeof flagsOf>>;

/** The rows of --data as JSON Lines, and the SHA-256 of the file. */
async function readData(path: string): Promise<{ text: string; digest: string }> {
  try {
    const bytes = await readBytes(path);
    const { jsonlOf } = await import('../../formats/dataset-file.ts');
    const text = await jsonlOf(basename(path), bytes);
    if (text.trim() === '') throw new UsageError(`--data is "${path}": the file is empty`);
    return { text, digest: sha256(bytes) };
  } catch (error) {
    throw unreadable(`--data is "${path}"`, error as Error);
  }
}

async function newTuning(
  name: TuningCommand,
  flags: TuningFlags,
  digest: string,
  note: (text: string) => void,
): Promise<RunFolder<SftSettings>> {
  const { model, data } = flags;
  if (model === undefined) throw new UsageError('--model is missing: expected --model');
  return newRun(name, flags, model, { overrides: overridesOf(flags), model, data: resolve(data!), data_sha256: digest }, note);
}

const tuning = (name: TuningCommand, summary: string, flags: ReturnType<typeof flagsOf>) =>
  command({
    summary,
    flags,
    async run(given, progress) {
      checkResume(name, given, ['data', 'on', 'json']);
      const note = (text: string) => progress.note(text);
      let read: Awaited<ReturnType<typeof readData>> | undefined;
      const check = async (stored: SftSettings) => {
        const data = given.data ?? stored.data;
        read = await readData(data);
        if (read.digest !== stored.data_sha256)
          throw new UsageError(`--data is "${data}": it is not the file with which the run was started`);
      };
      if (given.resume === undefined) {
        if (given.data === undefined) throw new UsageError('--data is missing: expected --data');
        read = await readData(given.data);
      }
      const run =
        given.resume === undefined
          ? await newTuning(name, given, read!.digest, note)
          : await RunFolder.resume(given.resume, { flag: '--resume', command: name, note, settings: sftSchema, check });
      const { overrides } = run.settings;
      await keepWhenStopped(run, BEFORE_CHECKPOINT, () =>
        runJob({ on: given.on, request: { command: name, run: { ...run.order, overrides } }, runs: [run], data: read!.text, progress }),
      );
      return run.result<Omit<SftResult, 'model'>>();
    },
    show: ({ out, losses, tokens, seconds }) => [
      `loss ${losses[0]?.toFixed(4)} → ${losses.at(-1)?.toFixed(4)} in ${losses.length} steps, ${tokens} tokens, ${(tokens / seconds).toFixed(0)} tokens/s`,
      `model in ${out}`,
    ],
  });

export const sft = tuning(
  'sft',
  'train by supervised fine-tuning on conversations; only assistant tokens are in the loss',
  flagsOf('conversations in a format that mua convert reads', ''),
);

export const dpo = tuning(
  'dpo',
  'train by direct preference optimisation on pairs of a better and a worse answer, as mua convert --format preference writes them',
  flagsOf('rows with prompt, chosen and rejected', '; the loss has TRL’s beta, label_smoothing and loss_type (sigmoid or ipo)'),
);
