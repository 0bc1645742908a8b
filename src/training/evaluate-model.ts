/** @file `mua evaluate`: a model's success on generated tasks, or on those of an imported benchmark under its own rules. */
import { departures, rulesOf } from '../agent/rules.ts';
import type { Sampling } from '../agent/types.ts';
import { parseConfig } from '../engine/config.ts';
import { evaluate } from '../evaluation/evaluate.ts';
import { tau2Results } from '../exchange/tau2-results.ts';
import type { UserConfig } from '../users/types.ts';
import type { EvaluateOptions, EvaluateReport, ModelFiles, Progress } from './api.ts';
import { InputError } from './commands.ts';
import { evaluationConfig } from './config.ts';
import { concurrency, type EngineHost, type SessionParts } from './engine-host.ts';

/** What the KV cache of an evaluation may take. */
const KV_CACHE_BYTES = 2 ** 30;

/** @throws InputError when there is nothing to play */
export async function evaluateModel(parts: SessionParts, host: EngineHost, model: ModelFiles, options: EvaluateOptions, user: UserConfig, progress: Progress): Promise<EvaluateReport> {
  const { domain, level, split, select, seed, trials } = options;
  const config = evaluationConfig(options);
  const sampling: Sampling = { temperature: options.temperature, top_p: config.top_p, top_k: config.top_k };
  const chosen = await parts.environments.tasks({ domain, level, split, seed, count: options.tasks, ...(select && { select }) });
  const tasks = options.skip_noop ? chosen.filter(({ noop }) => !noop) : chosen;
  if (chosen.length === 0) throw new InputError(`split "${split}" of ${domain} has no tasks`);
  if (tasks.length === 0) throw new InputError(`all ${chosen.length} tasks change nothing: without them none is left`);
  const slots = Math.min(concurrency(config), slotsWithin(model, config.max_model_len));
  const { stage } = await host.stage(model, options, user, { maxModelLen: config.max_model_len, slots });
  const rules = departures(config.conversation_rules);
  const startedAt = Date.now();
  const { report, trajectories } = await evaluate(stage, {
    tasks,
    trials,
    limits: config,
    sampling,
    seed,
    firstStream: 0,
    rules,
    concurrency: slots,
    onProgress: (done, total) => progress(done, total, 'episodes'),
  });
  const results = options.tau2_results === undefined ? undefined : tau2Results(trajectories, {
    domain: stage.domain, trials, seed, agent: options.tau2_results, user: user.mode === 'endpoint' ? user.model : null, temperature: options.temperature, startedAt,
    limits: { ...rulesOf(stage.domain), ...rules },
  });
  return { ...report, noop_skipped: chosen.length - tasks.length, ...(options.trajectories && { trajectories }), ...(results && { tau2_results: results }) };
}

/** Sequences of that length whose keys and values fit. */
function slotsWithin(model: ModelFiles, length: number): number {
  const { num_hidden_layers, num_key_value_heads, head_dim } = parseConfig(JSON.parse(new TextDecoder().decode(model['config.json'])));
  return Math.max(1, Math.floor(KV_CACHE_BYTES / (length * num_hidden_layers * num_key_value_heads * head_dim * 8)));
}
