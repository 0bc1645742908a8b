/** @file The domains and scenario files for which `mua synthesize` writes conversations, with their shares. */
import { didYouMean } from '../base/did-you-mean.ts';
import { demonstrated, usualLevel } from '../domains/registry.ts';
import type { Flags } from './args.ts';
import { DEFAULT_DOMAIN } from './commands/shared.ts';
import { UsageError } from './errors.ts';
import { checkLevel, openWorld } from './world.ts';

const NAMES = demonstrated().map(({ name }) => name);
const FORM = 'NAME[:LEVEL][=SHARE]';

export const PLACES_FLAGS = {
  domain: {
    type: 'list',
    value: FORM,
    help: `a domain, or several with commas or as repeated flags, such as rooms=2,library:small: ${NAMES.join(', ')} (default ${DEFAULT_DOMAIN}; share 1)`,
  },
  world: {
    type: 'list',
    value: 'FILE.json[:LEVEL][=SHARE]',
    help: 'your own scenario file, beside the domains or alone; ./mua scenario check FILE.json checks it; may be repeated',
  },
  level: { type: 'string', value: 'NAME', help: 'level of all places that name none (default: the first of each domain)' },
} as const satisfies Flags;

/** A domain at a level, with its share of the conversations. */
export interface Place {
  domain: string;
  level: string;
  share: number;
  /** The scenario file, if the domain is one. */
  world?: { file: string; sha256: string };
}

/** @throws UsageError */
export async function readPlaces(given: {
  domain: readonly string[];
  world: readonly string[];
  level?: string | undefined;
}): Promise<Place[]> {
  const names = given.domain.flatMap((list) => list.split(',').map((one) => one.trim()));
  const places: Place[] = [];
  for (const name of names.length + given.world.length === 0 ? [DEFAULT_DOMAIN] : names) {
    const { first: domain, level, share } = partsOf('domain', name, /^([^:=]*)(?::([^:=]*))?(?:=(.*))?$/);
    if (!NAMES.includes(domain))
      throw new UsageError(`--domain is "${domain}"${didYouMean(domain, NAMES)}: expected ${FORM} with ${NAMES.join(', ')}`);
    places.push({ domain, level: levelOf(domain, level ?? given.level), share });
  }
  for (const name of given.world) {
    const { first: file, level, share } = partsOf('world', name, /^(.*\.json)(?::([^:=/\\]*))?(?:=([^/\\]*))?$/);
    const { domain, sha256 } = (await openWorld({ world: file }))!;
    places.push({ domain, level: levelOf(domain, level ?? given.level), share, world: { file, sha256 } });
  }
  const keys = places.map(({ domain, level }) => `${domain} ${level}`);
  const twice = keys.find((key, i) => keys.indexOf(key) < i);
  if (twice !== undefined) throw new UsageError(`${twice} is given twice: expected each domain once at a level, perhaps with a share`);
  return places;
}

function partsOf(flag: string, text: string, form: RegExp): { first: string; level: string | undefined; share: number } {
  const [, first = text, level, given = '1'] = form.exec(text) ?? [];
  const share = given.trim() === '' ? NaN : Number(given);
  if (!(share > 0 && share <= 1e6)) throw new UsageError(`--${flag} is "${text}": expected a share above 0, such as =2`);
  return { first, level, share };
}

function levelOf(domain: string, level: string | undefined): string {
  checkLevel(domain, level);
  return level ?? usualLevel(domain)!;
}
