/** @file Charts that show if the agent earns its reward by the rules: writes that the customer said yes to, and the terms of the reward. */
import { rewardLabel } from '../labels/labels.ts';
import { number, percent } from '../kit/format.ts';
import type { ChartSpec } from './charts.ts';
import { shareBand } from './share-band.ts';

const HELD_OUT_WRITES = /^val-aux\/.*\/writes\/confirmed_ratio$/;

export const WRITES_CHART: ChartSpec = {
  id: 'confirmed-writes',
  title: 'Writes with a yes',
  help: 'Share of a step’s writes that the customer said yes to. If this share falls while the reward rises, the agent earns reward by breaking rules. The band is a 95 % interval that treats writes as independent.',
  kind: 'lines',
  max: 1,
  format: percent,
  lines: ({ names }) => [
    {
      key: 'writes/confirmed_ratio',
      label: 'training',
      color: '--accent',
      sparse: true,
      band: (series) => shareBand(series, 'writes/confirmed_ratio', 'writes/audited'),
    },
    ...names.filter((name) => HELD_OUT_WRITES.test(name)).map((key) => ({ key, label: 'held-out', color: '--series-2', sparse: true })),
  ],
};

const TERM = /^reward\/(.+)\/mean$/;

/** The metrics among `names` that have the mean of a term of the reward, each with the name of its term. */
export const termsIn = (names: readonly string[]): { key: string; term: string }[] =>
  names.flatMap((key) => {
    const term = TERM.exec(key)?.[1];
    return term === undefined ? [] : [{ key, term }];
  });

export const TERMS_CHART: ChartSpec = {
  id: 'reward-terms',
  title: 'Reward by term',
  help: 'The average that each term adds to the training reward. A price is a negative term. Success counts only the outcome, not the other terms.',
  kind: 'lines',
  format: number,
  legendLines: 2,
  lines: ({ names }) => [
    { key: 'critic/rewards/mean', label: 'total', color: '--text' },
    ...termsIn(names).map(({ key, term }, i) => ({ key, label: rewardLabel(term), color: `--series-${(i % 6) + 1}` })),
  ],
};
