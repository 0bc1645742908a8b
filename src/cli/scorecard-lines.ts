/** @file The lines that `mua report --card` prints about a scorecard. */
import { LAYERS } from '../records/layers.ts';
import { type Figure, type Figures, isFigure, type Scorecard } from '../records/scorecard.ts';
import { percent } from './commands/shared.ts';

/** For example `87.0 % (81.2 % to 91.0 %) of 200 conversations`. A number without an interval is no share. */
export function figureText(figure: Figure): string {
  if ('na' in figure) return `not applicable (${figure.na})`;
  const { value, low, high, of, unit } = figure;
  const number =
    low === undefined || high === undefined ? Number(value.toPrecision(4)) : `${percent(value)} (${percent(low)} to ${percent(high)})`;
  return `${number} of ${of} ${unit}`;
}

/** A line for each figure, layer by layer. */
export function cardLines({ layers, judged }: Scorecard): string[] {
  const { outcome, operation } = layers;
  return [
    ...figureLines('outcome', outcome),
    ...LAYERS.flatMap((name) => {
      const layer = layers[name];
      if ('na' in layer) return [`${name}: ${figureText(layer)}`];
      const kept = Object.entries(layer.kept).map(
        ([rule, figure]) => `  ${rule} kept: ${figureText(figure)}${brokenText(layer.findings[rule])}`,
      );
      const attacks = Object.entries(layer.by_attack ?? {}).map(
        ([kind, figure]) => `  attack ${kind} without a finding: ${figureText(figure)}`,
      );
      return [`${name}: without a finding ${figureText(layer.clean)}`, ...attacks, ...kept];
    }),
    ...figureLines('operation', operation),
    ...(isFigure(judged) ? [`judged: ${figureText(judged)}`] : figureLines('judged', judged)),
  ];
}

const brokenText = (findings: Figure | undefined) =>
  findings && 'count' in findings && findings.count! > 0 ? `; ${findings.count} findings` : '';

const figureLines = (title: string, figures: Figures): string[] => [
  `${title}:`,
  ...Object.entries(figures).flatMap(([name, value]) =>
    isFigure(value)
      ? [`  ${name}: ${figureText(value)}`]
      : Object.entries(value).map(([part, figure]) => `  ${name}.${part}: ${figureText(figure)}`),
  ),
];
