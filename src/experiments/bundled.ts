/**
 * @file The experiments that come with the page, each with its results. The files are in `public/experiments/`: the definition
 * `<id>.toml`, from which a visitor begins a new experiment, and the results `<id>.mua-experiment.json`, which nobody can change.
 */
export const BUNDLED_EXPERIMENTS: readonly string[] = ['honest', 'ablation', 'small'];
