/** @file The flags that say who answers the calls of a scenario's tools. */
import { appendFileSync, truncateSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { readNoise, scenarios } from '../domains/answered.ts';
import { replaceWorld } from '../domains/registry.ts';
import { shown } from '../base/input-error.ts';
import type { AgentUsage } from '../records/agent-server.ts';
import type { Answerer } from '../records/answerer.ts';
import type { ReadScenario } from '../scenarios/read.ts';
import type { OpenedAnswerer } from '../scenarios/simulated/index.ts';
import type { SimulatorCounts } from '../scenarios/simulated/simulator.ts';
import { camelCase, type Flags, type Values } from './args.ts';
import type { BackendName } from './backend.ts';
import { checkAddress, readServer } from './commands/server.ts';
import { errorOfWork, UsageError } from './errors.ts';
import { checkParent, readText } from './files.ts';
import { lockFolder } from './lock-file.ts';

const EXPECTED = 'code, noisy@RATE, recorded@FILE or an http(s) URL';

export const ANSWER_FLAGS = {
  answer: {
    type: 'string',
    value: 'WHO',
    help: 'who answers the tools of a scenario: code (its own tools), noisy@RATE (with contradictions in this share of answers; noisy@RATE:KIND+KIND chooses the kinds), recorded@FILE (a cassette) or the URL of an OpenAI-compatible server (default: its own tools, without checks)',
  },
  cassette: { type: 'string', value: 'FILE.jsonl', help: 'record the answers into this file; answers that it has are not asked again' },
  unchecked: { type: 'boolean', help: 'let the contradictions of --answer noisy pass without the checks, to measure what they do' },
  'answer-seed': { type: 'integer', value: 'S', help: 'seed of --answer noisy (default 1)', min: 0 },
  'answer-model': {
    type: 'string',
    value: 'NAME',
    help: 'model to use on the server of --answer (default: the first chat model that it lists); set MUA_ANSWER_KEY to the server’s API key',
  },
  'answer-max-tokens': { type: 'integer', value: 'N', help: 'most tokens of an answer, including thoughts (default 4096)', min: 1 },
  'answer-body': { type: 'string', value: 'JSON', help: 'more fields of each request to the server of --answer; null removes a field' },
  'answer-prompt-price': { type: 'number', value: 'X', help: 'price of a million prompt tokens, in any unit of money', min: 0 },
  'answer-completion-price': { type: 'number', value: 'X', help: 'price of a million completion tokens, in the same unit', min: 0 },
  'answer-budget': { type: 'number', value: 'X', help: 'stop after the answers of this command have cost this much', min: 0 },
} as const satisfies Flags;

export type AnswerValues = Partial<Values<typeof ANSWER_FLAGS>>;

/** How a cassette begins in `--answer`. */
export const RECORDED = 'recorded@';

/** The flags that only some answerers have. */
const FOR_SERVER = ['answer-model', 'answer-max-tokens', 'answer-body', 'answer-prompt-price', 'answer-completion-price', 'answer-budget'];
const FOR_NOISE = ['unchecked', 'answer-seed'];

/** Who answers, with the key of the server. @throws UsageError */
export async function readAnswerer(answer: string, values: AnswerValues): Promise<{ answerer: Answerer; apiKey?: string | undefined }> {
  const { answerSeed: seed = 1, unchecked } = values;
  const refuse = (flags: readonly string[], expected: string) => refuseFlags(values, flags, expected);
  const [, kind, rest] = /^(code|noisy|recorded)(?:@(.*))?$/s.exec(answer) ?? [];
  if (kind !== 'noisy') refuse(FOR_NOISE, 'noisy@RATE');
  if (kind !== undefined) refuse(FOR_SERVER, 'URL');
  if (kind === 'code' && rest === undefined) return { answerer: { kind } };
  const noise = asUsage(() => readNoise(answer, '--answer'));
  if (noise) return { answerer: { kind: 'noisy', ...noise, seed, ...(unchecked && { unchecked }) } };
  if (kind === 'recorded' && rest) {
    refuse(['cassette'], 'code, noisy@RATE or URL');
    return { answerer: { kind, file: rest } };
  }
  const { answerModel: model, answerBody: body, answerMaxTokens: maxTokens } = values;
  const { answerPromptPrice: promptPrice, answerCompletionPrice: completionPrice, answerBudget: budget } = values;
  const settings = { maxTokens, promptPrice, completionPrice, budget };
  const names = { flag: '--answer', prefix: 'answer', key: 'MUA_ANSWER_KEY' } as const;
  if (values.cassette !== undefined) checkAddress('--answer', answer, 'MUA_ANSWER_KEY');
  const { config, apiKey } = await readServer(names, { address: answer, model, body, settings }, EXPECTED);
  return { answerer: { kind: 'llm', endpoint: config }, apiKey };
}

/** @throws UsageError instead of the error of what is read */
function asUsage<T>(read: () => T): T {
  try {
    return read();
  } catch (error) {
    throw errorOfWork(error as Error);
  }
}

function refuseFlags(values: AnswerValues, flags: readonly string[], expected: string): void {
  const extra = flags.find((flag) => values[camelCase(flag) as keyof AnswerValues] !== undefined);
  if (extra) throw new UsageError(`--${extra} is given: expected --answer ${expected} with it`);
}

export type OpenedAnswers = OpenedAnswerer & { answerer: Answerer };

/**
 * Gives the world of a domain the answerer of `--answer`, for this process.
 * @returns undefined without `--answer`
 * @throws UsageError if the domain is no scenario
 */
export async function answerWorld(domain: string, on: BackendName | undefined, values: AnswerValues): Promise<OpenedAnswers | undefined> {
  const answers = await openAnswers(domain, on, values);
  if (answers) replaceWorld(domain, async () => answers.domain);
  return answers;
}

/** Opens the answerer of `--answer` for a domain. @returns and @throws as `answerWorld` */
export async function openAnswers(domain: string, on: BackendName | undefined, values: AnswerValues): Promise<OpenedAnswers | undefined> {
  const { answer } = values;
  if (answer === undefined) {
    refuseAlone(values);
    return undefined;
  }
  if (on === 'browser') throw new UsageError('--on is "browser": expected node with --answer');
  const own = scenarios().find(({ name }) => name === domain);
  if (!own) {
    const names = scenarios().map(({ name }) => name);
    throw new UsageError(`--answer is given with the domain ${domain}: expected --world FILE.json, or --domain ${names.join(', ')}`);
  }
  return answererOf(await own.scenario!(), answer, values);
}

/** @throws UsageError if a flag is given that needs `--answer` */
export const refuseAlone = (values: AnswerValues): void => refuseFlags(values, ['cassette', ...FOR_NOISE, ...FOR_SERVER], 'WHO');

/** Opens the answerer of `--answer` for a scenario. @throws UsageError */
export async function answererOf(own: ReadScenario, answer: string, values: AnswerValues): Promise<OpenedAnswers> {
  const { answerer, apiKey } = await readAnswerer(answer, values);
  const { openAnswerer } = await import('../scenarios/simulated/index.ts');
  const { cassette: file } = values;
  const cassette = answerer.kind === 'recorded' ? { file: answerer.file, text: await readText(answerer.file) } : await cassetteTo(file);
  return asUsage(() => ({ ...openAnswerer(own, answerer, { cassette, apiKey }), answerer }));
}

/** The first line of each cassette begins so. */
const START = '{"format":"mua-cassette"';

async function cassetteTo(file: string | undefined) {
  if (file === undefined) return undefined;
  await checkParent('cassette', file);
  // Two processes would both write a first line.
  await lockFolder(file, '--cassette');
  const text = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return '';
    throw new UsageError(`--cassette is ${shown(file)}: ${error.message}`);
  });
  const whole = text.slice(0, text.lastIndexOf('\n') + 1);
  if (whole === '' && !text.startsWith(START) && !START.startsWith(text))
    throw new UsageError(`--cassette is ${shown(file)}: is no cassette: expected a new file, or one that --cassette has recorded`);
  let half = whole.length < text.length;
  const append = (lines: string) => {
    // A process that was killed may have left half a line.
    if (half) truncateSync(file, Buffer.byteLength(whole));
    half = false;
    appendFileSync(file, lines);
  };
  return { file, text: whole, append };
}

/** What the simulated tools did, in JSON. */
export interface AnswerReport extends SimulatorCounts {
  usage?: AgentUsage;
}

export const answerReport = ({ simulator, usage }: OpenedAnswerer): AnswerReport => {
  const used = usage();
  return { ...simulator.counts, ...(used && { usage: used }) };
};

export function answerLines({ calls, refused, retries, faults, usage }: AnswerReport): string[] {
  const by = Object.entries(refused).filter(([, count]) => count > 0);
  const words = by.map(([check, count]) => `${check} ${count}`).join(', ') || 'no check found anything';
  return [
    `tools: ${calls} calls, ${retries} asked again (${words}), ${faults} without an answer that passes`,
    ...(usage
      ? [
          `tools: ${usage.calls} requests, ${usage.prompt_tokens} + ${usage.completion_tokens} tokens${usage.cost === undefined ? '' : `, cost ${Number(usage.cost.toPrecision(4))}`}`,
        ]
      : []),
  ];
}
