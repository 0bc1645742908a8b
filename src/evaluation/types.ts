/** @file Decides whether two evaluations can be paired, and reads the limits of an episode. */
import { uncodedConditions } from '../domains/registry.ts';
import { conditionsCode } from '../environments/conditions.ts';
import type { EpisodeLimits } from '../records/episode.ts';
import type { EvaluatedModel, EvaluationRow, EvaluationSettings } from '../records/evaluation.ts';
import type { ModelRef } from '../records/model.ts';
import type { UserConfig } from '../records/user.ts';

/** Whether the agent's model does not run on the engine of the playground. It has its own limits on tokens. */
export const isForeignModel = (model: EvaluatedModel): model is Exclude<EvaluatedModel, ModelRef> =>
  model.kind === 'server' || model.kind === 'tab';

/** Whether an evaluation needs the GPU, for the agent or for the customer. */
export const usesGpu = (model: EvaluatedModel, user: UserConfig): boolean =>
  !isForeignModel(model) || (model.kind === 'tab' && model.device === 'webgpu') || (user.mode === 'local' && user.device === 'webgpu');

/** Whether the trials of two evaluations can be paired. Foreign models have no limits on the tokens of their conversations. */
export function canPair(a: Pick<EvaluationRow, 'model' | 'settings'>, b: Pick<EvaluationRow, 'model' | 'settings'>): boolean {
  const isForeign = isForeignModel(a.model) || isForeignModel(b.model);
  const key = ({ settings }: Pick<EvaluationRow, 'settings'>) =>
    settingsKey(isForeign ? { ...settings, limits: { ...settings.limits, max_model_len: 0, response_length_one_turn: 0 } } : settings);
  return key(a) === key(b);
}

/** A text that is equal for two evaluations of weights if and only if their trials can be paired. */
export function settingsKey(settings: EvaluationSettings): string {
  const { domain, level, split, tasks, trials, temperature, top_p, top_k, seed, protocol, limits, conversation_rules, first_stream, user } =
    settings;
  const who = whoPlays(user);
  return JSON.stringify([
    domain,
    level,
    split,
    tasks,
    trials,
    temperature,
    top_p,
    top_k,
    seed,
    protocol,
    Object.values(limitsOf(limits)),
    conversation_rules,
    first_stream,
    conditionsCode(settings.conditions, uncodedConditions(domain, level)),
    user.mode,
    ...who,
  ]);
}

/** The limits of an episode, from a larger configuration. */
export function limitsOf(config: EpisodeLimits): EpisodeLimits {
  const { max_turns, response_length_one_turn, max_model_len, malformed_policy, require_done, enable_thinking } = config;
  return {
    max_turns,
    response_length_one_turn,
    max_model_len,
    malformed_policy,
    require_done,
    ...(enable_thinking && { enable_thinking }),
  };
}

/** The fields of a customer that must be equal for two evaluations to be paired. */
function whoPlays(user: UserConfig): (string | undefined)[] {
  if (user.mode === 'endpoint') return [user.baseUrl, user.model, user.judgeModel];
  return user.mode === 'local' ? [user.source, user.hub, user.model, user.device, user.precision] : [];
}
