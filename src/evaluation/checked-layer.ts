/** @file The figures of a layer whose rules are checked in each conversation. */
import type { Layer, LayerName } from '../records/layers.ts';
import type { CheckedLayer, Example, Figure, NotApplicable } from '../records/scorecard.ts';
import { type CardedTrial, meanOf, NOTHING, shareOf, shareWithin } from './figures.ts';

/** So many findings of each rule are examples. */
const EXAMPLES = 3;

type Checked = CardedTrial & { layer: Extract<Layer, { findings: unknown }> };

/** The layer over all conversations that were checked, or the reason why none was. */
export function checkedLayer(trials: readonly CardedTrial[], name: LayerName): CheckedLayer | NotApplicable {
  const unchecked: Record<string, number> = {};
  const checked = trials.flatMap((trial): Checked[] => {
    const layer = trial.card.layers[name];
    if ('na' in layer) unchecked[layer.na] = (unchecked[layer.na] ?? 0) + 1;
    return 'na' in layer ? [] : [{ ...trial, layer }];
  });
  if (checked.length === 0) return { na: Object.keys(unchecked).join(' ') || NOTHING };
  const count = ({ layer }: Checked, rule: string) => layer.findings.filter((finding) => finding.rule === rule).length;
  const occasions = ({ layer }: Checked, rule: string) => layer.occasions[rule] ?? 0;
  const rules = [
    ...new Set(checked.flatMap(({ layer }) => [...Object.keys(layer.occasions), ...layer.findings.map(({ rule }) => rule)])),
  ].sort();
  const met = checked.filter((one) => one.layer.findings.length > 0 || rules.some((rule) => occasions(one, rule) > 0));
  const kept = (rule: string): Figure => {
    if (checked.some((one) => count(one, rule) > occasions(one, rule)))
      return { na: 'The check does not count the occasions of this rule.' };
    const parts = (one: Checked) => ({ sum: occasions(one, rule) - count(one, rule), of: occasions(one, rule) });
    return shareWithin(checked, 'occasions', parts) ?? { na: 'The rule had no occasion.' };
  };
  const found = checked.flatMap(({ id, layer }) => layer.findings.map((finding): Example => ({ trial: id, ...finding })));
  return {
    clean: met.length > 0 ? shareOf(met, 'conversations', ({ layer }) => layer.findings.length === 0) : { na: 'No rule had an occasion.' },
    kept: Object.fromEntries(rules.map((rule) => [rule, kept(rule)])),
    findings: Object.fromEntries(rules.map((rule) => [rule, meanOf(checked, (one) => count(one, rule))])),
    examples: rules.flatMap((rule) => found.filter((finding) => finding.rule === rule).slice(0, EXAMPLES)),
    without_occasion: checked.length - met.length,
    unchecked,
  };
}
