/** @file `mua verify` and `mua verify-log`: read a whole folder or file and name the damaged parts. They run in Node and need no GPU. */
import { command } from '../command.ts';
import { CommandError, UsageError } from '../errors.ts';
import { reason } from '../files.ts';
import { JSON_FLAG } from './shared.ts';

export const verify = command({
  summary: 'check a folder of a run, an experiment or a model, or an exported file; exit code 1 if a part is damaged',
  inThread: true,
  positional: { name: 'path', value: 'DIR|FILE' },
  flags: { json: JSON_FLAG },
  async run({ path }, progress) {
    if (!path) throw new UsageError('DIR|FILE is missing: expected ./mua verify DIR|FILE');
    const module = await import('../verify.ts');
    const result = await module
      .verify(path, (file) => progress.phase(`checking ${file}`))
      .catch((error: unknown) => {
        throw new UsageError(`${path}: ${reason(error)}`);
      });
    if (result === null)
      throw new UsageError(`"${path}": expected a folder of a run, an experiment or a model, a *.mua.zip or a *.mua-experiment.json`);
    for (const { file, problem } of result.problems) progress.note(`${file}: ${problem}`);
    if (result.problems.length > 0) throw new CommandError(`${result.problems.length} of ${result.checked} checks failed`);
    return { path, checked: result.checked };
  },
  show: ({ path, checked }) => [`${path} is undamaged: ${checked} ${checked === 1 ? 'check' : 'checks'} passed`],
});

export const verifyLog = command({
  summary: 'check the hash chains of tool calls in conversations; exit code 1 if a call was changed, removed or moved',
  inThread: true,
  positional: { name: 'path', value: 'DIR|FILE' },
  flags: { json: JSON_FLAG },
  async run({ path }, progress) {
    if (!path) throw new UsageError('DIR|FILE is missing: expected ./mua verify-log DIR|FILE');
    const module = await import('../verify.ts');
    const { problems, ...counts } = await module
      .verifyLogs(path, (file) => progress.phase(`checking ${file}`))
      .catch((error: unknown) => {
        throw new UsageError(`${path}: ${reason(error)}`);
      });
    if (counts.conversations === 0 && problems.length === 0)
      throw new UsageError(`"${path}": expected conversations in *.jsonl, a *.mua.zip, or a folder of them`);
    for (const { file, problem } of problems) progress.note(`${file}: ${problem}`);
    if (problems.length > 0) throw new CommandError(`${problems.length} problems in the logs of ${counts.conversations} conversations`);
    return { path, ...counts };
  },
  show: ({ path, conversations, calls, unlogged, unfinished }) => [
    `${path}: ${calls} calls of ${conversations} conversations are as they were logged${unlogged > 0 ? `; ${unlogged} conversations have no log` : ''}${unfinished > 0 ? `; ${unfinished} conversations began and did not end, because their process was killed or still plays them` : ''}`,
  ],
});
