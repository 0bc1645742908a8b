/** @file Makes the world of a scenario from the description of its answerer. */
import { InputError, shown } from '../../base/input-error.ts';
import type { SessionDomain } from '../../environments/domain.ts';
import { SimulatorFault } from '../../environments/simulator-fault.ts';
import type { AgentUsage } from '../../records/agent-server.ts';
import { type Answerer, NOISE_KINDS } from '../../records/answerer.ts';
import type { EndpointOptions } from '../../users/endpoint/client.ts';
import type { ReadScenario } from '../read.ts';
import { Cassette, type CassetteOptions } from './cassette.ts';
import { codeAnswers } from './code.ts';
import { simulatedDomain } from './domain.ts';
import { ModelAnswers } from './model.ts';
import { noisyAnswers } from './noise.ts';
import { Simulator } from './simulator.ts';
import type { Answers } from './types.ts';

export interface AnswererParts {
  /** The cassette that is played (`recorded`), or that new answers are recorded into. */
  cassette?: CassetteOptions | undefined;
  /** The key of the language model's server. */
  apiKey?: string | undefined;
  client?: EndpointOptions;
  signal?: AbortSignal;
}

export interface OpenedAnswerer {
  answers: Answers;
  simulator: Simulator;
  domain: SessionDomain;
  /** Whether a call that failed fails again in the same conversation. */
  repeats: boolean;
  /** What the requests to a language model used. Null if there were none. */
  usage(): AgentUsage | null;
}

/** @throws InputError if the description or the cassette is wrong, UserError if the configuration of a server is invalid */
export function openAnswerer(
  own: ReadScenario,
  answerer: Answerer,
  { cassette, apiKey, client, signal }: AnswererParts = {},
): OpenedAnswerer {
  if (own.scenario.host)
    throw new InputError(`${own.file}: host: the scenario's MCP server answers its tools: expected a scenario without host`);
  const { kind } = answerer;
  if (kind === 'recorded' && (!cassette || cassette.append))
    throw new InputError(`cassette is missing: expected the text of ${answerer.file}`);
  const model = kind === 'llm' ? new ModelAnswers({ ...answerer.endpoint, ...(apiKey !== undefined && { apiKey }) }, client) : null;
  const answers: Answers = model ?? (kind === 'noisy' ? noisyAnswers(checkNoise(answerer)) : kind === 'code' ? codeAnswers : NOBODY);
  const tape = cassette && new Cassette(own, answerer, cassette);
  const simulator = new Simulator(answers, { checked: !(kind === 'noisy' && answerer.unchecked), cassette: tape, signal });
  // What a cassette has is not asked again.
  const domain = simulatedDomain(own, simulator, { replays: kind !== 'llm', ...(cassette && { askedAgain: 0 }) });
  return { answers, simulator, domain, repeats: kind !== 'llm' || tape !== undefined, usage: () => model?.usage ?? null };
}

/** A strict cassette answers before anybody is asked. */
const NOBODY: Answers = {
  async answer() {
    throw new SimulatorFault('a recorded answerer has no answers of its own', true);
  },
};

/** @throws InputError */
function checkNoise<T extends Extract<Answerer, { kind: 'noisy' }>>(answerer: T): T {
  const { rate, seed, kinds = [] } = answerer;
  if (!(rate >= 0 && rate <= 1)) throw new InputError(`rate is ${shown(rate)}: expected a share, 0 to 1`);
  if (!Number.isSafeInteger(seed) || seed < 0) throw new InputError(`seed is ${shown(seed)}: expected a whole number from 0 on`);
  const unknown = kinds.find((one) => !NOISE_KINDS.includes(one));
  if (unknown !== undefined) throw new InputError(`kinds has ${shown(unknown)}: expected only ${NOISE_KINDS.join(', ')}`);
  return answerer;
}
