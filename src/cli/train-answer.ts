/**
 * @file `--answer` of `mua train`. Its own tools behind the checks, and noise, are settings of the run. A cassette or a server is kept in the
 * folder of the run, and answers in this process.
 */
import { resolve } from 'node:path';
import { answerTraining } from '../domains/training-tools.ts';
import { PRESETS } from '../training/presets.ts';
import { ANSWER_FLAGS, type AnswerValues, type OpenedAnswers, openAnswers, readAnswerer, RECORDED, refuseAlone } from './answer.ts';
import { camelCase, kebabCase } from './args.ts';
import { checkAddress } from './commands/server.ts';
import { UsageError } from './errors.ts';
import { checkKeyOrigin, keyProof } from './key-origin.ts';
import type { TrainSettings } from './settings.ts';

type Settings = Pick<TrainSettings, 'overrides' | 'answers'>;

const NAMES = Object.keys(ANSWER_FLAGS).map(camelCase) as (keyof AnswerValues)[];
/** The flags that change no answer, so a resumed run may have others. */
const COSTS: readonly string[] = ['answerPromptPrice', 'answerCompletionPrice', 'answerBudget'];
/** The flags that are settings of the run. */
const SETTINGS = { answer: 'answer', unchecked: 'answer.unchecked', answerSeed: 'answer.seed' } as const;

/** What the flags of a new run mean. @throws UsageError */
export async function newAnswers(values: AnswerValues & { set: readonly string[] }): Promise<Settings> {
  const { answer, cassette, set } = values;
  if (answer === undefined) {
    refuseAlone(values);
    return { overrides: {} };
  }
  const pair = set.find((pair) => /^answer(\.\w+)?=/.test(pair));
  if (pair) throw new UsageError(`--answer and --set ${pair} are given: expected one of them`);
  const { answerer } = await readAnswerer(answer, values);
  if (answerer.kind === 'noisy' || answerer.kind === 'code') {
    // The same settings give the same answers, so there is nothing to record.
    if (cassette !== undefined) throw new UsageError('--cassette is given: expected --answer URL with it in mua train');
    const noise = answerer.kind === 'noisy' && {
      'answer.seed': String(answerer.seed),
      ...(answerer.unchecked && { 'answer.unchecked': 'true' }),
    };
    return { overrides: { answer, ...noise } };
  }
  const kept = Object.fromEntries(NAMES.map((name) => [name, values[name]]).filter(([, value]) => value !== undefined)) as AnswerValues;
  if (answerer.kind === 'recorded') return { overrides: {}, answers: { ...kept, answer: RECORDED + resolve(answerer.file) } };
  checkAddress('--answer', answer, 'MUA_ANSWER_KEY');
  const key = keyProof('MUA_ANSWER_KEY', answer);
  return {
    overrides: {},
    answers: {
      ...kept,
      answer,
      // The server may list another model first when the run is resumed.
      answerModel: answerer.endpoint.model,
      ...(cassette !== undefined && { cassette: resolve(cassette) }),
      ...(key !== undefined && { key }),
    },
  };
}

/** Checks the flags of a resumed run, which has kept its answerer. @throws UsageError if a flag has another value than the run's */
export function checkAnswers(resume: string, values: AnswerValues, { overrides, answers }: Settings): void {
  for (const name of NAMES) {
    const given = values[name];
    if (given === undefined || COSTS.includes(name)) continue;
    const kept = answers ? answers[name] : overrides[SETTINGS[name as keyof typeof SETTINGS]];
    if (kept !== undefined && String(kept) === inWhole(name, String(given))) continue;
    const flag = `--${kebabCase(name)}`;
    throw new UsageError(
      `${flag} is "${given}": expected ${kept === undefined ? `no ${flag}` : `"${kept}"`}, as in the run "${resume}", or a new run`,
    );
  }
  if (answers) checkKeyOrigin('MUA_ANSWER_KEY', resume, answers.answer, answers.key, 'expected a new run, or no MUA_ANSWER_KEY');
}

/** The value of a flag as a run keeps it: with the whole path of a file. */
function inWhole(name: string, value: string): string {
  if (name === 'cassette') return resolve(value);
  return name === 'answer' && value.startsWith(RECORDED) ? RECORDED + resolve(value.slice(RECORDED.length)) : value;
}

/** Opens the cassette or the server that a run has kept. @throws UsageError */
export async function openKept(
  { preset, overrides, answers }: Pick<TrainSettings, 'preset' | 'overrides' | 'answers'>,
  { on, ...values }: AnswerValues & { on: 'browser' | 'node' | undefined },
): Promise<OpenedAnswers | undefined> {
  if (!answers) return undefined;
  const domain = overrides.domain ?? PRESETS[preset]!.config.domain;
  const { key: _, ...kept } = answers;
  const costs = Object.fromEntries(Object.entries(values).filter(([name, value]) => COSTS.includes(name) && value !== undefined));
  const opened = await openAnswers(domain, on, { ...kept, ...costs });
  if (opened) answerTraining(domain, opened);
  return opened;
}
