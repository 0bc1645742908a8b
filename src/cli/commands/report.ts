/** @file `mua report`: what recorded evaluations say. It runs in Node and needs no GPU. */
import { command } from '../command.ts';
import { UsageError } from '../errors.ts';
import { derivedLine, differenceLines, passLines, processLines, scoreLines, tallyLine } from '../evaluation-lines.ts';
import { checkParent, unreadable, writeAll } from '../files.ts';
import { cardLines } from '../scorecard-lines.ts';
import { openWorld, WORLD_FLAGS } from '../world.ts';
import { JSON_FLAG } from './shared.ts';

export const report = command({
  summary: 'pass^k of recorded evaluations: a folder of mua evaluate, results of tau-bench or tau2-bench, Inspect’s epochs',
  inThread: true,
  positional: { name: 'path', value: 'DIR|FILE' },
  flags: {
    against: {
      type: 'string',
      value: 'DIR|FILE',
      help: 'other evaluations of the same tasks: also prints the paired difference from them',
    },
    success: {
      type: 'string',
      value: 'RULE',
      help: 'which conversations of another tool succeeded, such as reward>=1 (default: what the files suggest)',
    },
    data: {
      type: 'string',
      value: 'DIR',
      help: 'folder (or zip) of tau-bench or tau2-bench: replays the calls on its database, and scores again',
    },
    card: {
      type: 'string',
      value: 'FILE.json',
      help: 'also make the scorecard: outcome, policy, communication, safety, recovery and operation, each figure with its interval',
    },
    ...WORLD_FLAGS,
    json: JSON_FLAG,
  },
  async run({ path, json: _, card: file, world, ...options }, progress) {
    if (!path) throw new UsageError('DIR|FILE is missing: expected ./mua report DIR|FILE');
    if (file !== undefined) await checkParent('card', file);
    if (world !== undefined && file === undefined) throw new UsageError('--world is given: expected --card FILE.json with it');
    await openWorld({ world });
    const { reportPaths } = await import('../report.ts');
    const { notes, ...result } = await reportPaths(path, { ...options, card: file !== undefined }).catch((error: Error) => {
      throw unreadable(path, error);
    });
    for (const note of notes) progress.note(note);
    if (file !== undefined) await writeAll({ [file]: `${JSON.stringify(result.card, null, 1)}\n` });
    return { ...result, notes };
  },
  show: ({ reports, compared, difference, card }) => [
    ...reports.flatMap(({ name, source, success, tasks, trials, pass_hat, unscored, ended, tool_calls, turns_mean, ...own }) => [
      `${name}, from ${source}${success === undefined ? '' : `, success is ${success}`}`,
      ...[...derivedLine(own), ...passLines(pass_hat), ...processLines(own)].map((line) => `  ${line}`),
      `  ${tasks} tasks × ${trials}; ${unscored} conversations unscored; ${turns_mean.toFixed(1)} turns`,
      ...tallyLine('ended by', ended).map((line) => `  ${line}`),
      ...scoreLines(own).map((line) => `  ${line}`),
      ...tallyLine('tools', tool_calls).map((line) => `  ${line}`),
    ]),
    ...(difference ? differenceLines(compared, [difference]) : []),
    ...(compared.length > 0 && !difference ? ['no task with a trial of the same number is scored in both'] : []),
    ...(card ? cardLines(card) : []),
  ],
});
