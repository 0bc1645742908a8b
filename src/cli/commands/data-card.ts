/** @file `mua data-card`: the card of a data set, as the README of a repository on the Hugging Face Hub. It runs in Node and needs no GPU. */
import { basename } from 'node:path';
import { dataCard, type DataCard } from '../../synthesis/data-card.ts';
import { passRates } from '../../synthesis/difficulty.ts';
import { cardText } from '../../synthesis/card-text.ts';
import { readSynthesis } from '../../synthesis/funnel-schema.ts';
import { readGradedRow, readGrades, readHeldOut } from '../../synthesis/rows.ts';
import { checkLicence, commandOf, nameOf } from '../card-file.ts';
import { command } from '../command.ts';
import { UsageError } from '../errors.ts';
import { checkParent, readJson, readText, unreadable, writeAll } from '../files.ts';
import { inFile, jsonLines, readReviewFiles } from '../graded-rows.ts';
import { sha256 } from '../out-folder.ts';
import type { ProgressBar } from '../progress.ts';
import { JSON_FLAG, percent } from './shared.ts';

export const dataCardCommand = command({
  summary: 'describe conversations to train on: counts, what is kept and why, agreement, diversity and overlap with held-out tasks',
  positional: { name: 'path', value: 'FILE.jsonl' },
  flags: {
    out: { type: 'string', value: 'README.md', help: 'the card, as the Hugging Face Hub reads it', required: true },
    against: { type: 'string', value: 'HELD.jsonl', help: 'held-out tasks or conversations: how many of their words the rows have' },
    played: { type: 'string', value: 'PATH', help: 'results of mua evaluate on the same tasks: how hard they are for its agent' },
    reviews: { type: 'list', value: 'FILE.jsonl', help: 'reviews of a person, as the page saves them; may be repeated' },
    made: { type: 'string', value: 'FILE.json', help: 'what mua synthesize --json printed: how the rows were written' },
    name: { type: 'string', value: 'NAME', help: 'the name of the data set (default: the name of the file)' },
    licence: { type: 'string', value: 'ID', help: 'its licence, as the Hub calls it, such as apache-2.0' },
    command: { type: 'list', value: 'TEXT', help: 'a command that made the file, for the card; may be repeated' },
    json: JSON_FLAG,
  },
  async run(
    { path, out, against, played, reviews, made, name, licence, command: commands },
    progress,
  ): Promise<DataCard & { out: string }> {
    if (!path) throw new UsageError('FILE.jsonl is missing: expected ./mua data-card FILE.jsonl');
    checkLicence(licence);
    await checkParent('out', out, [
      path,
      ...(against === undefined ? [] : [against]),
      ...(made === undefined ? [] : [made]),
      ...(played === undefined ? [] : [played]),
      ...reviews,
    ]);
    const text = await readText(path);
    progress.phase(`reading the rows of ${path}`);
    const rows = jsonLines(path, text).map(({ value, where }) =>
      inFile(path, () => ({ ...readGradedRow(value, where), grades: readGrades(value, where) })),
    );
    const texts = await Promise.all(reviews.map(async (file) => [file, await readText(file)] as const));
    const given = readReviewFiles(Object.fromEntries(texts), rows);
    const held =
      against === undefined
        ? null
        : jsonLines(against, await readText(against)).map(({ value, where }) => inFile(against, () => readHeldOut(value, where)));
    progress.phase('measuring the rows');
    const card = dataCard(rows, given, held, played === undefined ? null : await readPlayed(played, rows, progress));
    const flags = { out, against, played, reviews, made, name, licence, command: commands };
    const facts = {
      name: name ?? nameOf(path),
      file: basename(path),
      sha256: sha256(text),
      licence,
      made: made === undefined ? undefined : readSynthesis(await readJson(made), made),
      commands: [...commands, commandOf(['data-card', path], flags)],
    };
    await writeAll({ [out]: cardText(card, facts) });
    return { out, ...card };
  },
  show: ({ out, rows, kept, diversity }) => [
    `${rows} rows, ${kept} kept`,
    ...(diversity
      ? [
          `${diversity.openers} different first messages, ${diversity.agent_texts} different texts of the agent (masked), ${diversity.sequences} sequences of tools, ${percent(diversity.near_duplicates)} near duplicates`,
        ]
      : []),
    `the card is in ${out}`,
  ],
});

/** The pass rates of an evaluation. @throws UsageError if it is none of these tasks */
async function readPlayed(path: string, rows: readonly { id: string }[], progress: ProgressBar) {
  const [{ readForeignPath }, { importedEvaluations }] = await Promise.all([
    import('../foreign-path.ts'),
    import('../../trainer/imported-evaluation.ts'),
  ]);
  const file = await readForeignPath(path).catch((error: Error) => {
    throw unreadable(path, error);
  });
  for (const note of file.notes) progress.note(`mua: ${path}: ${note}`);
  const [evaluation, another] = importedEvaluations(file.rollouts, file);
  if (another)
    throw new UsageError(`--played is "${path}": it has several evaluations: expected one, such as ${path}/trajectories-1.jsonl`);
  const rates = passRates(evaluation!.row.results);
  if (!rows.some(({ id }) => rates.has(id)))
    throw new UsageError(
      `--played is "${path}": none of its ${rates.size} tasks with a score is that of a row: expected the domain, level, split and seed of the rows`,
    );
  return { agent: file.name, rates };
}
