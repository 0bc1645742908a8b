/** @file The work of `mua gate`: compares the figures of a scorecard with requirements. */
import { RULE_NAMES } from '../agent/layers/rule-names.ts';
import { didYouMean } from '../base/did-you-mean.ts';
import { shown } from '../base/input-error.ts';
import { isObject } from '../base/json.ts';
import { LAYERS, type LayerName } from '../records/layers.ts';
import type { Figure, Measured } from '../records/scorecard.ts';
import { UsageError } from './errors.ts';

const BOUNDS = ['value', 'low', 'high'] as const;
type Bound = (typeof BOUNDS)[number];

/** What a figure must be. */
interface Requirement {
  at_least?: number;
  at_most?: number;
  /** The end of the figure's 95 % interval that must be so, or the value. */
  bound: Bound;
  /** Whether a figure that is not applicable is met. */
  na: 'met' | 'unmet';
}
const FIELDS = ['at_least', 'at_most', 'bound', 'na'];

export interface CheckedRequirement extends Requirement {
  /** Such as `outcome.pass_hat_1`. */
  figure: string;
  is: Figure;
  met: boolean;
}

/** The layers whose rules are checked, with the figures that they have even if they are not applicable. */
const CHECKED: readonly string[] = LAYERS;
const BY_RULE = ['kept', 'findings'];
const GROUPS = ['', ...LAYERS, ...LAYERS.flatMap((name) => BY_RULE.map((group) => `${name}.${group}`))];

/** The figures of a card by their paths. A layer that is not applicable is a figure. @throws UsageError if the card is wrong */
function figuresOf(card: unknown, file: string): Map<string, Figure> {
  const fail = (field: string, value: unknown, expected: string): never => {
    throw new UsageError(`${file}: ${field} is ${shown(value)}: expected ${expected}`);
  };
  if (!isObject(card)) return fail('the file', card, 'a scorecard, as ./mua report DIR|FILE --card writes it');
  if (card.format !== undefined)
    return fail('format', card.format, 'a scorecard, which has none, as ./mua report DIR|FILE --card writes it');
  if (card.version !== 1) return fail('version', card.version, '1, as ./mua report DIR|FILE --card writes it');
  if (!isObject(card.layers)) return fail('layers', card.layers, 'an object with the figures of each layer');
  const found = new Map<string, Figure>();
  const walk = (value: unknown, path: string) => {
    if (!isObject(value)) return;
    if (typeof value.na === 'string') found.set(path, { na: value.na });
    else if ('value' in value && !isObject(value.value)) found.set(path, measured(value, path));
    else for (const [name, child] of Object.entries(value)) if (name !== 'examples') walk(child, path === '' ? name : `${path}.${name}`);
  };
  const measured = (figure: Record<string, unknown>, path: string): Figure => {
    for (const name of BOUNDS) {
      const isMissing = name !== 'value' && figure[name] === undefined;
      if (!isMissing && !Number.isFinite(figure[name])) return fail(`${path}.${name}`, figure[name], 'a number');
    }
    return figure.of === 0 ? NO_OCCASION : (figure as unknown as Measured);
  };
  walk({ ...card.layers, judged: card.judged }, '');
  if (found.size === 0) return fail('layers', card.layers, 'figures');
  return found;
}

const NO_OCCASION: Figure = { na: 'no occasion' };

/** A rule of a layer, from a path such as `policy.kept.wrong_status`. */
function ruleOf(path: string): { layer: LayerName; rule: string } | undefined {
  const [, layer, rule] = /^(\w+)\.(?:kept|findings)\.([^.]+)$/.exec(path) ?? [];
  return CHECKED.includes(layer!) ? { layer: layer as LayerName, rule: rule! } : undefined;
}

/**
 * The figure of a rule. A rule that could not be broken in any conversation has no occasion: it is not in the card, or has no share and no
 * finding. Undefined if there is no such rule.
 */
function figureOfRule(path: string, figures: ReadonlyMap<string, Figure>): Figure | undefined {
  const { layer, rule } = ruleOf(path)!;
  const [own, kept, whole] = [figures.get(path), figures.get(`${layer}.kept.${rule}`), figures.get(layer)];
  if (own && !('na' in own) && own.value === 0 && kept && 'na' in kept) return NO_OCCASION;
  if (own) return own;
  const names: readonly string[] = RULE_NAMES[layer];
  return names.includes(rule) ? (whole ?? NO_OCCASION) : undefined;
}

/**
 * @param card the content of the file `names.card`
 * @param table the content of the file `names.require`
 * @throws UsageError if a file is wrong, or if a requirement names no figure of the card
 */
export function checkGate(card: unknown, table: Record<string, unknown>, names: { card: string; require: string }): CheckedRequirement[] {
  const figures = figuresOf(card, names.card);
  const layers = (card as { layers: object }).layers;
  const known = [...figures.keys()].map((path) => (CHECKED.includes(path) ? `${path}.clean` : path));
  const fail = (field: string, what: string): never => {
    throw new UsageError(`${names.require}: ${field} ${what}`);
  };
  const checked: CheckedRequirement[] = [];
  const walk = (value: unknown, path: string) => {
    const isGroup = GROUPS.includes(path) || known.some((name) => name.startsWith(`${path}.`));
    const rule = ruleOf(path);
    const lacksLayer = rule !== undefined && !Object.hasOwn(layers, rule.layer);
    const is = isGroup || lacksLayer ? undefined : rule ? figureOfRule(path, figures) : (figures.get(path) ?? reasonAbove(path, figures));
    if (!isGroup && !is) {
      const own = rule ? RULE_NAMES[rule.layer].map((name) => `${path.slice(0, -rule.rule.length)}${name}`) : [];
      return fail(path, `is no figure of ${names.card}${didYouMean(path, [...new Set([...known, ...own])])}: expected ${known.join(', ')}`);
    }
    if (!isObject(value)) return fail(path, `is ${shown(value)}: expected a table, such as {at_least = 0.8}`);
    // Below a group of figures that is not applicable, such as the seconds, are the group's own names.
    const hasFigures = figures.has(path) && Object.keys(value).length > 0 && Object.values(value).every(isObject);
    if (is && !('na' in is && hasFigures)) {
      const requirement = readRequirement(value, path, is, fail);
      return void checked.push({ figure: path, ...requirement, is, met: isMet(is, requirement) });
    }
    for (const [name, child] of Object.entries(value)) walk(child, path === '' ? name : `${path}.${name}`);
  };
  walk(table, '');
  if (checked.length === 0) fail('the file', 'has no requirement: expected a line such as outcome.pass_hat_1 = {at_least = 0.8}');
  return checked;
}

/** The reason of a group of figures that is not applicable, for a figure in it. */
function reasonAbove(path: string, figures: ReadonlyMap<string, Figure>): Figure | undefined {
  const parts = path.split('.');
  const [layer = '', name = '', ...rest] = parts;
  if (CHECKED.includes(layer) && !(name === 'clean' && rest.length === 0)) return undefined;
  return parts.flatMap((_, i) => figures.get(parts.slice(0, i).join('.')) ?? []).find((figure) => 'na' in figure);
}

function readRequirement(
  table: Record<string, unknown>,
  path: string,
  figure: Figure,
  fail: (field: string, what: string) => never,
): Requirement {
  const unknown = Object.keys(table).find((name) => !FIELDS.includes(name));
  if (unknown !== undefined) fail(`${path}.${unknown}`, `is unknown${didYouMean(unknown, FIELDS)}: expected ${FIELDS.join(', ')}`);
  const { at_least, at_most, bound = 'value', na = 'unmet' } = table;
  const isShare = !('na' in figure) && figure.low !== undefined;
  for (const [name, value] of Object.entries({ at_least, at_most })) {
    if (value === undefined) continue;
    const isNumber = typeof value === 'number' && Number.isFinite(value);
    if (!isNumber || (isShare && (value < 0 || value > 1)))
      fail(`${path}.${name}`, `is ${shown(value)}: expected a number${isShare ? ' from 0 to 1, because the figure is a share' : ''}`);
  }
  if (at_least === undefined && at_most === undefined) fail(path, 'has no limit: expected at_least or at_most');
  if (Number(at_least) > Number(at_most))
    fail(path, `has at_least ${shown(at_least)} and at_most ${shown(at_most)}: no figure can meet both`);
  if (!BOUNDS.includes(bound as Bound))
    fail(`${path}.bound`, `is ${shown(bound)}${didYouMean(String(bound), BOUNDS)}: expected ${BOUNDS.join(', ')}`);
  if (na !== 'met' && na !== 'unmet') fail(`${path}.na`, `is ${shown(na)}: expected "met" or "unmet"`);
  if (!('na' in figure) && figure[bound as Bound] === undefined)
    fail(`${path}.bound`, `is ${shown(bound)}, but the figure has no interval: expected "value"`);
  return {
    ...(at_least !== undefined && { at_least: at_least as number }),
    ...(at_most !== undefined && { at_most: at_most as number }),
    bound: bound as Bound,
    na: na as Requirement['na'],
  };
}

function isMet(figure: Figure, { at_least = -Infinity, at_most = Infinity, bound, na }: Requirement): boolean {
  if ('na' in figure) return na === 'met';
  const number = figure[bound]!;
  return number >= at_least && number <= at_most;
}
