/** @file `mua synthesize`: writes conversations for supervised fine-tuning. It runs in Node and needs no GPU. */
import type { SynthesisReport, WriterReport } from '../../synthesis/funnel.ts';
import { ANSWER_FLAGS, answerLines, type AnswerReport, answerReport, answerWorld } from '../answer.ts';
import { type Flags, readPairs, SEED } from '../args.ts';
import { checkLicence, commandOf } from '../card-file.ts';
import { command } from '../command.ts';
import { oneLine, UsageError } from '../errors.ts';
import { checkParent } from '../files.ts';
import { PLACES_FLAGS, readPlaces } from '../synthesis-places.ts';
import { agentLine } from '../evaluation-lines.ts';
import { checkAddress } from './server.ts';
import { JSON_FLAG, SET } from './shared.ts';
import { readWriters, WRITER_FLAGS } from './writer.ts';

const DEMONSTRATOR_FLAGS = {
  demonstrator: {
    type: 'string',
    value: 'NAME',
    help: 'careful (asks before each write), brisk (writes as soon as it knows enough) or both (a seeded draw)',
    default: 'both',
    choices: ['careful', 'brisk', 'both'],
  },
  side: {
    type: 'string',
    value: 'SIDE',
    help: 'agent or customer; customer writes conversations with varied words that teach a model to play the customer, and keeps all',
    default: 'agent',
    choices: ['agent', 'customer'],
  },
  'near-miss': {
    type: 'number',
    value: 'SHARE',
    help: 'after this share of the kept conversations, write the same conversation with one wrong decision, with the label near_miss; training skips these (default 0)',
    min: 0,
    max: 1,
  },
} as const satisfies Flags;

const CARD_FLAGS = {
  card: { type: 'string', value: 'README.md', help: 'also write the card of the data, as mua data-card does' },
  name: { type: 'string', value: 'NAME', help: 'the name of the data set on its card (default: the name of the file)' },
  licence: { type: 'string', value: 'ID', help: 'its licence on the card, as the Hub calls it' },
} as const satisfies Flags;

export const synthesize = command({
  summary: 'write conversations of honest demonstrators with the scripted customer, for one domain or several; keeps those with reward 1',
  flags: {
    ...PLACES_FLAGS,
    count: { type: 'integer', value: 'N', help: 'number of conversations to keep, of all domains together', default: 2000, min: 1 },
    ...DEMONSTRATOR_FLAGS,
    ...WRITER_FLAGS,
    ...ANSWER_FLAGS,
    set: {
      ...SET,
      help: 'shares of customers (customers.*), how often tools fail (tools.*) or what demonstrators do after a timeout (demonstrators.*); may be repeated (default: cooperative customers)',
    },
    seed: SEED,
    threads: { type: 'integer', value: 'N', help: 'how many domains are played at once (default: one for each core)', min: 1, max: 64 },
    out: { type: 'string', value: 'FILE.jsonl', help: 'output file', required: true },
    resume: { type: 'boolean', help: 'go on with the same command that was stopped' },
    ...CARD_FLAGS,
    json: JSON_FLAG,
  },
  async run({ json: _, ...flags }, progress): Promise<{ out: string; wanted: number; tools?: AnswerReport } & SynthesisReport> {
    checkLicence(flags.licence);
    const extra = (['name', 'licence'] as const).find((name) => flags[name] !== undefined);
    if (extra && flags.card === undefined) throw new UsageError(`--${extra} is given: expected --card README.md with it`);
    await checkParent('out', flags.out);
    if (flags.card !== undefined) await checkParent('card', flags.card, [flags.out]);
    const places = await readPlaces(flags);
    const writers = await readWriters(flags);
    if (flags.answer !== undefined && places.length > 1)
      throw new UsageError(`--answer is given with ${places.length} domains: expected one`);
    if (flags.answer?.startsWith('http')) checkAddress('--answer', flags.answer, 'MUA_ANSWER_KEY');
    const answers = await answerWorld(places[0]!.domain, undefined, flags);
    const { synthesizeFile } = await import('../synthesize-file.ts');
    const own = commandOf(['synthesize'], { ...flags, resume: undefined });
    const settings = readPairs('set', flags.set);
    const report = await synthesizeFile({ ...flags, places, writers, answerer: answers?.answerer, settings, command: own }, progress);
    return { ...report, wanted: flags.count, ...(answers && { tools: answerReport(answers) }) };
  },
  failed: ({ kept, wanted }) => kept < wanted,
  show: ({ out, kept, tried, solved, places, seconds, wanted, near_misses: misses, writers, dropped, tools }) => [
    `${tried} conversations played, ${solved} with reward 1, ${kept} written to ${out} in ${seconds.toFixed(0)} s`,
    ...(kept < wanted ? [`${wanted - kept} conversations are missing, because too many were refused: --tries allows more`] : []),
    ...(places.length > 1 ? places.map((own) => `  ${own.domain} ${own.level}: ${own.kept} of ${own.tried}`) : []),
    ...(dropped === undefined ? [] : [`${dropped} conversations dropped, because a simulated tool failed`]),
    ...(misses ? [nearMissLine(misses)] : []),
    ...(tools ? answerLines(tools) : []),
    ...(writers ? writerLines(writers) : []),
  ],
});

function nearMissLine({ kept, dropped }: { kept: Readonly<Record<string, number>>; dropped: number }): string {
  const kinds = Object.entries(kept).filter(([, count]) => count > 0);
  const total = kinds.reduce((sum, [, count]) => sum + count, 0);
  return `${total} near-misses (${kinds.map(([kind, count]) => `${kind} ${count}`).join(', ') || 'none'}); ${dropped} dropped, because they ended well or could not be made`;
}

function writerLines({ refused, reasons, spent }: WriterReport): string[] {
  const why = Object.entries(reasons).sort(([, a], [, b]) => b - a);
  return [
    `refused: ${Object.entries(refused).map(([step, count]) => `${step} ${count}`).join(', ')}`, // prettier-ignore
    ...why.map(([reason, count]) => `  ${String(count).padStart(6)}  ${oneLine(reason)}`),
    ...(spent.agent ? [agentLine(spent.agent)] : []),
    ...(spent.customer ? [agentLine(spent.customer).replace(/^agent/, 'customer')] : []),
  ];
}
