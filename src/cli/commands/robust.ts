/** @file `mua robust`: the reliability card of an agent. It plays the same tasks under plain and four other conditions. */
import { basename, resolve } from 'node:path';
import { reworderOf } from '../../domains/registry.ts';
import { type Metric, PERTURBATIONS, type ReliabilityCard } from '../../records/reliability.ts';
import type { Trajectory } from '../../records/trajectory.ts';
import { type Flags, SEED } from '../args.ts';
import { ON } from '../backend.ts';
import { command } from '../command.ts';
import { inOrder } from '../evaluation-folder.ts';
import { evaluationSettings, readTasks } from '../evaluation-tasks.ts';
import { checkParent, findModel, writeAll } from '../files.ts';
import { runJob } from '../job.ts';
import { AGENT_FLAGS, checkPlayer, readAgent } from './agent.ts';
import { DOMAIN, JSON_FLAG, LEVEL, MODEL, percent, SET, WEIGHTS } from './shared.ts';

const FLAGS = {
  model: { ...MODEL, required: false, help: 'model folder in Hugging Face layout, or a GGUF file (required, except with --agent)' },
  ...AGENT_FLAGS,
  lora: WEIGHTS.lora,
  precision: { ...WEIGHTS.precision, default: undefined, help: `${WEIGHTS.precision.help} (default f32)` },
  domain: DOMAIN,
  level: { ...LEVEL, default: undefined, help: `${LEVEL.help} (default: the first of the domain)` },
  split: { type: 'string', value: 'NAME', help: 'train, heldout, or unseen', default: 'heldout' },
  tasks: { type: 'string', value: 'N', help: 'number of tasks', default: '100' },
  trials: { type: 'integer', value: 'K', help: 'episodes for each task under each condition', min: 2, default: 5 },
  temperature: { type: 'number', value: 'T', help: 'sampling temperature; 0 is greedy (default 1)', min: 0 },
  seed: { ...SEED, help: `${SEED.help} (default 1)` },
  set: SET,
  out: { type: 'string', value: 'FILE.json', help: 'also write the card to this file' },
  output: { type: 'string', value: 'FILE.jsonl', help: 'also write every trajectory to this file' },
  on: ON,
  json: JSON_FLAG,
} as const satisfies Flags;

export const robust = command({
  summary: 'the reliability card of an agent: consistency, robustness, predictability and safety, on scripted customers',
  flags: FLAGS,
  async run({ json: _, on, ...flags }, progress): Promise<ReliabilityCard> {
    const { trials, seed, out, output } = flags;
    checkPlayer({ ...flags, on });
    const { place } = await readTasks({ ...flags, data: undefined, rules: undefined });
    const agent = await readAgent(flags);
    const model = flags.model === undefined ? undefined : await findModel(flags.model, { tokenizer: true, lora: flags.lora });
    for (const [flag, file] of Object.entries({ out, output })) if (file !== undefined) await checkParent(flag, file);
    const temperature = flags.agentTemperature ?? flags.temperature ?? 1;
    const hasOtherWords = (await reworderOf(place.domain)) !== undefined;
    const kinds = [undefined, ...PERTURBATIONS.filter((kind) => kind !== 'customers' || hasOtherWords)];
    const user = { mode: 'scripted' as const };
    /** The conversations of each condition, for `--output`. */
    const played: Trajectory[][] = kinds.map(() => []);
    const { card } = await runJob({
      on,
      request: {
        command: 'evaluate',
        options: {
          ...(agent && { server: agent.server }),
          ...place,
          ...{ trials, temperature, seed, settings: evaluationSettings(flags.set), precision: flags.precision ?? 'f32' },
          card: { agent: agent?.server.model ?? basename(resolve(flags.model!)) },
        },
        customers: kinds.map((kind) => ({ user, done: false, ...(kind && { perturbed: kind }) })),
      },
      ...(model && { model }),
      agentKey: agent?.agentKey,
      customers: played.map((own) => ({
        receive: (body) => void (output !== undefined && own.push(JSON.parse(body.toString('utf8')) as Trajectory)),
      })),
      progress,
    });
    const lines = () => played.flatMap(inOrder).map((trajectory) => `${JSON.stringify(trajectory)}\n`);
    await writeAll({
      ...(out !== undefined && { [out]: `${JSON.stringify(card, null, 1)}\n` }),
      ...(output !== undefined && { [output]: lines().join('') }),
    });
    return card!;
  },
  show: cardLines,
});

function cardLines({ agent, domain, level, split, tasks, trials, conditions, metrics }: ReliabilityCard): string[] {
  const rows = Object.entries(metrics).flatMap(([dimension, own]) => [
    dimension,
    ...Object.values<Metric>(own).map((metric) => {
      const value =
        'na' in metric
          ? `N/A: ${metric.na}`
          : `${metric.value.toFixed(3)}  (95 %: ${metric.low.toFixed(3)} to ${metric.high.toFixed(3)}; ${metric.n} ${metric.of})`;
      return `  ${metric.title.padEnd(30)} ${value}`;
    }),
  ]);
  const played = Object.entries(conditions).map(([kind, condition]) => {
    if ('na' in condition) return `  ${kind.padEnd(12)} N/A: ${condition.na}`;
    const { pass_1, episodes, unscored } = condition;
    const share = pass_1 ? `${percent(pass_1.value)}  (95 %: ${percent(pass_1.low)} to ${percent(pass_1.high)})` : 'not measured';
    return `  ${kind.padEnd(12)} ${share}; ${episodes} episodes, ${unscored} unscored`;
  });
  return [
    `${agent} on ${domain} ${level}, ${split}: ${tasks} tasks × ${trials} under each condition`,
    'pass^1 by condition',
    ...played,
    ...rows,
  ];
}
