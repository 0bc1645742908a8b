/** Runs on simulated tools: what they train on, what they count, and that their evaluations stay in the true world. */
import 'fake-indexeddb/auto';
import { describe, expect, test } from 'vitest';
import { rulesFor } from '../../../src/benchmarks/rules.ts';
import { customerScripts, GENERATED_DOMAINS } from '../../../src/domains/registry.ts';
import type { Learner, Sampler, TrainSequence } from '../../../src/engine/types.ts';
import { createEnvironments } from '../../../src/environments/index.ts';
import type { Evaluation } from '../../../src/evaluation/evaluate.ts';
import { grpoConfig } from '../../../src/training/config.ts';
import { trainRun } from '../../../src/training/run.ts';
import type { StepResult } from '../../../src/training/step-result.ts';
import { ScriptedUsers } from '../../../src/users/scripted.ts';
import { nanoTokenizer } from '../../support/tokenizers.ts';

const RUN = { domain: 'rooms', level: 'nano', max_model_len: 16_384, total_training_steps: 1, train_batch_size: 2, n: 2, inspect: false, val_tasks: 0, val_before_train: false, val_agent: 'careful' }; // prettier-ignore
const SFT = { ...RUN, algorithm: 'sft', sft_styles: 'careful' };

/** Looks for one person, then says goodbye. Each conversation makes the same call. */
function looksUp(): Sampler {
  const tokenizer = nanoTokenizer();
  const call = '<tool_call>\n{"name": "find_user", "arguments": {"name": "Ada"}}\n</tool_call><|im_end|>';
  const open = new Map<number, string[]>();
  return {
    maxModelLen: 16_384,
    open: async () => {
      open.set(open.size, [call]);
      return { id: open.size - 1, length: 0 };
    },
    append: () => {},
    close: () => {},
    generate: async ({ id }) => {
      const tokens = tokenizer.encode(open.get(id)!.shift() ?? 'Goodbye.<|im_end|>');
      return { tokens, logprobs: tokens.map(() => -1), finishReason: 'stop' };
    },
  };
}

async function trained(settings: Record<string, unknown>) {
  const config = grpoConfig('glimpse', settings);
  const environments = createEnvironments({ domains: GENERATED_DOMAINS, inMemory: true });
  const domain = await environments.domain(config.domain, config.level);
  const tokenizer = nanoTokenizer();
  const sequences: TrainSequence[] = [];
  const filled = (given: readonly TrainSequence[]) => given.map(({ tokens }) => new Float32Array(tokens.length).fill(-1));
  const learner = {
    score: async (given: readonly TrainSequence[]) => ({ logprobs: filled(given), entropies: filled(given) }),
    accumulate: async (given: readonly TrainSequence[]) => (
      sequences.push(...given),
      { logprobs: filled(given), entropies: filled(given) }
    ),
    step: async () => ({ gradNorm: 1 }),
  } as unknown as Learner;
  const stage = { domain, environments, users: new ScriptedUsers(customerScripts), tokenizer, sampler: looksUp(), rules: rulesFor(domain, config.conversation_rules) }; // prettier-ignore
  let kept: { result: StepResult; evaluation: Evaluation | null };
  await trainRun(stage, learner, config, 4, {
    onStep: async (result, evaluation) => void (kept = { result, evaluation }),
    onBaseline: async () => {},
  });
  return { ...kept!, texts: sequences.map(({ tokens }) => tokenizer.decode(Array.from(tokens))) };
}

const toolMetrics = ({ metrics }: StepResult) => Object.fromEntries(Object.entries(metrics).filter(([name]) => name.startsWith('tools/')));

describe('sft', () => {
  test('on noise that no check sees: it is in the demonstrations, and not in the evaluation', async () => {
    // A reader of a refused look-up cannot go on, so only some of the answers are spoilt.
    const { result, evaluation, texts } = await trained({
      ...SFT,
      val_tasks: 3,
      train_batch_size: 8,
      answer: 'noisy@0.3:wrong_order+refused',
      'answer.unchecked': true,
    });
    const refused = texts.filter((text) => text.includes('this is not possible'));
    expect(refused.length).toBeGreaterThan(0);
    expect(result.metrics['tools/spoilt']).toBeGreaterThanOrEqual(refused.length);
    expect(result.metrics['tools/calls']).toBeGreaterThan(result.metrics['tools/spoilt']!);
    expect(evaluation!.trajectories.map(({ reward }) => reward)).toEqual([1, 1, 1]);
    const heard = evaluation!.trajectories.flatMap(({ nodes }) => nodes.map(({ content }) => content ?? ''));
    expect(heard.join()).not.toContain('this is not possible');
  });

  test('behind the checks, without noise, nothing is refused; without simulated tools, nothing is counted', async () => {
    const { result, texts } = await trained({ ...SFT, answer: 'code' });
    expect(texts.length).toBe(4);
    expect(toolMetrics(result)).toMatchObject({ 'tools/asked_again': 0, 'tools/spoilt': 0, 'tools/dropped': 0 });
    expect(toolMetrics((await trained(RUN)).result)).toEqual({});
  });

  test('noise that the checks find drops demonstrations, and other tasks take their places', async () => {
    const { result, texts } = await trained({ ...SFT, answer: 'noisy@0.6:injected' });
    expect(texts.length).toBe(4);
    expect(texts.join()).not.toContain('<tool_call>{}');
    expect(result.metrics['tools/dropped']).toBeGreaterThan(0);
    expect(result.metrics['tools/asked_again']).toBeGreaterThan(0);
    expect(result.metrics['tools/spoilt']).toBe(0);
  });
});

describe('grpo', () => {
  test('a conversation without a right answer has no reward and no advantage, and is not played again', async () => {
    // The rollouts of a task make the same call on the same rows, so the same ones fail.
    const { result } = await trained({ ...RUN, train_batch_size: 8, answer: 'noisy@0.7:injected', filter_groups: false });
    const failed = result.trajectories.filter(({ termination }) => termination === 'tool_error');
    expect(failed.length).toBeGreaterThan(0);
    expect(failed.length).toBeLessThan(16);
    expect(failed.every(({ reward }) => reward === null)).toBe(true);
    expect(failed.filter(({ id }) => result.advantages.has(id))).toEqual([]);
    expect(result.metrics).toMatchObject({ 'tools/dropped': failed.length, 'rollout/dropped': failed.length, 'rollout/retried': 0 });
    expect(result.advantages.size).toBe(16 - failed.length);
  });

  test('noise that is let through is scored by the true rows', async () => {
    const { result } = await trained({ ...RUN, answer: 'noisy@1:injected', 'answer.unchecked': true });
    expect(result.metrics).toMatchObject({ 'tools/dropped': 0, 'rollout/dropped': 0 });
    expect(result.metrics['tools/spoilt']).toBe(result.metrics['tools/calls']);
    expect(result.trajectories.map(({ reward }) => reward)).not.toContain(null);
  });

  test('if no conversation is left, the run stops with the reason', async () => {
    await expect(trained({ ...RUN, answer: 'noisy@1:injected' })).rejects.toThrow(
      /no episode could be scored: the answer to find_user .* injection/,
    );
  });
});

test.each([
  [{ answer: 'noisy' }, 'setting "answer" is "noisy": expected noisy@RATE with a share, 0 to 1'],
  [{ answer: 'noisy@2' }, 'setting "answer" is "noisy@2": expected noisy@RATE'],
  [{ answer: 'noisy@0.1:wrong_rwo' }, 'setting "answer" has the kind "wrong_rwo" (did you mean wrong_row?)'],
  [{ answer: 'recorded@c.jsonl' }, 'only mua train --answer knows recorded@FILE and a URL'],
  [{ answer: 'cod' }, 'setting "answer" is "cod" (did you mean code?): expected code, noisy@RATE or no value'],
  [{ answer: 'code', 'answer.unchecked': true }, 'setting "answer.unchecked" is true: expected false, as answer is not noisy@RATE'],
  [{ domain: 'retail', answer: 'code' }, 'setting "answer" is "code": expected no value for retail, or a scenario: '],
  [{ answer: 'noisy@0.1', 'tools.stale_reads': 0.1 }, 'setting "tools.stale_reads" is 0.1: expected 0, as answer is "noisy@0.1"'],
])('%j is refused', (given, message) => {
  expect(() => grpoConfig('glimpse', { ...RUN, ...given })).toThrow(message);
});

test('tools of an MCP server cannot be simulated', async () => {
  await expect(trained({ ...SFT, domain: 'contacts', answer: 'code' })).rejects.toThrow('expected a scenario without host');
});
