/** @file `mua synthesize`: writes conversations of demonstrators for supervised fine-tuning. */
import { usualLevel } from '../../domains/registry.ts';
import { readPairs, SEED } from '../args.ts';
import { ON } from '../backend.ts';
import { command } from '../command.ts';
import { checkParent, writeAll } from '../files.ts';
import { runJob } from '../job.ts';
import { checkLevel, openWorld, WORLD_FLAGS } from '../world.ts';
import { DOMAIN, JSON_FLAG, LEVEL, SET } from './shared.ts';

export const synthesize = command({
  summary: 'write conversations of honest demonstrators with the scripted customer; keeps those with reward 1',
  flags: {
    domain: { ...DOMAIN, default: undefined, help: `${DOMAIN.help} (default ${DOMAIN.default})` },
    level: { ...LEVEL, choices: undefined, default: undefined, help: `${LEVEL.help} (default: the first of the domain)` },
    ...WORLD_FLAGS,
    count: { type: 'integer', value: 'N', help: 'number of conversations to keep', default: 2000, min: 1 },
    demonstrator: {
      type: 'string',
      value: 'NAME',
      help: 'careful (asks before each write), brisk (writes as soon as it knows enough) or both (a seeded draw)',
      default: 'both',
      choices: ['careful', 'brisk', 'both'],
    },
    side: {
      type: 'string',
      value: 'SIDE',
      help: 'agent or customer; customer writes conversations with varied words that teach a model to play the customer, and keeps all',
      default: 'agent',
      choices: ['agent', 'customer'],
    },
    set: {
      ...SET,
      help: 'shares of customers (customers.*), how often tools fail (tools.*) or what demonstrators do after a timeout (demonstrators.*); may be repeated (default: cooperative customers)',
    },
    'near-miss': {
      type: 'number',
      value: 'SHARE',
      help: 'after this share of the kept conversations, write the same conversation with one wrong decision, with the label near_miss; training skips these (default 0)',
      min: 0,
      max: 1,
    },
    seed: SEED,
    out: { type: 'string', value: 'FILE.jsonl', help: 'output file', required: true },
    on: ON,
    json: JSON_FLAG,
  },
  async run({ count, demonstrator, side, set, nearMiss, seed, out, ...flags }, progress) {
    await checkParent('out', out);
    const world = await openWorld(flags);
    const domain = world?.domain ?? flags.domain ?? DOMAIN.default;
    checkLevel(domain, flags.level);
    const level = flags.level ?? usualLevel(domain)!;
    let jsonl: Uint8Array = new Uint8Array();
    const result = await runJob({
      on: flags.on,
      world,
      request: {
        command: 'synthesize',
        options: {
          domain,
          level,
          count,
          ...(demonstrator !== 'both' && { styles: [demonstrator] }),
          side,
          seed,
          ...(nearMiss !== undefined && { near_misses: nearMiss }),
        },
        settings: readPairs('set', set),
      },
      progress,
      onFile: (body) => void (jsonl = body),
    });
    await writeAll({ [out]: jsonl });
    return { out, ...result };
  },
  show: ({ out, kept, tried, solved, near_misses: misses }) => [
    `${tried} conversations played, ${solved} with reward 1, ${kept} written to ${out}`,
    ...(misses ? [nearMissLine(misses)] : []),
  ],
});

function nearMissLine({ kept, dropped }: { kept: Readonly<Record<string, number>>; dropped: number }): string {
  const kinds = Object.entries(kept).filter(([, count]) => count > 0);
  const total = kinds.reduce((sum, [, count]) => sum + count, 0);
  return `${total} near-misses (${kinds.map(([kind, count]) => `${kind} ${count}`).join(', ') || 'none'}); ${dropped} dropped, because they ended well or could not be made`;
}
