/** @file Asks an answerer until a proposal passes the checks, and counts what the checks find. */
import { shown } from '../../base/input-error.ts';
import { SimulatorFault } from '../../environments/simulator-fault.ts';
import type { Cassette, Recording } from './cassette.ts';
import { findingsOf } from './checks.ts';
import { readProposal } from './proposal.ts';
import {
  ANSWER_CHECKS,
  type AnswerCheck,
  type Answers,
  type Asked,
  type Finding,
  type Proposal,
  type Question,
  type Try,
} from './types.ts';

/** How often a call is asked again after a refused proposal. The world does not change between the attempts. */
const RETRIES = 2;

export interface SimulatorOptions {
  /** False: only the form of a proposal is checked. Default: true. */
  checked?: boolean;
  /** Answers come from here first, and new ones are kept here. */
  cassette?: Cassette | undefined;
  signal?: AbortSignal | undefined;
}

export interface SimulatorCounts {
  /** The calls that were not answered by code alone. */
  calls: number;
  /** The proposals that were refused, by check. A proposal counts for each check that refuses it. */
  refused: Record<AnswerCheck, number>;
  retries: number;
  /** The answers that noise spoilt and that no check refused. */
  spoilt: number;
  /** The calls without a proposal that passes. Their episodes are dropped. */
  faults: number;
}

/** Answers calls of all episodes of a domain. */
export class Simulator {
  readonly counts: SimulatorCounts = {
    calls: 0,
    refused: Object.fromEntries(Object.keys(ANSWER_CHECKS).map((check) => [check, 0])) as Record<AnswerCheck, number>,
    retries: 0,
    spoilt: 0,
    faults: 0,
  };
  /** The answers that are on their way to the cassette, by key. Two episodes may ask the same at once. */
  readonly #coming = new Map<string, Promise<Recording>>();

  constructor(
    private readonly answers: Answers,
    private readonly options: SimulatorOptions = {},
  ) {}

  /** A proposal that may be applied. @throws SimulatorFault */
  async ask(question: Question): Promise<Proposal> {
    this.counts.calls += 1;
    const { key, tool, call } = question;
    const recording = await this.#recording(question);
    const proposal = 'fault' in recording ? null : recording.answer;
    // The check for leaks depends on the task, so an answer that one episode gets may be wrong for another one.
    const findings = proposal && this.#findings({ ...question, attempt: 0, findings: [] }, proposal);
    if (proposal && findings!.length === 0) return proposal;
    this.counts.faults += 1;
    const why = 'fault' in recording ? recording.fault : described(findings!);
    throw new SimulatorFault(`the answer to ${tool.name} ${shown(call.arguments)} was refused (${key.slice(0, 8)}): ${why}`);
  }

  /** Asks the same again, to see whether the answerer says the same. What it says is only counted. */
  async askAgain(question: Question, earlier: Proposal): Promise<void> {
    const { findings } = await this.try({ ...question, attempt: 0, findings: [], earlier });
    this.#count(findings);
  }

  /** One proposal with what the checks find. @throws SimulatorFault if no answer comes */
  async try(asked: Asked): Promise<Try> {
    const answer = await this.answers.answer(asked, this.options.signal);
    const read = readProposal(asked.own.scenario, answer.value);
    if ('check' in read) return { answer, proposal: null, findings: [read] };
    return { answer, proposal: read, findings: this.#findings(asked, read) };
  }

  #findings(asked: Asked, proposal: Proposal): Finding[] {
    return this.options.checked === false ? [] : findingsOf(asked, proposal);
  }

  #count(findings: readonly Finding[]): void {
    for (const { check } of findings) this.counts.refused[check] += 1;
  }

  #recording(question: Question): Promise<Recording> {
    const { cassette } = this.options;
    if (!cassette) return this.#retried(question);
    const { key } = question;
    const known = cassette.find(question);
    if (known) return Promise.resolve(known);
    let coming = this.#coming.get(key);
    if (!coming) {
      coming = this.#retried(question)
        .then(async (made) => {
          await cassette.keep(question, made);
          return made;
        })
        .finally(() => this.#coming.delete(key));
      this.#coming.set(key, coming);
    }
    return coming;
  }

  async #retried(question: Question): Promise<Recording> {
    let findings: readonly Finding[] = [];
    for (let attempt = 0; attempt <= RETRIES; attempt++) {
      if (attempt > 0) this.counts.retries += 1;
      const { answer, proposal, findings: found } = await this.try({ ...question, attempt, findings });
      this.#count(found);
      findings = found;
      const { model, prompt } = answer;
      const about = { ...(model !== undefined && { model }), ...(prompt !== undefined && { prompt }), tries: attempt + 1 };
      if (proposal && found.length === 0) {
        if (answer.injected) this.counts.spoilt += 1;
        return { answer: proposal, ...about };
      }
      if (attempt === RETRIES) return { fault: described(found), ...about };
    }
    throw new Error('unreachable');
  }
}

const described = (findings: readonly Finding[]): string => findings.map(({ check, text }) => `${check}: ${text}`).join('; ');
