/** @file `mua convert`: writes conversations in the format of another program, or as pairs. It runs in Node and needs no GPU. */
import { stat } from 'node:fs/promises';
import { basename } from 'node:path';
import { isObject } from '../../base/json.ts';
import { isConversationRow } from '../../agent/conversation-row.ts';
import { InputError } from '../../base/input-error.ts';
import { DATASET_FORMATS } from '../../formats/write-dataset.ts';
import { command } from '../command.ts';
import { UsageError } from '../errors.ts';
import { checkParent, unreadable, writeAll } from '../files.ts';
import { readBytes } from '../read.ts';
import { JSON_FLAG } from './shared.ts';

export const convert = command({
  summary: 'write conversations in a format of OpenAI, TRL, LLaMA-Factory or MUA-RL’s dataset, or as pairs for mua dpo',
  inThread: true,
  positional: { name: 'path', value: 'FILE|DIR' },
  flags: {
    format: {
      type: 'string',
      value: 'NAME',
      help: 'chat (OpenAI’s messages, arguments as texts), trl (arguments as objects), sharegpt (for LLaMA-Factory), preference (pairs: prompt, chosen, rejected), mua-rl (MUA-RL’s dataset: id, source, messages, tools) or parquet (the same in Parquet)',
      required: true,
      choices: [...DATASET_FORMATS],
    },
    out: { type: 'string', value: 'FILE', help: 'file to write', required: true },
    json: JSON_FLAG,
  },
  async run({ path, format, out }, progress) {
    if (!path) throw new UsageError('FILE|DIR is missing: expected ./mua convert FILE|DIR');
    await checkParent('out', out, [path]);
    progress.phase(`reading ${path}`);
    const { convertDataset } = await import('../../formats/convert-dataset.ts');
    const notes: string[] = [];
    const { content, rows } = await rowsAt(path, out, notes)
      .then((found) =>
        convertDataset(
          found,
          DATASET_FORMATS.find((name) => name === format)!,
          (line) => notes.push(line),
        ),
      )
      .catch((error: Error) => {
        throw unreadable(path, error);
      });
    for (const note of notes) progress.note(note);
    progress.phase(`writing ${out}`);
    await writeAll({ [out]: content });
    return { out, format, rows, notes };
  },
  show: ({ out, format, rows }) => [`${out}: ${rows} ${format === 'preference' ? 'pairs' : 'conversations'}`],
});

/** The rows of a file of conversations. Runs, evaluations and files of other tools become such rows first. */
async function rowsAt(path: string, out: string, notes: string[]) {
  const { rowsOfFile } = await import('../../formats/dataset-file.ts');
  const info = await stat(path);
  if (!info.isDirectory() && !/\.(zip|eval)$/.test(path)) {
    const rows = await rowsOfFile(basename(path), await readBytes(path));
    if (rows.length === 0) throw new InputError(`${path} is empty: expected conversations`);
    if (rows.some(({ value }) => isObject(value) && isConversationRow(value))) return rows;
  }
  const { exportRun } = await import('../run-export.ts');
  const run = await exportRun(path, 'chat', out);
  notes.push(...run.notes);
  return rowsOfFile(path, run.content);
}
