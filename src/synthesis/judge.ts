/** @file Asks a model behind a server for verdicts on conversations. What it does not answer as asked is not graded, never bad. */
import { hash32 } from '../base/random.ts';
import type { AgentUsage } from '../records/agent-server.ts';
import { CRITERIA, type Criterion, type CriterionGrade, HARD, type JudgeGrade } from '../records/grades.ts';
import type { EndpointConfig, UserRequest } from '../records/user.ts';
import { checkPrices, costOf, usageOf } from '../users/account.ts';
import { readAnswer } from '../users/endpoint/answer.ts';
import { EndpointClient, type EndpointOptions } from '../users/endpoint/client.ts';
import { CutAnswer, RequestFailure } from '../users/endpoint/failure.ts';
import { UserError } from '../users/types.ts';
import { judgePrompt, PROMPT_HASH, readVerdicts } from './prompt.ts';
import type { GradedRow } from './types.ts';

export interface JudgeOptions {
  /** How often each conversation is judged, with another order of the criteria each time. */
  votes: number;
  seed: number;
  /** The tokens of earlier answers, which the budget has paid. */
  paid?: readonly { prompt: number; completion: number }[];
}

/** How often a reply that is not as asked is asked for again. */
const AGAIN = 2;
/** How often an answer that was cut is asked for again with more tokens. */
const CUT_AGAIN = 2;
const MAX_TOKENS = 4096;
const TIMEOUT_MS = 300_000;

type Verdicts = Record<Criterion, CriterionGrade>;

export class ModelJudge {
  readonly #client: EndpointClient;
  /** What all answers have cost. */
  #spent: number;
  readonly #requests: UserRequest[] = [];

  /** @throws UserError (`bad_response`) if a field of the configuration is invalid */
  constructor(
    private readonly config: EndpointConfig,
    private readonly options: JudgeOptions,
    client: EndpointOptions = {},
  ) {
    checkPrices(config);
    this.#spent = (options.paid ?? []).reduce((sum, tokens) => sum + (costOf(tokens, config) ?? 0), 0);
    this.#client = new EndpointClient({ timeoutMs: TIMEOUT_MS, ...config }, { who: 'the judge’s server', ...client });
  }

  /**
   * @param index the place of the row in its file, from 0; with the seed it says how the criteria are shuffled
   * @throws UserError if the server fails, or if the budget is spent
   */
  async grade(row: GradedRow, index: number, signal?: AbortSignal): Promise<JudgeGrade> {
    const { votes, seed } = this.options;
    const made: UserRequest[] = [];
    const given: (Verdicts | string)[] = [];
    for (let vote = 0; vote < votes; vote++) given.push(await this.#vote(row, hash32(seed, index, vote), made, signal));
    const criteria = Object.fromEntries(CRITERIA.map((name) => [name, together(given, name)])) as Verdicts;
    const hard = HARD.map((name) => criteria[name].met);
    const reported = made.filter(({ prompt, completion }) => prompt !== null && completion !== null);
    return {
      model: this.config.model,
      prompt: PROMPT_HASH,
      seed,
      votes,
      criteria,
      keep: hard.includes(false) ? false : hard.includes(null) ? null : true,
      ...(reported.length > 0 && {
        tokens: {
          prompt: reported.reduce((sum, one) => sum + one.prompt!, 0),
          completion: reported.reduce((sum, one) => sum + one.completion!, 0),
        },
      }),
    };
  }

  /** What the requests used. Null if there were none. */
  get usage(): AgentUsage | null {
    return usageOf(this.#requests);
  }

  /** The verdicts of one vote, or why there are none. */
  async #vote(row: GradedRow, seed: number, made: UserRequest[], signal: AbortSignal | undefined): Promise<Verdicts | string> {
    const prompt = judgePrompt(row, seed);
    const { system, user } = prompt;
    const messages = [
      { role: 'system' as const, content: system },
      { role: 'user' as const, content: user },
    ];
    let why = '';
    for (let attempt = 0; attempt <= AGAIN; attempt++) {
      const answer = await this.#ask({ messages, seed: hash32(seed, attempt) >>> 1 }, made, signal);
      const verdicts = 'text' in answer ? readVerdicts(answer.text, row, prompt) : null;
      if (verdicts) return verdicts;
      why = 'text' in answer ? 'the reply is not the JSON that was asked for' : answer.unusable;
    }
    return why;
  }

  /** One answer. A server that answers with something else than words is no reason to stop. */
  async #ask(
    question: { messages: { role: 'system' | 'user'; content: string }[]; seed: number },
    made: UserRequest[],
    signal: AbortSignal | undefined,
  ): Promise<{ text: string } | { unusable: string }> {
    const { model, budget, maxTokens: max_tokens = MAX_TOKENS, temperature = 0, maxRetries = CUT_AGAIN } = this.config;
    if (budget !== undefined && this.#spent >= budget)
      throw new UserError(`the judge has cost ${Number(this.#spent.toPrecision(4))}, and its budget is ${budget}`, 'budget');
    let cuts = 0;
    const read = (body: string): { text: string } | { unusable: string } => {
      try {
        return { text: readAnswer(body, false, { keepMarks: true }).text };
      } catch (error) {
        if (!(error instanceof RequestFailure) || (error instanceof CutAnswer && cuts++ < Math.min(CUT_AGAIN, maxRetries))) throw error;
        return { unusable: error.message.replaceAll('the user endpoint', 'the judge’s server') };
      }
    };
    const own: UserRequest[] = [];
    try {
      return await this.#client.complete({ model, ...question, temperature, max_tokens }, read, signal, own);
    } finally {
      for (const request of own) {
        const cost = costOf(request, this.config);
        this.#spent += cost ?? 0;
        made.push(request);
        this.#requests.push(cost === undefined ? request : { ...request, cost });
      }
    }
  }
}

/** The end of the reason of a criterion about which votes differ. */
export const VOTES_DIFFER = 'votes say that it holds';

/** One verdict of several votes: that of all votes that are graded, if they are the majority and agree. */
function together(votes: readonly (Verdicts | string)[], name: Criterion): CriterionGrade {
  const own = votes.map((vote): CriterionGrade => (typeof vote === 'string' ? { met: null, why: vote } : vote[name]));
  const graded = own.filter(({ met }) => met !== null);
  if (graded.some(({ met }) => met !== graded[0]!.met)) {
    const yes = graded.filter(({ met }) => met).length;
    return { met: null, why: `${yes} of ${graded.length} ${VOTES_DIFFER}` };
  }
  return graded.length * 2 > votes.length ? graded[0]! : own.find(({ met }) => met === null)!;
}
