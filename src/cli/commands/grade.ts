/** @file `mua grade`: grades conversations to train on by rules and by a model. It runs in Node and needs no GPU. */
import { CHECKED } from '../../domains/registry.ts';
import type { PairAgreement } from '../../synthesis/agreement.ts';
import type { Found, NearMissRow } from '../../synthesis/near-misses.ts';
import { camelCase, type Flags, SEED, type Values } from '../args.ts';
import { command } from '../command.ts';
import { oneLine, UsageError } from '../errors.ts';
import { agentLine } from '../evaluation-lines.ts';
import { readText } from '../files.ts';
import type { GradeReport } from '../grade.ts';
import { openWorld, WORLD_FLAGS } from '../world.ts';
import { readServer } from './server.ts';
import { JSON_FLAG, percent } from './shared.ts';

const JUDGE_FLAGS = {
  'judge-model': {
    type: 'string',
    value: 'NAME',
    help: 'model to use on the judge’s server (default: the first chat model that it lists); set MUA_JUDGE_KEY to the server’s API key',
  },
  votes: {
    type: 'integer',
    value: 'N',
    help: 'how often each row is judged; a person decides where votes differ (default 1)',
    min: 1,
    max: 9,
  },
  'judge-max-tokens': { type: 'integer', value: 'N', help: 'most tokens of an answer, including thoughts (default 4096)', min: 1 },
  'judge-body': { type: 'string', value: 'JSON', help: 'more fields of each request to the judge’s server; null removes a field' },
  'judge-prompt-price': { type: 'number', value: 'X', help: 'price of a million prompt tokens of the judge, in any unit of money', min: 0 },
  'judge-completion-price': {
    type: 'number',
    value: 'X',
    help: 'price of a million completion tokens of the judge, in the same unit',
    min: 0,
  },
  'judge-budget': { type: 'number', value: 'X', help: 'ask the judge no more after it has cost this much', min: 0 },
} as const satisfies Flags;

type JudgeValues = Partial<Values<typeof JUDGE_FLAGS>> & { judge?: string | undefined };

export const grade = command({
  summary: 'grade conversations to train on: by rules, and with --judge by a model; each row gets its grades, and keep: yes, no or person',
  positional: { name: 'path', value: 'FILE.jsonl' },
  flags: {
    out: { type: 'string', value: 'GRADED.jsonl', help: 'the rows with their grades; the same command continues it', required: true },
    domain: {
      type: 'string',
      value: 'NAME',
      help: 'whose tools the agent called, for rows whose id does not say it',
      choices: CHECKED,
    },
    world: { ...WORLD_FLAGS.world, type: 'list', help: `${WORLD_FLAGS.world.help}; may be repeated` },
    judge: { type: 'string', value: 'URL', help: 'OpenAI-compatible server whose model judges the rows, without what the rules found' },
    ...JUDGE_FLAGS,
    reviews: { type: 'list', value: 'FILE.jsonl', help: 'reviews of a person, as the page saves them: how far all agree; may be repeated' },
    'near-misses': { type: 'boolean', help: 'for rows with the label near_miss: how many of each kind are found, and the false alarms' },
    seed: SEED,
    json: JSON_FLAG,
  },
  async run({ path, out, domain, world: files, judge, reviews, nearMisses, seed, json: _, ...flags }, progress): Promise<GradeReport> {
    if (!path) throw new UsageError('FILE.jsonl is missing: expected ./mua grade FILE.jsonl');
    const worlds: string[] = [];
    for (const file of files) worlds.push((await openWorld({ world: file, domain }))!.domain);
    const server = await readJudge({ judge, ...flags });
    const text = await readText(path);
    const texts = await Promise.all(reviews.map(async (name) => [name, await readText(name)] as const));
    progress.phase(`grading the rows of ${path}`);
    const { gradeFile } = await import('../grade.ts');
    return gradeFile({
      file: path,
      text,
      out,
      domain: worlds.length === 1 ? worlds[0] : domain,
      judge: server,
      votes: flags.votes ?? 1,
      seed,
      nearMisses: nearMisses ?? false,
      reviews: Object.fromEntries(texts),
      progress,
    });
  },
  show(report) {
    const { out, rows, keep, reasons, not_graded: open, agreement, near_misses: table, checked, left, stopped, judge } = report;
    return [
      `${rows} rows graded: ${keep.yes} to keep, ${keep.no} not, ${keep.person} for a person`,
      ...Object.entries(reasons).map(([name, count]) => `  ${String(count).padStart(6)}  ${oneLine(name)}`),
      ...(open === undefined ? [] : [`not graded by the judge, at least in part: ${open}`]),
      ...agreementLines(agreement),
      ...(table ? nearMissLines(table) : []),
      ...(checked
        ? [
            `a person checked ${checked.n} of the rows to keep: ${checked.bad} bad; with 95 % confidence at most ${percent(checked.bound)} are bad`,
          ]
        : []),
      ...(judge ? [agentLine(judge).replace(/^agent/, 'judge')] : []),
      ...(left > 0 ? [`${left} rows are not graded yet: ${oneLine(stopped ?? '')}`] : []),
      `grades in ${out}${left > 0 ? ', which the same command continues' : ''}`,
    ];
  },
});

async function readJudge(values: JudgeValues) {
  const { judge, judgeModel: model, judgeBody: body, judgeMaxTokens: maxTokens } = values;
  const { judgePromptPrice: promptPrice, judgeCompletionPrice: completionPrice, judgeBudget: budget } = values;
  if (judge === undefined) {
    const extra = Object.keys(JUDGE_FLAGS).find((name) => values[camelCase(name) as keyof JudgeValues] !== undefined);
    if (extra) throw new UsageError(`--${extra} is given: expected --judge URL with it`);
    return null;
  }
  const settings = { maxTokens, promptPrice, completionPrice, budget };
  const names = { flag: '--judge', prefix: 'judge', key: 'MUA_JUDGE_KEY' } as const;
  const { config, apiKey } = await readServer(names, { address: judge, model, body, settings }, 'an http(s) URL');
  return { ...config, ...(apiKey !== undefined && { apiKey }) };
}

const interval = (one: { value: number; low: number; high: number } | null) =>
  one ? `${one.value.toFixed(2)} (${one.low.toFixed(2)} to ${one.high.toFixed(2)})` : 'none';

function agreementLines(all: readonly PairAgreement[]): string[] {
  if (all.length === 0) return [];
  const width = Math.max(...all.map(({ asked }) => asked.length));
  return [
    `${'agreement'.padEnd(12)}  ${'about'.padEnd(width)}  ${'rows'.padStart(5)}  equal   kappa (95 %, bootstrap)  AC1                  yes   no`,
    ...all.map(({ pair, asked, n, raw, kappa, bootstrap, ac1, positive, negative }) => {
      const own = kappa && bootstrap ? interval({ value: kappa.value, ...bootstrap }) : 'none';
      const share = (one: { value: number } | null) => (one ? one.value.toFixed(2) : '–').padStart(4);
      return `${pair.padEnd(12)}  ${asked.padEnd(width)}  ${String(n).padStart(5)}  ${percent(raw.value).padStart(7)}  ${own.padEnd(23)}  ${interval(ac1).padEnd(20)}  ${share(positive)}  ${share(negative)}`;
    }),
  ];
}

function nearMissLines(table: readonly NearMissRow[]): string[] {
  const width = Math.max(...table.map(({ kind }) => kind.length));
  const cell = ({ graded, rejected, share }: Found) =>
    `${rejected} of ${graded}${share ? `: ${percent(share.value)} (${percent(share.low)} to ${percent(share.high)})` : ''}`;
  return [
    'near-misses: how many are rejected (for good rows: false alarms), and how many would still be kept',
    ...table.map(
      ({ kind, n, rules, judge, person, kept }) =>
        `  ${kind.padEnd(width)}  ${String(n).padStart(5)} rows  rules ${cell(rules)}${judge ? `  judge ${cell(judge)}` : ''}  person ${person}  kept ${kept}`,
    ),
  ];
}
