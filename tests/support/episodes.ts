/** A small stage for episodes: a sampler that replays texts, a customer that replays lines, and an environment with one table. */
import type { Generation, Sampler, SamplingParams, Sequence } from '../../src/engine/types.ts';
import type { EpisodeOptions } from '../../src/agent/episode.ts';
import type { Tokenizer } from '../../src/agent/types.ts';
import type { EpisodeRules } from '../../src/agent/rules.ts';
import { rulesFor } from '../../src/benchmarks/rules.ts';
import type { Task, ToolCall } from '../../src/records/task.ts';
import type { Domain, Environments, ToolResult } from '../../src/environments/types.ts';
import type { UserSimulator } from '../../src/users/types.ts';
import { nanoTokenizer, tools } from './tokenizers.ts';

/**
 * Replays one text per call. As in the engine, a text ends at a stop token, at `maxNewTokens` or at `maxModelLen`. The
 * log-probability at position t is −(t + 1) / 1000, so that a test can see the position of each log-probability.
 */
export class ReplaySampler implements Sampler {
  /** All tokens of the sequence, given and sampled. */
  readonly seen: number[] = [];
  readonly params: SamplingParams[] = [];
  readonly opened: { seed: number; stream: number }[] = [];
  closed = 0;

  constructor(
    private readonly texts: string[],
    readonly maxModelLen = 4096,
    private readonly tokenizer: Tokenizer = nanoTokenizer(),
  ) {}

  async open(options: { seed: number; stream: number }): Promise<Sequence> {
    this.opened.push(options);
    const { seen } = this;
    return {
      id: 0,
      get length() {
        return seen.length;
      },
    };
  }
  append(_: Sequence, tokens: ArrayLike<number>): void {
    this.seen.push(...Array.from(tokens));
    if (this.seen.length >= this.maxModelLen) throw new Error('more tokens than the sequence holds');
  }
  async generate(_: Sequence, params: SamplingParams): Promise<Generation> {
    this.params.push(params);
    const text = this.texts.shift();
    if (text === undefined) throw new Error('the script is at its end');
    const result: Generation = { tokens: [], logprobs: [], finishReason: 'length' };
    for (const token of this.tokenizer.encode(text)) {
      result.tokens.push(token);
      result.logprobs.push(-(this.seen.length + 1) / 1000);
      this.seen.push(token);
      if (params.stopTokenIds.includes(token) || params.stop?.(result.tokens)) return { ...result, finishReason: 'stop' };
      if (this.seen.length >= this.maxModelLen) return { ...result, finishReason: 'context_full' };
      if (result.tokens.length >= params.maxNewTokens) return result;
    }
    throw new Error(`the script's text has neither a stop token nor ${params.maxNewTokens} tokens: ${text}`);
  }
  close(): void {
    this.closed += 1;
  }
}

/** Says the lines one by one and throws a line that is an Error. Records the agent's texts. */
export class ReplayUser implements UserSimulator {
  readonly heard: string[] = [];
  readonly seeds: number[] = [];
  constructor(private readonly lines: (string | Error)[]) {}
  session(_: unknown, seed: number) {
    this.seeds.push(seed);
    const next = async () => {
      const line = this.lines.shift();
      if (line === undefined) throw new Error('the user has nothing more to say');
      if (line instanceof Error) throw line;
      return line;
    };
    return { open: next, reply: (text: string) => (this.heard.push(text), next()) };
  }
}

/** Orders with a status. The reward is 1 if exactly the orders of the gold are cancelled. */
export class OrderDesk implements Environments {
  readonly calls: ToolCall[] = [];
  readonly cancelled = new Set<string>();
  closed = 0;
  #gold: string[] = [];
  async domain() {
    return domain;
  }
  async tasks() {
    return [task];
  }
  async start({ actions }: Task) {
    this.#gold = actions.map((action) => String(action.arguments.order_id));
    return 'episode';
  }
  async call(_: string, call: ToolCall): Promise<ToolResult> {
    const index = this.calls.push(call) - 1;
    const result = { index, error: false, changes: [], terminal: false };
    if (call.name === 'find_user_id_by_email') return { ...result, text: 'mia_garcia_4516' };
    if (call.name === 'transfer_to_human_agents') return { ...result, text: 'Transfer successful', terminal: true };
    const id = String(call.arguments.order_id);
    if (!/^#W\d{7}$/.test(id)) return { ...result, text: 'Error: order not found', error: true };
    this.cancelled.add(id);
    const row = { user_id: 'mia_garcia_4516', order_id: id };
    const changes = [
      { table: 'orders', key: id, before: { ...row, status: 'pending' }, after: { ...row, status: 'cancelled' }, call: index },
    ];
    return { ...result, text: `{"order_id": "${id}", "status": "cancelled"}`, changes };
  }
  async verify() {
    const right = this.#gold.length === this.cancelled.size && this.#gold.every((id) => this.cancelled.has(id));
    return { reward: right ? (1 as const) : (0 as const), changes: [], goal: [], progress: Number(right) };
  }
  async fork(): Promise<string> {
    throw new Error('no episode here is forked');
  }
  async close() {
    this.closed += 1;
  }
}

export const domain: Domain = {
  name: 'counter',
  level: 'nano',
  policy: 'Serve the customer.',
  tools: [
    ...tools,
    {
      type: 'function',
      function: {
        name: 'transfer_to_human_agents',
        description: 'Transfer.',
        parameters: { type: 'object', properties: {}, required: [] },
      },
    },
  ],
  terminalTools: ['transfer_to_human_agents'],
};

export const task: Task = {
  id: 'desk/nano/train/0/0',
  domain: 'counter',
  level: 'nano',
  split: 'train',
  world: 'w',
  scenario: { persona: 'upfront', identity: {}, wishes: [], instruction: '' },
  actions: [{ name: 'cancel_pending_order', arguments: { order_id: '#W1234567' } }],
  noop: false,
};

export interface Script extends Partial<Omit<EpisodeOptions, 'limits' | 'agent' | 'sampler' | 'rules'>> {
  agent: string[];
  user: (string | Error)[];
  limits?: Partial<EpisodeOptions['limits']>;
  /** Rules that replace rules of the domain. */
  rules?: Partial<EpisodeRules>;
  maxModelLen?: number;
}

/** The options of an episode that plays a script, and the parts of the stage for the test's assertions. */
export function stage({ agent, user, limits, rules, maxModelLen, ...more }: Script) {
  const sampler = new ReplaySampler([...agent], maxModelLen, more.tokenizer);
  const users = new ReplayUser([...user]);
  const environments = new OrderDesk();
  const options: EpisodeOptions & { sampler: Sampler } = {
    task,
    domain,
    environments,
    users,
    sampler,
    tokenizer: nanoTokenizer(),
    limits: {
      max_turns: 30,
      response_length_one_turn: 200,
      max_model_len: 4096,
      malformed_policy: 'feedback',
      require_done: false,
      ...limits,
    },
    sampling: { temperature: 1, top_p: 1, top_k: 0 },
    seed: 7,
    stream: 3,
    group: '1-0',
    index: 2,
    rules: { ...rulesFor(more.domain ?? domain, 'domain'), ...rules },
    ...more,
  };
  return { options, sampler, users, environments };
}
