/** @file Who answers the simulated tools in training, as the settings of a run say. */
import { didYouMean } from '../base/did-you-mean.ts';
import { InputError, shown } from '../base/input-error.ts';
import { type Answerer, NOISE_KINDS, type NoiseKind, SILENT } from '../records/answerer.ts';
import { GENERATED } from './registry.ts';

/** The settings of a run on which its simulated tools depend. Runs from before they existed lack them. */
export interface AnswerSettings {
  domain: string;
  answer?: string;
  'answer.unchecked'?: boolean;
  'answer.seed'?: number;
  'tools.stale_reads'?: number;
}

/** The domains that are scenarios. */
export const scenarios = () => GENERATED.filter(({ scenario }) => scenario);

/**
 * The noise of `noisy@RATE` or `noisy@RATE:KIND+KIND`. Null if the text does not begin so.
 * @param where the place of the text, such as `--answer`
 * @throws InputError
 */
export function readNoise(answer: string, where: string): { rate: number; kinds?: NoiseKind[] } | null {
  const found = /^noisy(?:@(.*))?$/s.exec(answer);
  if (!found) return null;
  const [rate = '', named] = (found[1] ?? '').split(':');
  if (!/^(?:0|1|0?\.\d+|[01]\.0+)$/.test(rate))
    throw new InputError(`${where} is ${shown(answer)}: expected noisy@RATE with a share, 0 to 1`);
  if (named === undefined) return { rate: Number(rate) };
  const kinds = named === 'all' ? NOISE_KINDS : named === 'silent' ? SILENT : named.split('+');
  const unknown = kinds.find((kind) => !NOISE_KINDS.includes(kind as NoiseKind));
  if (unknown !== undefined)
    throw new InputError(
      `${where} has the kind ${shown(unknown)}${didYouMean(unknown, NOISE_KINDS)}: expected all, silent, or some of ${NOISE_KINDS.join(', ')}`,
    );
  return { rate: Number(rate), kinds: [...(kinds as readonly NoiseKind[])] };
}

/**
 * Who answers the tools while a run trains. Null: the domain's own tools, without checks.
 * @throws InputError that names the setting
 */
export function trainingAnswerer({ domain, answer = '', ...settings }: AnswerSettings): Answerer | null {
  const { 'answer.unchecked': unchecked = false, 'answer.seed': seed = 1, 'tools.stale_reads': stale = 0 } = settings;
  const noise = readNoise(answer, 'setting "answer"');
  if (!noise && answer !== '' && answer !== 'code')
    throw new InputError(
      `setting "answer" is ${shown(answer)}${didYouMean(answer, ['code', 'noisy'])}: expected code, noisy@RATE or no value; only mua train --answer knows recorded@FILE and a URL`,
    );
  if (unchecked && !noise) throw new InputError('setting "answer.unchecked" is true: expected false, as answer is not noisy@RATE');
  if (answer === '') return null;
  const names = scenarios().map(({ name }) => name);
  if (!names.includes(domain))
    throw new InputError(`setting "answer" is ${shown(answer)}: expected no value for ${domain}, or a scenario: ${names.join(', ')}`);
  if (stale > 0) throw new InputError(`setting "tools.stale_reads" is ${stale}: expected 0, as answer is ${shown(answer)}`);
  return noise ? { kind: 'noisy', ...noise, seed, ...(unchecked && { unchecked }) } : { kind: 'code' };
}
