/** @file `mua evaluate`: a model's success on generated tasks, or on the tasks of an imported benchmark under the benchmark's rules. */
import type { SessionParts } from './session-parts.ts';
import type { ModelFiles } from '../records/model.ts';
import type { EvaluateOptions, EvaluateReport, Progress } from './messages.ts';
import type { Sampling } from '../records/episode.ts';
import type { UserConfig } from '../records/user.ts';
import { conditionsOf } from '../environments/conditions.ts';
import { parseConfig } from '../engine/config.ts';
import { customerQuality } from '../evaluation/customer-quality.ts';
import { evaluate } from '../evaluation/evaluate.ts';
import { tau2Results } from '../benchmarks/tau2/write-results.ts';
import { resultOf } from '../evaluation/trial-result.ts';
import { InputError } from '../base/input-error.ts';
import { evaluationConfig } from '../training/config.ts';
import { concurrency, type EngineHost } from './engine-host.ts';

/** The size limit of the KV cache in an evaluation. */
const KV_CACHE_BYTES = 2 ** 30;

/** @throws InputError if no task is selected */
export async function evaluateModel(
  parts: SessionParts,
  host: EngineHost,
  model: ModelFiles,
  options: EvaluateOptions,
  user: UserConfig,
  progress: Progress,
): Promise<EvaluateReport> {
  const { domain, level, split, select, seed, trials } = options;
  const config = evaluationConfig(options);
  const sampling: Sampling = { temperature: options.temperature, top_p: config.top_p, top_k: config.top_k };
  const chosen = await parts.environments.tasks({
    domain,
    level,
    split,
    seed,
    count: options.tasks,
    conditions: conditionsOf(config, 'val'),
    ...(select && { select }),
  });
  const tasks = options.skip_noop ? chosen.filter(({ noop }) => !noop) : chosen;
  if (chosen.length === 0) throw new InputError(`split "${split}" of ${domain} has no tasks`);
  if (tasks.length === 0) throw new InputError(`all ${chosen.length} tasks change nothing: without them no task is left`);
  const slots = Math.min(concurrency(config), slotsWithin(model, config.max_model_len));
  const place = { domain, level, conversation_rules: config.conversation_rules };
  const { stage } = await host.stage(model, place, user, { maxModelLen: config.max_model_len, slots });
  const startedAt = Date.now();
  const { report, trajectories } = await evaluate(stage, {
    tasks,
    trials,
    limits: config,
    sampling,
    seed,
    firstStream: 0,
    concurrency: slots,
    onProgress: (done, total) => progress(done, total, 'episodes'),
  });
  const results =
    options.tau2_results === undefined
      ? undefined
      : tau2Results(trajectories, {
          domain: stage.domain,
          trials,
          seed,
          agent: options.tau2_results,
          user: user.mode === 'scripted' ? null : user.model,
          temperature: options.temperature,
          startedAt,
          limits: stage.rules,
        });
  return {
    ...report,
    customer: customerQuality(trajectories.map(resultOf)),
    noop_skipped: chosen.length - tasks.length,
    ...(options.trajectories && { trajectories }),
    ...(results && { tau2_results: results }),
  };
}

/** The number of sequences of `length` tokens whose keys and values fit into KV_CACHE_BYTES. */
function slotsWithin(model: ModelFiles, length: number): number {
  const { num_hidden_layers, num_key_value_heads, head_dim } = parseConfig(JSON.parse(new TextDecoder().decode(model['config.json'])));
  return Math.max(1, Math.floor(KV_CACHE_BYTES / (length * num_hidden_layers * num_key_value_heads * head_dim * 8)));
}
