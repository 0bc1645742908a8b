/** @file `mua shadow`: what a candidate would have done at each turn of real conversations. A candidate behind a server needs no GPU. */
import { basename, resolve } from 'node:path';
import type { Counted } from '../../evaluation/shadow/summary.ts';
import type { Interval } from '../../records/evaluation.ts';
import { SHADOW_KINDS, SHADOW_LABELS } from '../../records/shadow.ts';
import { AUDITED } from '../../domains/registry.ts';
import { SEED } from '../args.ts';
import { ON } from '../backend.ts';
import { type BenchmarkData, findPlaceData, PLACE_FLAGS } from '../benchmark-data.ts';
import { command } from '../command.ts';
import { oneLine, UsageError } from '../errors.ts';
import { agentLine } from '../evaluation-lines.ts';
import { findModel, readText } from '../files.ts';
import { weightsSha256 } from '../kept-player.ts';
import type { Candidate, ShadowReport } from '../shadow.ts';
import type { ShadowModel } from '../shadow-model.ts';
import { checkLevel, openWorld, WORLD_FLAGS } from '../world.ts';
import { AGENT_FLAGS, checkPlayer, readAgent } from './agent.ts';
import { checkAddress } from './server.ts';
import { DEFAULT_DOMAIN, JSON_FLAG, MODEL, percent, WEIGHTS } from './shared.ts';

/** The plain output lists at most so many turns. */
const LISTED = 20;

export const shadow = command({
  summary: 'a candidate answers each recorded turn of real conversations (OpenAI-style messages) beside what was done',
  positional: { name: 'path', value: 'CONVERSATIONS.jsonl' },
  flags: {
    ...AGENT_FLAGS,
    model: { ...MODEL, required: false, help: `${MODEL.help}, instead of --agent: it makes one turn each, and reads nothing before` },
    lora: WEIGHTS.lora,
    precision: { ...WEIGHTS.precision, default: undefined, help: `${WEIGHTS.precision.help} (default f32)` },
    domain: { ...PLACE_FLAGS.domain, help: `whose tools the agent called (default ${DEFAULT_DOMAIN})`, choices: AUDITED },
    level: { ...PLACE_FLAGS.level, choices: undefined },
    ...WORLD_FLAGS,
    rules: PLACE_FLAGS.rules,
    data: { ...PLACE_FLAGS.data, help: 'folder (or zip) with the benchmark’s files: the candidate reads in the worlds of the tasks' },
    temperature: { type: 'number', value: 'T', help: 'sampling temperature (default 0)', min: 0 },
    seed: SEED,
    out: { type: 'string', value: 'FILE.jsonl', help: 'keep each answer in this file as it comes; the same command continues it' },
    on: ON,
    json: JSON_FLAG,
  },
  async run({ path, domain: named, world: file, level, rules, data, seed, out, json: _, ...flags }, progress): Promise<ShadowReport> {
    if (!path) throw new UsageError('CONVERSATIONS.jsonl is missing: expected ./mua shadow CONVERSATIONS.jsonl');
    checkPlayer(flags);
    const world = await openWorld({ world: file, domain: named, rules, data });
    const domain = world?.domain ?? named ?? DEFAULT_DOMAIN;
    const benchmark = await findWorld({ domain, level, rules, data });
    if (!benchmark) checkLevel(domain, level);
    const agent = await readAgent(flags);
    if (agent && out !== undefined) checkAddress('--agent', agent.server.baseUrl, 'MUA_AGENT_KEY');
    const candidate = agent ?? (await modelOf(flags));
    const text = await readText(path);
    progress.phase(`reading the conversations of ${path}`);
    const { shadowFile } = await import('../shadow.ts');
    return shadowFile({
      file: path,
      text,
      domain,
      level,
      benchmark,
      candidate,
      temperature: flags.agentTemperature ?? flags.temperature ?? 0,
      seed,
      out,
      progress,
    });
  },
  show(report) {
    const { conversations, scored, unscored, left, stopped, kinds, unconfirmed, writing, same_of_calls: same, agent, out } = report;
    const rows = SHADOW_KINDS.filter((kind) => kind !== 'failed').map((kind) => row(SHADOW_LABELS[kind], kinds[kind]));
    const different = report.turns.filter((turn) => !['same_call', 'both_text', 'failed'].includes(turn.kind));
    const lines = different.map(({ conversation, message, kind, arguments: others = [] }) => {
      const names = [...new Set(others.map(({ argument }) => argument))].join(', ');
      return `  ${oneLine(`${conversation}, message ${message}: ${SHADOW_LABELS[kind]}${names && ` (${names})`}`)}`;
    });
    const failure = report.turns.find(({ kind }) => kind === 'failed')?.error;
    return [
      `${'turn'.padEnd(WIDTH)}   count  share (95 % interval, clustered by conversation)`,
      ...rows,
      row('wrote without consent', unconfirmed),
      ...(same ? [`same calls where a tool was called: ${share(same)}`] : []),
      `${scored} turns of ${conversations} conversations; ${writing} with a write; ${unscored} unscored${failure ? ` (${oneLine(failure)})` : ''}`,
      ...(left > 0 ? [`${left} turns were not asked: ${oneLine(stopped ?? '')}`] : []),
      ...(report.without_world ?? []).slice(0, LISTED).map(({ id, why }) => `no reads in conversation ${oneLine(`${id}: ${why}`)}`),
      ...(agent ? [agentLine(agent)] : []),
      ...lines.slice(0, LISTED),
      ...(lines.length > LISTED ? [`  … and ${lines.length - LISTED} more: see --json, or open --out under Evals`] : []),
      ...(out === undefined ? [] : [`answers in ${out}${left + unscored > 0 ? ', which the same command continues' : ''}`]),
    ];
  },
});

async function modelOf({
  model: directory = '',
  lora,
  precision = 'f32',
  on,
}: Partial<Record<'model' | 'lora', string>> & Partial<Pick<ShadowModel, 'precision' | 'on'>>): Promise<Candidate> {
  const model = await findModel(directory, { tokenizer: true, lora });
  return { model, precision, on, ref: { model: basename(resolve(directory)), model_sha256: await weightsSha256(model), precision } };
}

const WIDTH = 24;
const share = ({ value, low, high }: Interval) => `${percent(value)} (${percent(low)} to ${percent(high)})`;
const row = (label: string, { count, share: own }: Counted) =>
  `${label.padEnd(WIDTH)}  ${String(count).padStart(6)}  ${own ? share(own) : 'none'}`;

/** The benchmark whose worlds the candidate reads. Undefined without --rules and --data. */
const findWorld = async (place: Parameters<typeof findPlaceData>[0]): Promise<BenchmarkData | undefined> =>
  place.rules === undefined && place.data === undefined ? undefined : findPlaceData(place);
