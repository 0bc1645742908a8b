/** Comparison of runs: the address, the differences, the curves on common axes and the final values. */
import { FIGURES, overlay, overlayCharts } from '../../../src/app/runs/compare-runs.ts';
import { expect, test } from 'vitest';
import { chartData } from '../../../src/app/charts/charts.ts';
import { differences } from '../../../src/app/run-data/compare.ts';
import { pairText, readIds, readPair } from '../../../src/app/routes/comparison.ts';
import { MetricSeries } from '../../../src/app/run-data/series.ts';
import { grpoConfig } from '../../../src/training/config.ts';
import type { RunRequest, StepMetrics } from '../../../src/records/run.ts';

test('an address names two rollouts, with any characters in their ids', () => {
  const pair = [
    { run: 'a/b,c', id: '1-0-0' },
    { run: 'r', id: 'x%/y' },
  ];
  expect(readPair(pairText(pair))).toEqual(pair);
  expect(['', 'a/b', 'a/b,c', 'a/b,c/d,e/f', 'a/b,/d', 'a/%,c/d'].map(readPair)).toEqual([null, null, null, null, null, null]);
  expect(readIds('a,,b,a')).toEqual(['a', 'b']);
});

test('runs differ in model, customer and settings, in the order of the runs', () => {
  const request: RunRequest = { model: 'm', preset: 'nano', overrides: {}, user: { mode: 'scripted' } };
  const one = { request, config: grpoConfig('nano') };
  const other = { request: { ...request, model: 'n' }, config: grpoConfig('nano', { lr: 0.5 }) };
  expect(differences([one, one])).toEqual([]);
  expect(differences([one, other, one])).toEqual([
    { name: 'model', values: ['m', 'n', 'm'] },
    { name: 'lr', values: [String(one.config.lr), '0.5', String(one.config.lr)] },
  ]);
  // An imported run lacks a setting.
  const { seed: _, ...older } = one.config;
  expect(differences([one, { request, config: older as typeof one.config }])).toEqual([
    { name: 'seed', values: [String(one.config.seed), 'not set'] },
  ]);
});

function series(...rows: StepMetrics[]): MetricSeries {
  const made = new MetricSeries();
  for (const metrics of rows) made.put(metrics);
  return made;
}

test('one chart per metric with one line per run, on one axis of steps', () => {
  const runs = [
    {
      name: 'first',
      series: series(
        { step: 0, 'val-core/a/reward/mean@1': 0.1 },
        { step: 1, 'critic/score/mean': 0.2 },
        { step: 3, 'critic/score/mean': 0.4 },
      ),
    },
    {
      name: 'second',
      series: series({ step: 2, 'critic/score/mean': 0.9 }, { step: 3, 'critic/score/mean': 0, 'val-core/b/reward/mean@1': 0.5 }),
    },
  ];
  const merged = overlay(runs);
  const chart = (id: string) =>
    chartData(
      overlayCharts(runs).charts.find((spec) => spec.id === id)!,
      merged,
      0,
    );
  expect(chart('reward').steps).toEqual([1, 2, 3]);
  expect(chart('reward').lines.map(({ label }) => label)).toEqual(['first', 'second']);
  expect(chart('reward').raw).toEqual([
    [0.2, null, 0.4],
    [null, 0.9, 0],
  ]);
  // Each run has its own held-out set.
  expect(chart('held-out').steps).toEqual([0, 3]);
  expect(chart('held-out').raw).toEqual([
    [0.1, null],
    [null, 0.5],
  ]);
});

test('a metric that only one of two runs has measured is not compared', () => {
  const step = { step: 1, 'critic/score/mean': 0.5 };
  const off = { name: 'off', series: series(step) };
  const on = { name: 'on', series: series({ ...step, 'actor/kl_loss': 0.03 }) };
  const compared = (...runs: (typeof off)[]) => overlayCharts(runs).charts.map(({ id }) => id);
  expect(compared(off, on)).toEqual(['reward']);
  expect(overlayCharts([off, on]).unmeasured).toContain('KL to the reference, trained tokens');
  expect(compared(off, on, on)).toEqual(['reward', 'kl']);
  expect(compared(on)).toEqual(['reward', 'kl']);
  const figure = FIGURES.find(({ label }) => label.startsWith('KL'))!;
  expect([off, on].map((run) => figure.of(run.series))).toEqual([null, 0.03]);
});

test('final values: means of the last steps; first, newest and best held-out reward; null without values', () => {
  const run = series(
    { step: 0, 'val-core/a/reward/mean@1': 0.3 },
    ...Array.from({ length: 20 }, (_, i) => ({
      step: i + 1,
      'critic/score/mean': i,
      ...(i === 9 && { 'val-core/a/reward/mean@1': 0.8 }),
      ...(i === 19 && { 'val-core/a/reward/mean@1': 0.6 }),
    })),
  );
  const figure = (label: string, of = run) => FIGURES.find((f) => f.label.startsWith(label))!.of(of);
  expect(figure('steps')).toBe(20);
  expect(figure('reward')).toBe(14.5);
  expect(figure('held-out reward before')).toBe(0.3);
  expect(figure('held-out reward, newest')).toBe(0.6);
  expect(figure('held-out reward, best')).toBe(0.8);
  expect(FIGURES.map((f) => f.of(series()))).toEqual(FIGURES.map(() => null));
});
