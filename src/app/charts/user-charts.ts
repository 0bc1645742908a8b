/** @file The charts of customers that a language model plays: their faults, tokens, latency and cost. */
import { number, percent, seconds, tickSeconds } from '../kit/format.ts';
import type { ChartSpec } from './charts.ts';
import { shareBand } from './share-band.ts';

export const USER_FAULTS_CHART: ChartSpec = {
  id: 'user-faults',
  title: 'Customer: faults',
  help: 'Share of a step’s conversations in which the audit finds a fault of the customer, such as a fact that its scenario does not have. The band is a 95 % interval that treats conversations as independent.',
  kind: 'lines',
  max: 1,
  format: percent,
  lines: () => [
    {
      key: 'user/fault_rate',
      label: 'with a fault',
      color: '--bad',
      sparse: true,
      band: (series) => shareBand(series, 'user/fault_rate', 'user/audited'),
    },
  ],
};

export const USER_TOKENS_CHART: ChartSpec = {
  id: 'user-tokens',
  title: 'Customer: tokens',
  help: 'Tokens in the requests to the customer’s language model and in its answers, per step. If this model runs on a server, the server counts the tokens, else the page does. If the server reports no tokens, the chart has no line.',
  kind: 'lines',
  format: number,
  lines: () => [
    { key: 'user/prompt_tokens', label: 'prompt', color: '--accent' },
    { key: 'user/completion_tokens', label: 'completion', color: '--series-2' },
  ],
};

export const USER_LATENCY_CHART: ChartSpec = {
  id: 'user-latency',
  title: 'Customer: latency',
  help: 'Seconds until the customer’s language model answered: the median of a step’s answers (p50), and the time that 95 % of them did not exceed (p95).',
  kind: 'lines',
  format: seconds,
  tick: tickSeconds,
  lines: () => [
    { key: 'user/latency_p50_s', label: 'p50', color: '--accent' },
    { key: 'user/latency_p95_s', label: 'p95', color: '--series-2' },
  ],
};

export const USER_COST_CHART: ChartSpec = {
  id: 'user-cost',
  title: 'Customer: cost',
  help: 'Cost of the customer’s language model in a step: the reported tokens times the prices in the settings.',
  kind: 'lines',
  format: number,
  lines: () => [{ key: 'user/cost', label: 'cost', color: '--accent' }],
};
