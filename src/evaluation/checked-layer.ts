/** @file The figures of a layer whose rules are checked in each conversation. */
import type { LayerName } from '../records/layers.ts';
import type { CheckedLayer, Example, Figure, NotApplicable } from '../records/scorecard.ts';
import { type CardedTrial, NOTHING, shareOf, shareWithin } from './figures.ts';

/** So many findings of each rule are examples. */
const EXAMPLES = 3;

/** The layer over all conversations that were checked, or the reason why none was. */
export function checkedLayer(trials: readonly CardedTrial[], name: LayerName): CheckedLayer | NotApplicable {
  const unchecked: Record<string, number> = {};
  const checked = trials.flatMap((trial) => {
    const layer = trial.card.layers[name];
    if ('na' in layer) unchecked[layer.na] = (unchecked[layer.na] ?? 0) + 1;
    return 'na' in layer ? [] : [{ ...trial, layer }];
  });
  if (checked.length === 0) return { na: Object.keys(unchecked).join(' ') || NOTHING };
  const count = (of: (typeof checked)[number], rule: string) => of.layer.findings.filter((finding) => finding.rule === rule).length;
  // A finding without a counted occasion is an occasion too.
  const occasions = (of: (typeof checked)[number], rule: string) => Math.max(of.layer.occasions[rule] ?? 0, count(of, rule));
  const rulesOf = ({ layer }: (typeof checked)[number]) => [...Object.keys(layer.occasions), ...layer.findings.map(({ rule }) => rule)];
  const rules = [...new Set(checked.flatMap(rulesOf))].sort();
  const met = checked.filter((trial) => rules.some((rule) => occasions(trial, rule) > 0));
  const kept = rules.map((rule): [string, Figure] => {
    const parts = (trial: (typeof checked)[number]) => ({ sum: occasions(trial, rule) - count(trial, rule), of: occasions(trial, rule) });
    return [rule, shareWithin(checked, 'occasions', parts) ?? { na: 'The rule had no occasion.' }];
  });
  const found = checked.flatMap(({ id, layer }) => layer.findings.map((finding): Example => ({ trial: id, ...finding })));
  return {
    clean: met.length > 0 ? shareOf(met, 'conversations', ({ layer }) => layer.findings.length === 0) : { na: 'No rule had an occasion.' },
    kept: Object.fromEntries(kept),
    examples: rules.flatMap((rule) => found.filter((finding) => finding.rule === rule).slice(0, EXAMPLES)),
    without_occasion: checked.length - met.length,
    unchecked,
  };
}
