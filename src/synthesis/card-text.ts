/** @file The card of a data set as the README of a repository on the Hugging Face Hub. */
import type { Interval } from '../records/evaluation.ts';
import type { DataCard } from './data-card.ts';
import type { Difficulty } from './difficulty.ts';
import type { SynthesisReport } from './funnel.ts';
import { writtenText } from './funnel-text.ts';
import { number, percent, plain, table } from './markdown.ts';
import type { Found } from './near-misses.ts';

export interface CardFacts {
  name: string;
  /** The name of the data file, beside the card. */
  file: string;
  /** SHA-256 of the data file. */
  sha256: string;
  /** An identifier of SPDX. */
  licence: string | undefined;
  /** The commands that made the data and the card. */
  commands: readonly string[];
  /** How the rows were written. Absent: it is not known. */
  made?: SynthesisReport | undefined;
}

/** The same card and facts give the same text. */
export function cardText(card: DataCard, facts: CardFacts): string {
  const { diversity, difficulty, contamination, funnel, reviews, judge, spoilt } = card;
  const sections = [
    frontMatter(card, facts),
    `# ${plain(facts.name)}`,
    `${number(card.rows)} conversations of agents that call tools; ${number(card.kept)} are kept. SHA-256 of ${plain(facts.file)}: \`${facts.sha256}\`.`,
    `## Tasks\n\n${table(
      ['task', 'rows', 'kept'],
      Object.entries(card.places).map(([place, own]) => [place, number(own.rows), number(own.kept)]),
    )}`,
    ...(['intents', 'personas', 'demonstrators'] as const).flatMap((of) => tallySection(of, card[of])),
    ...(facts.made ? [`## How the rows were written\n\n${writtenText(facts.made)}`] : []),
    `## What is kept\n\n${funnel ? funnelText(card, funnel) : ungradedText(spoilt)}`,
    ...(judge
      ? [
          `The judge: ${judge.map((one) => `${plain(one.model)}, ${one.votes} vote${one.votes > 1 ? 's' : ''}, seed ${one.seed}, prompt ${one.prompt.slice(0, 12)}`).join('; ')}.`,
        ]
      : []),
    ...(reviews ? [reviewText(reviews)] : []),
    ...(card.agreement.length > 0 ? [`## Agreement\n\n${agreementTable(card)}\n\n${AGREEMENT_NOTE}`] : []),
    ...(card.near_misses ? [`## Conversations that were spoilt on purpose\n\n${nearMissTable(card.near_misses)}`] : []),
    ...(diversity ? [`## Diversity of the kept rows\n\n${diversityTable(diversity, card.repeated)}`] : []),
    ...(difficulty ? [`## Difficulty of the kept rows\n\n${difficultyText(difficulty, card.kept)}`] : []),
    `## Overlap with held-out tasks\n\n${contamination ? contaminationText(contamination) : 'Not measured.'}`,
    `## Limits\n\n${limits(card)}`,
    `## Commands\n\n\`\`\`sh\n${facts.commands.map((one) => one.replace(/[\r\n]+/g, ' ').replaceAll('```', "'''")).join('\n')}\n\`\`\``,
  ];
  return `${sections.join('\n\n')}\n`;
}

const fixed = (value: number | null, digits = 2) => (value === null ? '–' : value.toFixed(digits));
const interval = (one: Interval | null, show: (value: number) => string) =>
  one ? `${show(one.value)} (${show(one.low)} to ${show(one.high)})` : '–';
const cellOf = ({ graded, rejected, share }: Found) => `${rejected} of ${graded}${share ? `, ${interval(share, percent)}` : ''}`;

/** The sizes that the Hub knows. */
const SIZES = [
  [1e3, 'n<1K'],
  [1e4, '1K<n<10K'],
  [1e5, '10K<n<100K'],
  [Infinity, '100K<n<1M'],
] as const;

function frontMatter({ rows }: DataCard, { name, file, licence }: CardFacts): string {
  const size = SIZES.find(([most]) => rows < most)![1];
  return [
    '---',
    ...(licence === undefined ? [] : [`license: ${JSON.stringify(licence)}`]),
    `pretty_name: ${JSON.stringify(name)}`,
    'task_categories:',
    '- text-generation',
    'tags:',
    '- tool-use',
    '- multi-turn',
    '- synthetic',
    'size_categories:',
    `- ${size}`,
    'configs:',
    '- config_name: default',
    `  data_files: ${JSON.stringify(file)}`,
    '---',
  ].join('\n');
}

const TITLES = { intents: 'wish', personas: 'customer', demonstrators: 'demonstrator' } as const;
/** A table shows at most so many values. */
const SHOWN = 12;

function tallySection(of: keyof typeof TITLES, own: Record<string, number>): string[] {
  const all = Object.entries(own);
  const others = all.slice(SHOWN);
  const shown = all.slice(0, SHOWN).map(([name, n]) => [name, number(n)]);
  const rest = others.length > 0 ? [[`${others.length} others`, number(others.reduce((sum, [, n]) => sum + n, 0))]] : [];
  return all.length === 0 ? [] : [table([TITLES[of], 'kept rows'], [...shown, ...rest])];
}

function funnelText({ rows, kept }: DataCard, { rules, judge, waiting, reasons }: NonNullable<DataCard['funnel']>): string {
  const steps = [
    ['all rows', number(rows)],
    ['after the rules', number(rules)],
    ...(judge === null ? [] : [['after the judge', number(judge)]]),
    ['kept, after the decisions of persons', number(kept)],
  ];
  const why = Object.entries(reasons).map(([reason, n]) => [reason, number(n)]);
  return [
    table(['step', 'rows'], steps),
    `${number(waiting)} rows wait for a person.`,
    ...(why.length > 0 ? [table(['reason', 'rows'], why)] : []),
  ].join('\n\n');
}

const ungradedText = (spoilt: number): string =>
  `The rows are not graded. \`mua grade\` grades them.${spoilt > 0 ? ` ${number(spoilt)} of the rows ${spoilt > 1 ? 'were' : 'was'} spoilt on purpose (\`near_miss\`), and ${spoilt > 1 ? 'are' : 'is'} not kept.` : ''}`;

const reviewText = ({ reviewers, checked, bad, unsure, bound }: NonNullable<DataCard['reviews']>): string =>
  `${reviewers} person${reviewers > 1 ? 's' : ''} checked ${checked} of the rows that the machine keeps: ${bad} bad, and ${unsure} unsure beside them. With 95 % confidence at most ${percent(bound)} are bad.`;

const AGREEMENT_NOTE =
  'In brackets: 95 % intervals; that of kappa from 2,000 resamples. Kappa is near 0 if nearly all rows get one answer; AC1 is not. Yes and no: the agreement about each answer.';

const agreementTable = ({ agreement }: DataCard): string =>
  table(
    ['pair', 'about', 'rows', 'equal', 'kappa', 'AC1', 'yes', 'no'],
    agreement.map(({ pair, asked, n, raw, kappa, bootstrap, ac1, positive, negative }) => [
      pair,
      `\`${asked}\``,
      number(n),
      interval(raw, percent),
      interval(kappa && bootstrap && { value: kappa.value, ...bootstrap }, fixed),
      interval(ac1, fixed),
      fixed(positive?.value ?? null),
      fixed(negative?.value ?? null),
    ]),
  );

const nearMissTable = (rows: NonNullable<DataCard['near_misses']>): string =>
  `${table(
    ['kind', 'rows', 'rejected by rules', 'rejected by the judge', 'kept'],
    rows.map(({ kind, n, rules, judge, kept }) => [kind, number(n), cellOf(rules), judge ? cellOf(judge) : '–', number(kept)]),
  )}\n\nRejected good rows are false alarms.`;

function diversityTable(own: NonNullable<DataCard['diversity']>, repeated: number): string {
  const { tools } = own;
  const measures = table(
    ['measure', 'value'],
    [
      ['different first messages, names and numbers masked', number(own.openers)],
      ['different texts of the agent, masked', number(own.agent_texts)],
      ['different sequences of tools', `${number(own.sequences)}, ${own.sequence_entropy.toFixed(2)} bits`],
      ['different runs of three words: customer, agent', `${fixed(own.distinct_3.customer, 3)}, ${fixed(own.distinct_3.agent, 3)}`],
      ['near duplicates: masked runs of four words, Jaccard above 0.8', percent(own.near_duplicates)],
      ['exact repetitions', number(repeated)],
      ['tools that are called', `${tools.called} of ${tools.offered}`],
      ['calls and turns of a row', `${own.calls.toFixed(1)}, ${own.turns.toFixed(1)}`],
      ['rows with a failed call', percent(own.failed_calls)],
    ],
  );
  return tools.never.length === 0 ? measures : `${measures}\n\nNever called: ${tools.never.map(plain).join(', ')}.`;
}

function difficultyText({ agent, measured, trials, rows }: Difficulty, kept: number): string {
  const share = (count: number) => (measured === 0 ? '–' : percent(count / measured));
  return `${plain(agent)} played the tasks of ${number(measured)} of ${number(kept)} kept rows, with ${number(trials)} scored trials.\n\n${table(
    ['pass rate of the task', 'rows', 'share'],
    rows.map(({ rate, count }) => [rate, number(count), share(count)]),
  )}`;
}

const contaminationText = ({ against, rows, runs, openers, ids }: NonNullable<DataCard['contamination']>): string =>
  table(
    ['measure', 'value'],
    [
      ['held-out texts', number(against)],
      ['rows in which the customer says eight words in a row of one', percent(rows)],
      ['different runs of eight words that are held out', percent(runs)],
      ['rows with a held-out first message, names and numbers masked', percent(openers)],
      ['rows with the id of a held-out task', number(ids)],
    ],
  );

function limits({ funnel, judge, reviews, contamination }: DataCard): string {
  const own = [
    ...(funnel ? [] : ['No row was graded.']),
    ...(judge ? ['A model judged the rows. Its agreement with persons says how far it can be trusted.'] : ['No model judged the rows.']),
    ...(reviews ? [] : ['No person reviewed the rows.']),
    ...(contamination ? [] : ['The overlap with held-out tasks is not known.']),
    'The measures of diversity count words. They do not see whether two texts mean the same.',
  ];
  return own.map((one) => `- ${one}`).join('\n');
}
