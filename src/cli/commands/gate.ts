/** @file `mua gate`: whether a scorecard meets requirements, for CI. It runs in Node and needs no GPU. */
import { basename } from 'node:path';
import { readTable } from '../../experiments/read-toml.ts';
import { command } from '../command.ts';
import { oneLine, UsageError } from '../errors.ts';
import { readJson, readText, unreadable } from '../files.ts';
import type { CheckedRequirement } from '../gate.ts';
import { figureText } from '../scorecard-lines.ts';
import { JSON_FLAG } from './shared.ts';

export const gate = command({
  summary: 'check a scorecard against requirements; exit code 1 if one is not met',
  inThread: true,
  positional: { name: 'path', value: 'CARD.json' },
  flags: {
    require: {
      type: 'string',
      value: 'FILE.toml',
      help: 'the requirements, such as outcome.pass_hat_1 = {at_least = 0.8}',
      required: true,
    },
    json: JSON_FLAG,
  },
  async run({ path, require }): Promise<{ met: boolean; requirements: CheckedRequirement[] }> {
    if (!path) throw new UsageError('CARD.json is missing: expected ./mua gate CARD.json --require FILE.toml');
    const [card, text] = [await readJson(path), await readText(require)];
    const { checkGate } = await import('../gate.ts');
    try {
      const requirements = checkGate(card, readTable(text, basename(require)), { card: basename(path), require: basename(require) });
      return { met: requirements.every(({ met }) => met), requirements };
    } catch (error) {
      throw unreadable(require, error as Error);
    }
  },
  failed: ({ met }) => !met,
  show({ requirements }) {
    const unmet = requirements.filter(({ met }) => !met);
    return [
      ...unmet.map((requirement) => `unmet: ${line(requirement)}`),
      `${requirements.length - unmet.length} of ${requirements.length} requirements are met`,
    ];
  },
});

function line({ figure, is, at_least, at_most, bound }: CheckedRequirement): string {
  const limits = [...(at_least === undefined ? [] : [`at least ${at_least}`]), ...(at_most === undefined ? [] : [`at most ${at_most}`])];
  const end = bound === 'value' || 'na' in is ? '' : `, ${bound} end ${is[bound]!.toFixed(3)}`;
  return oneLine(`${figure} is ${figureText(is)}${end}: expected ${limits.join(' and ')}`);
}
