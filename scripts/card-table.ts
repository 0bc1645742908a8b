/** @file The scorecards of the bundled models as a table: a row for each figure, a column for each card. */
import { existsSync, readFileSync } from 'node:fs';
import { LAYERS } from '../src/records/layers.ts';
import { type CheckedLayer, type Figure, type Figures, isFigure, type Scorecard } from '../src/records/scorecard.ts';

export const CARD_FOLDER = 'docs/scorecards';

/** The cards, with the flags of `mua evaluate` beside the number of tasks and trials. */
export const CARDS: Record<string, { model: string; flags: string[] }> = {
  'glimpse-retail': { model: 'glimpse-retail', flags: ['--level', 'glimpse'] },
  'nano-retail': { model: 'nano-retail', flags: ['--level', 'nano'] },
  'nano-retail-guard': { model: 'nano-retail', flags: ['--level', 'nano', '--set', 'val_agent=guard'] },
  'nano-retail-grpo': { model: 'nano-retail-grpo', flags: ['--level', 'nano'] },
  'small-retail': { model: 'small-retail', flags: ['--level', 'small'] },
};

/** The text above the table. */
export const CARDS_INTRO = `Shares are in percent, with 95 % intervals; other figures are means. Rules without a row were never broken. The guard is a rule that asks before each write. [docs/scorecards](../scorecards) has all figures and examples of findings. \`npm run cards -- FOLDER\` plays held-out tasks and writes the cards.`;

const cards = (): Record<string, Scorecard> =>
  Object.fromEntries(
    Object.keys(CARDS)
      .map((name) => [name, `${CARD_FOLDER}/${name}.json`] as const)
      .filter(([, file]) => existsSync(file))
      .map(([name, file]) => [name, JSON.parse(readFileSync(file, 'utf8')) as Scorecard]),
  );

const percent = (value: number) => (100 * value).toFixed(1);

/** A share in percent with its interval, or a mean. */
function cell(figure: Figure | undefined): string {
  if (!figure || 'na' in figure) return '–';
  const { value, low, high } = figure;
  return low === undefined || high === undefined
    ? String(Number(value.toPrecision(3)))
    : `${percent(value)} (${percent(low)} to ${percent(high)})`;
}

/** The share of a rule's occasions in which it was kept. If these are not counted, the number of findings. */
function ruleCell(layer: CheckedLayer | undefined, rule: string): string {
  const kept = layer?.kept[rule];
  const found = layer?.findings[rule];
  const isCounted = !kept || !('na' in kept) || !found || 'na' in found || found.count === 0;
  return isCounted ? cell(kept) : `${found.count} findings`;
}

const figureOf = (figures: Figures, name: string): Figure | undefined => {
  const figure = figures[name];
  return figure && isFigure(figure) ? figure : undefined;
};

/** Head and rows. Of the rules, those that an agent broke have a row. */
export function cardRows(): string[][] {
  const all = Object.values(cards());
  const row = (title: string, figure: (card: Scorecard) => Figure | undefined) => [title, ...all.map((card) => cell(figure(card)))];
  const outcome = ['pass_hat_1', 'pass_hat_4', 'partial_completion', 'damaged_conversations'];
  const operation = ['turns', 'calls', 'generic_calls', 'hand_overs', 'infrastructure_failures'];
  const layers = LAYERS.flatMap((name) => {
    const layerOf = ({ layers: { [name]: layer } }: Scorecard) => ('na' in layer ? undefined : layer);
    const broken = all.flatMap((card) => layerOf(card)?.examples.map(({ rule }) => rule) ?? []);
    return [
      row(`${name}: without a finding`, (card) => layerOf(card)?.clean),
      ...[...new Set(broken)].sort().map((rule) => [`${name}: ${rule} kept`, ...all.map((card) => ruleCell(layerOf(card), rule))]),
    ];
  });
  return [
    ['figure', ...Object.keys(cards())],
    ...outcome.map((name) => row(name, ({ layers }) => figureOf(layers.outcome, name))),
    ...layers,
    ...operation.map((name) => row(name, ({ layers }) => figureOf(layers.operation, name))),
  ];
}
