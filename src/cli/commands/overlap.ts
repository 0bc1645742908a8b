/** @file `mua overlap`: the share of what test customers say that occurs in training. It runs in Node and needs no GPU. */
import { GENERATED_DOMAINS, usualLevel } from '../../domains/registry.ts';
import type { Overlap } from '../../records/evaluation.ts';
import type { Split } from '../../records/task.ts';
import { SEED } from '../args.ts';
import { command } from '../command.ts';
import { overlapText } from '../evaluation-lines.ts';
import { checkLevel, openWorld, WORLD_FLAGS } from '../world.ts';
import { DOMAIN, JSON_FLAG, LEVEL } from './shared.ts';

interface Result {
  domain: string;
  level: string;
  seed: number;
  train: number;
  test: number;
  splits: Partial<Record<Split, Overlap>>;
}

export const overlap = command({
  summary: 'how much of what the customers of each test split say occurs in training (ids masked)',
  flags: {
    domain: { ...DOMAIN, default: undefined, help: `${DOMAIN.help} (default ${DOMAIN.default})` },
    level: { ...LEVEL, choices: undefined, default: undefined, help: `${LEVEL.help} (default: the first of the domain)` },
    ...WORLD_FLAGS,
    train: { type: 'integer', value: 'N', help: 'number of training conversations', default: 2000, min: 1 },
    test: { type: 'integer', value: 'N', help: 'number of customers of each other split', default: 200, min: 1 },
    seed: SEED,
    json: JSON_FLAG,
  },
  async run({ json: _, world: file, ...flags }, progress): Promise<Result> {
    const world = await openWorld({ world: file, domain: flags.domain });
    const domain = world?.domain ?? flags.domain ?? DOMAIN.default;
    checkLevel(domain, flags.level);
    const options = { ...flags, domain, level: flags.level ?? usualLevel(domain)! };
    const [{ createEnvironments }, { splitOverlaps }] = await Promise.all([
      import('../../environments/index.ts'),
      import('../../training/utterance-overlap.ts'),
    ]);
    const environments = createEnvironments({ domains: GENERATED_DOMAINS, inMemory: true });
    return { ...options, splits: await splitOverlaps(environments, options, progress.update.bind(progress)) };
  },
  show: ({ domain, level, train, splits }) => [
    `${domain} ${level}: customers of each split, against ${train} training conversations`,
    ...Object.entries(splits).map(([split, own]) => `${split.padEnd(8)} ${overlapText(own)}`),
  ],
});
