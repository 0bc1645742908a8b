/** @file Makes a new experiment that compares the preset with the settings of Setup: one variant is the preset, one has these settings. */
import type { Experiment, Overrides } from '../../records/experiment.ts';
import { PRESETS } from '../../training/presets.ts';
import { ownName } from '../../training/settings/index.ts';

/** Settings that must be the same in all variants, because they decide which tasks the evaluation plays. */
const PLACE = ['domain', 'level', 'conversation_rules'];

/** @param texts the settings in the address that differ from the preset, as text */
export function fromSetup(preset: string, model: string, seed: number, texts: Record<string, string>): Experiment {
  const [base, changed, evaluation]: [Overrides, Overrides, Overrides] = [{}, {}, {}];
  for (const [name, text] of Object.entries(texts)) {
    const own = ownName(name);
    const layer = PLACE.includes(own) ? base : /^val_|^test_freq$/.test(own) ? evaluation : changed;
    layer[name] = typed(text);
  }
  const label = PRESETS[preset]?.label ?? preset;
  return {
    id: `${preset}-setup`,
    name: `${label}, changed`,
    question: `Do the changed settings raise held-out success over the preset “${label}”?`,
    base: { preset, ...(model !== '' && model !== PRESETS[preset]?.model && { model }), overrides: base, user: { mode: 'scripted' } },
    variants: [
      { name: 'preset', overrides: {} },
      { name: 'changed', overrides: changed },
    ],
    baseline: 'preset',
    seeds: [seed, seed + 1, seed + 2],
    evaluation,
  };
}

function typed(text: string): string | number | boolean {
  if (text === 'true' || text === 'false') return text === 'true';
  const value = Number(text);
  return text.trim() !== '' && Number.isFinite(value) ? value : text;
}
