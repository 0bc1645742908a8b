/** @file `mua export-run`: writes a run's conversations or metrics for other tools. It runs in Node and needs no GPU. */
import { stat } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { LISTED_FILE_NAME } from '../../formats/inspect-events.ts';
import { command } from '../command.ts';
import { UsageError } from '../errors.ts';
import { checkParent, unreadable, writeAll } from '../files.ts';
import { JSON_FLAG, MODEL } from './shared.ts';

export const exportRun = command({
  summary: 'write a run in a format of TRL, verl, pandas, Inspect or TensorBoard, or convert files of such tools for the page',
  inThread: true,
  positional: { name: 'path', value: 'DIR|FILE' },
  flags: {
    format: {
      type: 'string',
      value: 'NAME',
      help: 'rollouts (JSONL with tokens, TRL’s columns), parquet (the same), verl (as its rollout_data_dir), chat (JSONL to train on), inspect (a log for inspect view; a folder as --out gives it a name that Inspect lists), csv or tensorboard (metrics), bundle (to open in the page)',
      required: true,
      choices: ['rollouts', 'parquet', 'verl', 'chat', 'inspect', 'csv', 'tensorboard', 'bundle'],
    },
    out: { type: 'string', value: 'FILE', help: 'file to write; with inspect also a folder', required: true },
    model: {
      ...MODEL,
      required: false,
      help: 'model that played the agent, a folder or a GGUF file: verl needs its tokenizer, if the run is no folder of --out',
    },
    success: {
      type: 'string',
      value: 'RULE',
      help: 'which conversations of another tool succeeded, such as outcome_reward>=1 (default: what the files suggest; none: it is not known)',
    },
    writes: { type: 'string', value: 'TOOLS', help: 'the tools of another tool’s files that change data, separated by commas' },
    data: {
      type: 'string',
      value: 'DIR',
      help: 'folder (or zip) of tau-bench or tau2-bench: its results get policy, instruction, tools and database changes',
    },
    'min-reward': { type: 'number', value: 'X', help: 'only conversations with at least this reward' },
    successes: { type: 'boolean', help: 'only conversations that succeeded' },
    json: JSON_FLAG,
  },
  async run({ path, format, out, json: _, writes, success, ...given }, progress) {
    if (!path) throw new UsageError('DIR|FILE is missing: expected ./mua export-run DIR|FILE');
    if (given.model !== undefined && format !== 'verl') throw new UsageError('--model is given: expected --format verl with it');
    const inFolder = format === 'inspect' && (await stat(out).catch(() => null))?.isDirectory() === true;
    if (!inFolder) await checkParent('out', out);
    progress.phase(`reading ${path}`);
    const module = await import('../run-export.ts');
    const options = {
      ...given,
      success: success === 'none' ? null : success,
      ...(writes !== undefined && { writes: writes.split(',').map((tool) => tool.trim()) }),
    };
    const { content, lines, name, notes } = await module.exportRun(path, format, out, options).catch((error: Error) => {
      throw unreadable(path, error);
    });
    for (const note of notes) progress.note(note);
    const file = inFolder ? join(out, name) : out;
    progress.phase(`writing ${file}`);
    await writeAll({ [file]: content });
    return { out: file, format, lines, notes };
  },
  show: ({ out, format, lines }) => [
    `${out}: ${lines} ${format === 'csv' || format === 'tensorboard' ? 'steps' : 'conversations'}`,
    ...(format === 'inspect' && !LISTED_FILE_NAME.test(basename(out))
      ? ['inspect view opens this file by its path, but lists only files whose names begin with a time: give --out a folder']
      : []),
  ],
});
