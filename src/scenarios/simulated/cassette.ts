/** @file A cassette: recorded answers as JSONL, one call a line. The first line says of which scenario they are. */
import * as z from 'zod/mini';
import { InputError, parserReason, shown } from '../../base/input-error.ts';
import { schemaFault } from '../../base/schema-fault.ts';
import { SimulatorFault } from '../../environments/simulator-fault.ts';
import { type Answerer, NOISE_KINDS } from '../../records/answerer.ts';
import { readProposal } from './proposal.ts';
import type { ReadScenario } from '../read.ts';
import type { Proposal, Question } from './types.ts';
import { who } from './who.ts';

/** What was decided about a call: an answer that passed the checks, or why none passed. */
export type Recording = ({ answer: Proposal } | { fault: string }) & {
  model?: string;
  /** SHA-256 of the prompt. */
  prompt?: string;
  /** The number of proposals. */
  tries: number;
};

/** As much of an answerer as `who` names. */
const ANSWERER = z.union([
  z.object({ kind: z.enum(['code', 'recorded']) }),
  z.object({
    kind: z.literal('noisy'),
    rate: z.number(),
    seed: z.number(),
    kinds: z.optional(z.array(z.enum(NOISE_KINDS))),
    unchecked: z.optional(z.literal(true)),
  }),
  z.object({ kind: z.literal('llm'), endpoint: z.object({ model: z.string() }) }),
]);
const HEADER = z.object({
  format: z.literal('mua-cassette'),
  version: z.literal(1),
  scenario: z.string(),
  /** SHA-256 of the scenario. */
  sha256: z.string(),
  answerer: ANSWERER,
});
const LINE = z.object({
  key: z.string().check(z.regex(/^[0-9a-f]{64}$/)),
  tool: z.string(),
  arguments: z.record(z.string(), z.unknown()),
  answer: z.optional(z.unknown()),
  fault: z.optional(z.string()),
  model: z.optional(z.string()),
  prompt: z.optional(z.string()),
  tries: z.int().check(z.minimum(1)),
});

export interface CassetteOptions {
  /** The path, for messages. */
  file: string;
  /** The text so far, in whole lines. Empty: a new cassette. */
  text: string;
  /** Writes lines to the end of the file. Absent: the cassette is strict, and a call that it does not have is an error. */
  append?: (lines: string) => Promise<void> | void;
}

export class Cassette {
  readonly #recordings = new Map<string, Recording>();
  #header: string;

  /**
   * @param answerer who answers what is not recorded; the file says it
   * @throws InputError if a line is wrong, or if the cassette is of another scenario
   */
  constructor(
    own: ReadScenario,
    answerer: Answerer,
    private readonly options: CassetteOptions,
  ) {
    const { file, text, append } = options;
    const { name } = own.scenario;
    const header = { format: 'mua-cassette', version: 1, scenario: name, sha256: own.hash, answerer };
    this.#header = text === '' ? `${JSON.stringify(header)}\n` : '';
    if (text === '') {
      if (!append) throw new InputError(`${file}: is empty: expected a cassette, which --cassette records`);
      return;
    }
    for (const [i, line] of text.split('\n').entries())
      if (line !== '' || i === 0) this.#read(own, line, i, `${file}: line ${i + 1}`, answerer);
  }

  #read(own: ReadScenario, line: string, i: number, where: string, answerer: Answerer): void {
    let value: unknown;
    try {
      value = JSON.parse(line);
    } catch (cause) {
      throw new InputError(`${where}: is no JSON: ${parserReason(cause)}`);
    }
    const parsed = (i === 0 ? HEADER : LINE).safeParse(value);
    if (!parsed.success) {
      const { path, reason } = schemaFault(parsed.error, value);
      throw new InputError(`${where}: ${path || 'the line'} ${reason}`);
    }
    if (i === 0) return checkHeader(own, parsed.data as z.infer<typeof HEADER>, where, this.options.append ? answerer : undefined);
    const { key, answer, fault, model, prompt, tries } = parsed.data as z.infer<typeof LINE>;
    if ((answer === undefined) === (fault === undefined)) throw new InputError(`${where}: expected exactly one of answer and fault`);
    const about = { ...(model !== undefined && { model }), ...(prompt !== undefined && { prompt }), tries };
    if (fault !== undefined) return void this.#recordings.set(key, { fault, ...about });
    const read = readProposal(own.scenario, answer);
    if ('check' in read) throw new InputError(`${where}: answer: ${read.text}`);
    this.#recordings.set(key, { answer: read, ...about });
  }

  /** What was decided about a call. @throws SimulatorFault if the cassette is strict and does not have the call */
  find({ key, tool, call }: Question): Recording | undefined {
    const found = this.#recordings.get(key);
    if (found || this.options.append) return found;
    throw new SimulatorFault(
      `${this.options.file}: has no answer to ${tool.name} ${shown(call.arguments, 200)} with these rows (key ${key.slice(0, 8)}): expected a recorded call; record it with --cassette`,
      true,
    );
  }

  /** @throws SimulatorFault if the disk refuses: an answer that was not recorded cannot be played again */
  async keep({ key, tool, call }: Question, recording: Recording): Promise<void> {
    const line = JSON.stringify({ key, tool: tool.name, arguments: call.arguments, ...recording });
    const header = this.#header;
    this.#header = '';
    this.#recordings.set(key, recording);
    try {
      await this.options.append!(`${header}${line}\n`);
    } catch (cause) {
      throw new SimulatorFault(`${this.options.file}: the answer could not be written: ${(cause as Error).message}`, true);
    }
  }
}

function checkHeader(own: ReadScenario, { scenario, sha256, answerer }: z.infer<typeof HEADER>, where: string, wanted?: Answerer): void {
  const { name } = own.scenario;
  if (scenario !== name) throw new InputError(`${where}: scenario is ${shown(scenario)}: expected ${name}`);
  if (sha256 !== own.hash)
    throw new InputError(
      `${where}: sha256 is ${sha256.slice(0, 8)}…: expected ${own.hash.slice(0, 8)}…, because ${name} has changed; record a new cassette`,
    );
  if (wanted && who(answerer as Answerer) !== who(wanted))
    throw new InputError(
      `${where}: the answers are of ${who(answerer as Answerer)}: expected ${who(wanted)}; record them into another file`,
    );
}
