/**
 * @file The experiments that are part of the page, each with its results. The files are in `public/experiments/`. `<id>.toml`
 * is the definition, from which a visitor can begin a new experiment. `<id>.mua-experiment.json` has the results, which nobody
 * can change. A definition without results was not run yet, and is not listed here.
 */
export const BUNDLED_EXPERIMENTS: readonly string[] = [
  'timeouts',
  'timeouts-start-2',
  'timeouts-never',
  'timeouts-third',
  'timeouts-confused',
  'timeouts-nano',
  'timeouts-unseen',
  'left-out-intents',
  'matched-controls',
  'matched-controls-nano',
  'turn-rewards',
  'honest',
  'ablation',
  'small',
  'smollm2',
  'scenarios',
  'scenarios-long',
  'noise-grpo',
  'noise-sft',
];
