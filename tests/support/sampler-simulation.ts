/**
 * @file Plays conversations on the engine's own `BatchSampler`, over a program that only counts. The clock is simulated: a round takes
 * as long as the work that it queues, and tools and customers answer after a while.
 */
import { hash32 } from '../../src/base/random.ts';
import type { DecodeProgram, Sampled } from '../../src/engine/decode-program.ts';
import { BatchSampler } from '../../src/engine/sampler.ts';
import type { Generation } from '../../src/engine/types.ts';

export interface SimulatedTurn {
  /** Tokens before the turn that the agent reads: the customer's words or a tool's result. */
  reads: number;
  /** Tokens that the agent samples. */
  writes: number;
  /** Seconds from the end of the agent's turn to the answer. */
  waits: number;
}

export interface Simulation {
  slots: number;
  kvTokens: number;
  maxModelLen: number;
  /** Tokens that all conversations begin with. */
  prompt: number;
  conversations: readonly (readonly SimulatedTurn[])[];
  /** How many customers can answer at once. Others wait. */
  customers?: number;
}

export interface Simulated {
  prefilled: number;
  /** Tokens that must be computed outside decoding if no token is ever computed again. */
  needed: number;
  decodeSteps: number;
  seconds: number;
  generations: Generation[][];
}

/** The speed of the simulated GPU, in seconds. About that of a laptop's GPU with a model of half a billion parameters. */
const COST = { prefilledToken: 5e-4, decodeStep: 0.01, decodedToken: 1e-3, read: 3e-3 };
const PAGE = 16;
const VOCAB = 50_000;

/** @returns counts, and the samples of each conversation */
export async function simulate({
  slots,
  kvTokens,
  maxModelLen,
  prompt,
  conversations,
  customers = Infinity,
}: Simulation): Promise<Simulated> {
  let [now, decodeSteps, generating, open] = [0, 0, 0, conversations.length];
  const timers: { at: number; wake: () => void }[] = [];
  const sleep = (seconds: number) =>
    seconds === 0 ? Promise.resolve() : new Promise<void>((wake) => timers.push({ at: now + seconds, wake }));
  /** Moves the clock, and wakes those whose time has come. */
  const advance = async (to: number) => {
    for (;;) {
      timers.sort((a, b) => a.at - b.at);
      const next = timers[0];
      if (!next || next.at > to) break;
      timers.shift();
      now = Math.max(now, next.at);
      next.wake();
      for (let i = 0; i < 20; i++) await Promise.resolve();
    }
    now = Math.max(now, to);
  };

  const samples: Sampled[] = [];
  let seconds = 0;
  const sample = ({
    token,
    position,
    params: { seed, stream },
  }: {
    token: number;
    position: number;
    params: { seed: number; stream: number };
  }) => {
    const hash = hash32(seed, stream, position, token);
    samples.push({ token: hash % VOCAB, logprob: -hash / 2 ** 32 });
    return hash % VOCAB;
  };
  type Rows = Parameters<DecodeProgram['decode']>[0];
  const program = {
    sizes: { steps: 16, prefillTokens: 1024 },
    discard: () => void samples.splice(0),
    setPages: () => {},
    prefill(tokens: Rows, rows: { index: number; params: Rows[0]['params'] }[]) {
      seconds += tokens.length * COST.prefilledToken;
      for (const { index, params } of rows) sample({ ...tokens[index]!, params });
    },
    decode(rows: Rows, steps: number) {
      seconds += steps * (COST.decodeStep + rows.length * COST.decodedToken);
      decodeSteps += steps;
      for (let step = 0, at = rows; step < steps; step++)
        at = at.map((row) => ({ ...row, token: sample(row), position: row.position + 1 }));
    },
    async collect() {
      const took = seconds > 0 ? seconds + COST.read : 0;
      seconds = 0;
      const next = Math.min(...timers.map(({ at }) => at));
      await advance(took > 0 ? now + took : Number.isFinite(next) ? next : now);
      return samples.splice(0);
    },
  } as unknown as DecodeProgram;
  const sampler = new BatchSampler(
    maxModelLen,
    VOCAB,
    slots,
    { count: Math.ceil(kvTokens / PAGE), pageSize: PAGE },
    {
      get: async () => program,
      check: () => {},
      turn: (work) => work(),
    },
  );

  let free = customers;
  const queue: (() => void)[] = [];
  const answer = async (waits: number) => {
    if (waits === 0) return;
    if (free === 0) await new Promise<void>((resolve) => queue.push(resolve));
    else free -= 1;
    await sleep(waits);
    const next = queue.shift();
    if (next) next();
    else free += 1;
  };
  const shared = Array.from({ length: prompt }, (_, t) => hash32(0, t) % VOCAB);
  const play = async (turns: readonly SimulatedTurn[], stream: number): Promise<Generation[]> => {
    const sequence = await sampler.open({ seed: 1, stream });
    const generations: Generation[] = [];
    for (const [turn, { reads, writes, waits }] of turns.entries()) {
      if (turn === 0) sampler.append(sequence, shared);
      sampler.append(
        sequence,
        Array.from({ length: reads }, (_, t) => hash32(2, stream, turn, t) % VOCAB),
      );
      generating += 1;
      generations.push(await sampler.generate(sequence, { maxNewTokens: writes, temperature: 1, stopTokenIds: [] }));
      generating -= 1;
      if (turn < turns.length - 1) await answer(waits);
    }
    sampler.close(sequence);
    open -= 1;
    return generations;
  };
  const all = Promise.all(conversations.map(play));
  let failed = false;
  all.catch(() => (failed = true));
  while (open > 0 && !failed) {
    await new Promise((resolve) => setImmediate(resolve));
    if (generating === 0 && timers.length > 0) await advance(Math.min(...timers.map(({ at }) => at)));
  }
  // The last token of a turn is computed with the next turn. The prompt is computed once.
  const unshared = conversations.flat().reduce((sum, { reads }) => sum + reads, 0);
  const again = conversations.reduce((sum, turns) => sum + turns.length - 1, 0);
  return { prefilled: sampler.tokensPrefilled, needed: prompt + unshared + again, decodeSteps, seconds: now, generations: await all };
}
