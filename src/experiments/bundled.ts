/** @file The experiments that come with the page. The files are in `public/experiments/`. */

/** Ready-made definitions, `<id>.toml`: a visitor or `mua experiment` runs them. */
export const READY_MADE = ['honest', 'ablation', 'start', 'kl', 'group-size', 'customers', 'rewards', 'algorithms', 'small'] as const;

/** Results, `<id>.mua-experiment.json`: the page shows them and cannot change them. */
export const RESULTS: readonly string[] = ['honest', 'ablation', 'small'];
