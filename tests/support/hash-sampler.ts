/** The engine's own sampler over a program without a GPU: a token is a hash of seed, stream, position and the token before. */
import { hash32 } from '../../src/base/random.ts';
import type { DecodeProgram, Sampled } from '../../src/engine/decode-program.ts';
import { BatchSampler } from '../../src/engine/sampler.ts';
import { nanoTokenizer } from './tokenizers.ts';

type Rows = Parameters<DecodeProgram['decode']>[0];
type Row = Pick<Rows[number], 'token' | 'position' | 'params'>;

/** Every round takes `roundMs`. The KV cache has `pages` pages of 16 tokens. */
export function hashSampler(roundMs: number, slots: number, pages = slots * 256): BatchSampler {
  const words = nanoTokenizer().encode('May I have your email, please? It is done.');
  const end = nanoTokenizer().id('<|im_end|>');
  const samples: Sampled[] = [];
  const sample = ({ token, position, params: { seed, stream } }: Row): number => {
    const hash = hash32(seed, stream, position, token);
    const next = hash % 150 === 0 ? end : words[hash % words.length]!;
    samples.push({ token: next, logprob: -hash / 2 ** 32 });
    return next;
  };
  const program = {
    sizes: { steps: 8, prefillTokens: 64 },
    discard: () => void samples.splice(0),
    setPages: () => {},
    prefill: (tokens: Pick<Row, 'token' | 'position'>[], rows: { index: number; params: Row['params'] }[]) =>
      rows.forEach(({ index, params }) => sample({ ...tokens[index]!, params })),
    decode: (rows: Row[], steps: number) => {
      for (let step = 0, at = rows; step < steps; step++)
        at = at.map((row) => ({ ...row, token: sample(row), position: row.position + 1 }));
    },
    collect: () => new Promise<Sampled[]>((resolve) => setTimeout(() => resolve(samples.splice(0)), roundMs)),
  } as unknown as DecodeProgram;
  return new BatchSampler(
    4096,
    nanoTokenizer().vocabSize,
    slots,
    { count: pages, pageSize: 16 },
    { get: async () => program, check: () => {}, turn: (work) => work() },
  );
}
