/** @file One-off commands on a model: scores, gradients and completions. docs/cli.md describes the file formats. */
import type { Tokenizer } from '../agent/types.ts';
import { Activities } from '../base/activities.ts';
import { InputError, shown } from '../base/input-error.ts';
import type { GenerateRequest, GradRequest, Rescored, RescoreRequest } from './messages.ts';
import type { Engine, TensorMap, TrainSequence } from '../engine/types.ts';
import { tokenWeights } from '../training/advantages.ts';
import { lossConfig } from '../training/config.ts';
import { grpoLoss, grpoTokenLoss, sftLoss } from '../training/grpo-loss.ts';
import { TOP_LOGPROBS } from '../training/inspect.ts';
import { sequenceOldLogprobs } from '../training/policy-loss.ts';

/** @throws InputError if an id is not in the vocabulary */
function checkTokens(name: string, tokens: readonly number[], vocabSize: number): void {
  if (tokens.length === 0) throw new InputError(`${name} is empty: expected at least one token id`);
  tokens.forEach((id, t) => {
    if (!Number.isInteger(id) || id < 0 || id >= vocabSize)
      throw new InputError(`${name}[${t}] is ${id}: expected a token id from 0 to ${vocabSize - 1}`);
  });
}

/** @throws InputError if a text has no tokens */
export function encodeTexts(tokenizer: Pick<Tokenizer, 'encode'>, texts: readonly string[]): number[][] {
  return texts.map((text, i) => {
    const tokens = tokenizer.encode(text);
    if (tokens.length === 0) throw new InputError(`texts[${i}] is ${shown(text)}: expected a text with at least one token`);
    return tokens;
  });
}

/** `logprobs[i][t]` is ln p(id[t+1] | ids ≤ t), and `entropies[i][t]` is the entropy of that distribution in nats. */
export async function scoreSequences(engine: Engine, sequences: number[][]): Promise<{ logprobs: number[][]; entropies: number[][] }> {
  sequences.forEach((tokens, i) => checkTokens(`sequences[${i}]`, tokens, engine.config.vocab_size));
  const scores = await engine.score(sequences.map((tokens) => ({ tokens, lossMask: tokens.map((_, t) => (t === 0 ? 0 : 1)), weight: 1 })));
  const shift = (rows: Float32Array[]) => rows.map((row) => Array.from(row.subarray(1)));
  return { logprobs: shift(scores.logprobs), entropies: shift(scores.entropies) };
}

/** @throws InputError if an id is not in the vocabulary */
export async function rescore(engine: Engine, { tokens, lossMask, temperature }: RescoreRequest, signal?: AbortSignal): Promise<Rescored> {
  checkTokens('tokens', tokens, engine.config.vocab_size);
  const { logprobs, entropies, top } = await engine.score([{ tokens, lossMask, weight: 1 }], {
    temperature: temperature || 1,
    topLogprobs: TOP_LOGPROBS,
    signal,
  });
  return { logprobs: logprobs[0]!, entropies: entropies[0]!, top: top![0]! };
}

/** The gradients of the loss before clipping, and the loss with its parts. */
export async function gradients(engine: Engine, request: GradRequest): Promise<{ gradients: TensorMap; report: Record<string, number> }> {
  const { sequences } = request;
  const config = lossConfig(request.config);
  const grpo = request.loss === 'grpo';
  const withKl = grpo && config.use_kl_loss && config.kl_loss_coef !== 0;
  sequences.forEach((s, i) => {
    checkTokens(`sequences[${i}].tokens`, s.tokens, engine.config.vocab_size);
    const aligned = (field: 'loss_mask' | 'old_logprobs' | 'ref_logprobs', needed: boolean) => {
      const values = s[field];
      if (!values && needed) throw new InputError(`sequences[${i}].${field} is missing: loss "${request.loss}" needs it`);
      if (values && values.length !== s.tokens.length)
        throw new InputError(`sequences[${i}].${field} has ${values.length} entries: expected ${s.tokens.length}, one a token`);
    };
    aligned('loss_mask', true);
    aligned('old_logprobs', grpo);
    aligned('ref_logprobs', withKl);
    if (grpo && !Number.isFinite(s.advantage)) throw new InputError(`sequences[${i}].advantage is ${s.advantage}: expected a number`);
  });
  const masks = sequences.map((s) => s.loss_mask.map((m, t) => (t > 0 && m ? 1 : 0)));
  const counts = masks.map((mask) => mask.reduce<number>((sum, m) => sum + m, 0));
  const total = counts.reduce((sum, n) => sum + n, 0);
  if (total === 0) throw new InputError('loss_mask selects no token in any sequence');
  const weights = tokenWeights(counts, { ...config, ppo_micro_batch_size_per_gpu: 0 });
  const plain = sequences.map((s, i): TrainSequence => ({ tokens: s.tokens, lossMask: masks[i]!, weight: weights[i]! }));
  let oldLogprobs = sequences.map((s) => s.old_logprobs);
  if (grpo && config.loss_mode === 'gspo') {
    const present = await engine.score(plain, { temperature: config.temperature });
    oldLogprobs = sequences.map((s, i) => sequenceOldLogprobs(present.logprobs[i]!, s.old_logprobs!, masks[i]!));
  }
  const batch = plain.map((s, i): TrainSequence => ({
    ...s,
    inputs: grpo ? [sequences[i]!.advantage!, oldLogprobs[i]!, sequences[i]!.ref_logprobs ?? oldLogprobs[i]!] : [],
  }));
  engine.zeroGradients();
  const { logprobs, entropies } = await engine.accumulate(batch, grpo ? grpoLoss(config) : sftLoss, {
    temperature: grpo ? config.temperature : 1,
  });
  const report: Record<string, number> = { loss: 0, tokens: total };
  const add = (name: string, value: number) => (report[name] = (report[name] ?? 0) + value);
  masks.forEach((mask, i) =>
    mask.forEach((m, t) => {
      if (!m) return;
      const w = weights[i]!;
      if (!grpo) return void add('loss', -w * logprobs[i]![t]!);
      const parts = grpoTokenLoss(logprobs[i]![t]!, sequences[i]!.advantage!, oldLogprobs[i]![t]!, sequences[i]!.ref_logprobs?.[t] ?? 0, {
        ...config,
        use_kl_loss: withKl,
      });
      add('pg_loss', w * parts.policy);
      if (parts.kl !== null) add('kl_loss', w * parts.kl);
      add('entropy', w * entropies[i]![t]!);
      add('pg_clipfrac', Number(parts.clipped) / total);
      add('pg_clipfrac_lower', Number(parts.clippedLower) / total);
      add('ppo_kl', -(logprobs[i]![t]! - sequences[i]!.old_logprobs![t]!) / total);
    }),
  );
  if (grpo) report.loss = report.pg_loss! + (withKl ? config.kl_loss_coef * report.kl_loss! : 0) - config.entropy_coeff * report.entropy!;
  return { gradients: await engine.gradients(), report };
}

/** Completes all prompts in one batch. Completion i depends only on (seed, i) and on prompt i. */
export async function generateCompletions(
  engine: Engine,
  request: GenerateRequest,
  activities = new Activities(),
): Promise<{ completions: { tokens: number[]; logprobs: number[] }[] }> {
  request.prompts.forEach((tokens, i) => checkTokens(`prompts[${i}]`, tokens, engine.config.vocab_size));
  const text = (done: number) => `completions: ${done} of ${request.prompts.length}`;
  const activity = activities.begin(text(0));
  let done = 0;
  const completions = await Promise.all(
    request.prompts.map(async (prompt, stream) => {
      const sequence = await engine.sampler.open({ seed: request.seed, stream });
      try {
        engine.sampler.append(sequence, prompt);
        const { tokens, logprobs } = await engine.sampler.generate(sequence, {
          maxNewTokens: request.max_new_tokens,
          temperature: request.temperature,
          topP: request.top_p,
          topK: request.top_k,
          stopTokenIds: request.stop_token_ids ?? [],
        });
        return { tokens, logprobs };
      } finally {
        engine.sampler.close(sequence);
        activity.now(text(++done));
      }
    }),
  ).finally(() => activity.end());
  return { completions };
}
