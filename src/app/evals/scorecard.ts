/** @file What the page shows of a scorecard: the rows of its plots, its numbers, and the places of findings. */
import { isFigure, type CheckedLayer, type Figure, type Figures, type Measured } from '../../records/scorecard.ts';
import type { LayerName } from '../../records/layers.ts';
import type { Interval, TrialResult } from '../../records/evaluation.ts';
import { number, percent, seconds } from '../kit/format.ts';

/** A row of a plot of shares. */
export interface PlotRow {
  key: string;
  name: string;
  href?: string;
  points: (Interval & { color: string })[];
  /** The points as words. */
  words: string;
  /** A text beside the points. */
  aside?: string;
}

const NAMES: Record<string, string> = {
  partial_completion: 'task completion',
  damaged_conversations: 'data damaged',
  damaged_rows: 'damaged rows',
  generic_calls: 'generic tools’ calls',
  hand_overs: 'handed over',
  infrastructure_failures: 'failed to run',
  'seconds.generate': 'seconds of the model',
  'seconds.tool': 'seconds of tools',
  'seconds.user': 'seconds of the customer',
  'tokens.own': 'tokens',
  'tokens.prompt': 'prompt tokens',
  'tokens.completion': 'completion tokens',
};

/** The name of a figure or of a rule, in words. */
export const figureName = (name: string): string => NAMES[name] ?? name.replace(/^pass_hat_/, 'pass^').replaceAll('_', ' ');

const isShare = (figure: Figure): figure is Measured & { low: number; high: number } => !('na' in figure) && figure.low !== undefined;

/** The rows of the figures that are shares. @param link the address that lists what a row counts */
export function plotRows(figures: Iterable<[string, Figure]>, color: string, link?: (name: string) => string): PlotRow[] {
  return [...figures].flatMap(([key, figure]) => {
    if (!isShare(figure)) return [];
    const { value, low, high, of, unit } = figure;
    const words = `${percent(value)} of ${of} ${unit}, 95 % interval ${percent(low)} to ${percent(high)}`;
    const href = link?.(key);
    return [
      {
        key,
        name: figureName(key),
        ...(href && { href }),
        points: [{ value, low, high, color }],
        words,
        aside: `${percent(value)} of ${of} ${unit}`,
      },
    ];
  });
}

/** The rules of a layer, those that were broken most first. */
export function worstFirst(kept: CheckedLayer['kept']): [string, Figure][] {
  const value = (figure: Figure) => ('na' in figure ? 2 : figure.value);
  return Object.entries(kept).sort(([, a], [, b]) => value(a) - value(b));
}

/** The broken rules that have no share, with the number of their findings. */
export const uncounted = ({ kept, findings }: CheckedLayer): [string, number][] =>
  Object.entries(findings).flatMap(([rule, figure]): [string, number][] => {
    const count = 'na' in figure ? 0 : (figure.count ?? 0);
    return count > 0 && 'na' in kept[rule]! ? [[rule, count]] : [];
  });

/** All figures of a group, with dots in the names of the inner ones. */
export const flatFigures = (figures: Figures): [string, Figure][] =>
  Object.entries(figures).flatMap(([name, value]) =>
    isFigure(value)
      ? [[name, value] as [string, Figure]]
      : Object.entries(value).map(([part, one]): [string, Figure] => [`${name}.${part}`, one]),
  );

/** The figures that are no shares, as name and text. Those of single tools are shown elsewhere. */
export const plainFigures = (figures: readonly [string, Figure][]): [string, string][] =>
  figures.flatMap(([name, figure]): [string, string][] => {
    if ('na' in figure || isShare(figure) || name.startsWith('calls_by_tool.')) return [];
    return [[figureName(name), name.startsWith('seconds.') ? seconds(figure.value) : number(figure.value)]];
  });

/** A rule of a layer as a value of the page's filter. */
export const ruleFilter = (layer: LayerName, rule: string): string => `${layer}/${rule}`;

/** Whether the trial broke the rule of the filter. */
export function hasFinding({ card }: TrialResult, filter: string): boolean {
  const [layer, rule] = filter.split('/', 2) as [LayerName, string];
  const found = card?.layers[layer];
  return found !== undefined && 'findings' in found && found.findings.some((finding) => finding.rule === rule);
}
