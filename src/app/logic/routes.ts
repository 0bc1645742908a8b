/**
 * @file The pages, their addresses and what their queries may say. Everything stands in the hash: it works on any static
 * host and is never sent. A query value that a page does not know counts as absent, so that old links still open.
 */
import * as z from 'zod/mini';

const text = z._default(z.catch(z.string().check(z.maxLength(4000)), ''), '');
const natural = z._default(z.catch(z.nullable(z.coerce.number().check(z.int(), z.minimum(0))), null), null);
const oneOf = <const T extends readonly [string, ...string[]]>(...names: T) => z._default(z.catch(z.enum(names), names[0]), names[0]);
const flag = z._default(z.catch(z.enum(['', '1']), ''), '');

/** Colour channels of the token view; the names of `MessageNode.annotations` where they are stored. */
export const CHANNELS = ['none', 'mask', 'logprob', 'ref_logprob', 'kl', 'entropy', 'ratio', 'advantage', 'pressure', 'delta_p'] as const;
/** Those that come with weights of choice. */
export const BY_CHANNELS = ['by_delta_p', 'by_logprob', 'by_entropy'] as const;
export const WORLD_TABS = ['data', 'tools', 'policy', 'tasks'] as const;

/** `turn`: a node's id; `tok`: a position in the whole sequence; `call`: a tool call whose world is shown; `by`: weights that score the tokens again. */
const INSPECTOR = z.object({ view: oneOf('messages', 'rendered'), ch: oneOf(...CHANNELS, ...BY_CHANNELS), scale: oneOf('rollout', 'group'), turn: natural, tok: natural, call: natural, q: text, by: text });

/**
 * What stands behind the `?` of each page. Filters hold what rows are to equal; '' and null mean: all.
 * The configuration of a run to start is not among them: any of its settings may stand in the query of `home`.
 */
export const QUERIES = {
  home: z.looseObject({ preset: text, seed: natural }),
  learn: z.object({}),
  lesson: z.object({ page: natural }),
  /** `of`: runs chosen to be compared. */
  runs: z.object({ of: text }),
  /** `from`, `to`: the steps that charts are zoomed to; `metric`: the one drawn among all metrics. */
  run: z.object({ step: natural, smooth: text, from: natural, to: natural, metric: text, tab: oneOf('overview', 'config', 'checkpoints') }),
  /** `at`: the rollout last opened. */
  rollouts: z.object({
    step: natural, reward: oneOf('', '0', '1', 'null'), end: text, violation: text, tool: text, domain: text, intent: text, q: text,
    sort: oneOf('', 'reward', 'turns', 'tokens', 'advantage'), at: text,
  }),
  /** `pin`: up to two rollouts, separated by commas. `shared` 1: without the moves all have in common. `at`: the one shown where there is room for one. */
  group: z.object({ sort: oneOf('', 'reward', 'turns'), pin: text, shared: flag, at: text }),
  rollout: INSPECTOR,
  trial: INSPECTOR,
  branch: INSPECTOR,
  /**
   * Two or more runs, or two rollouts as `run/rollout`, or two evaluations, separated by commas. Of evaluations: which
   * pairs to list, by outcome or by a rule that one side breaks, and the pair to show.
   */
  compare: z.object({ kind: oneOf('runs', 'rollouts', 'evals'), of: text, smooth: text, from: natural, to: natural, task: text, trial: natural, flip: oneOf('', 'gained', 'lost', 'both', 'neither'), violation: text, intent: text }),
  /** `from`: `place/id@node`, as `play-origin.ts` writes it; without it the conversation begins anew. `run`, `step`: whose agent answers. */
  play: z.object({ from: text, as: oneOf('user', 'agent'), run: text, step: natural }),
  worlds: z.object({}),
  /** A generated world is the `world`th of its `split` and `seed`; a `task` says all three by its id. */
  world: z.object({ table: text, row: text, task: text, q: text, split: text, seed: natural, world: natural }),
  /** `pick`: evaluations to compare; `model`: weights to evaluate, a model's name or `run@step`. */
  evals: z.object({ pick: text, model: text }),
  eval: z.object({ reward: oneOf('', '0', '1', 'null'), violation: text, intent: text, end: text }),
  models: z.object({}),
  settings: z.object({}),
  import: z.object({ src: text }),
  gallery: z.object({}),
  'not-found': z.object({}),
} as const;

export type RouteName = keyof typeof QUERIES;
export type Query<N extends RouteName> = z.output<(typeof QUERIES)[N]>;

/** Names in a path; each stands where the pattern has a `:name`. */
const PATHS = {
  home: '/',
  learn: '/learn',
  lesson: '/learn/:lesson',
  runs: '/runs',
  run: '/runs/:run',
  rollouts: '/runs/:run/rollouts',
  group: '/runs/:run/groups/:group',
  rollout: '/runs/:run/rollouts/:id',
  compare: '/compare',
  play: '/play/:domain/:task',
  worlds: '/worlds',
  world: '/worlds/:domain/:tab',
  evals: '/evals',
  eval: '/evals/:id',
  trial: '/evals/:evaluation/trials/:id',
  branch: '/branches/:id',
  models: '/models',
  settings: '/settings',
  import: '/import',
  gallery: '/gallery',
  'not-found': '/not-found',
} as const satisfies Record<RouteName, string>;

type Params<P extends string> = P extends `${string}:${infer Name}/${infer Rest}` ? Name | Params<Rest> : P extends `${string}:${infer Name}` ? Name : never;
export type RouteOf<N extends RouteName> = N extends RouteName ? { name: N } & Record<Params<(typeof PATHS)[N]>, string> : never;
export type Route = RouteOf<RouteName>;

/** The pages that show one conversation in every detail. */
export type ConversationRoute = RouteOf<'rollout' | 'trial' | 'branch'>;

export interface Place {
  route: Route;
  query: URLSearchParams;
}

/** Reads `location.hash`; what it does not know is `not-found`. */
export function parseHash(hash: string): Place {
  const [pathname = '', search = ''] = hash.replace(/^#/, '').split(/\?(.*)/s);
  return { route: parsePath(pathname), query: new URLSearchParams(search) };
}

function parsePath(pathname: string): Route {
  let parts: string[];
  try {
    parts = pathname.split('/').filter(Boolean).map(decodeURIComponent);
  } catch {
    return { name: 'not-found' }; // a lone % in an address typed by hand
  }
  for (const [name, pattern] of Object.entries(PATHS)) {
    const pieces = pattern.split('/').filter(Boolean);
    if (pieces.length !== parts.length || pieces.some((piece, i) => !piece.startsWith(':') && piece !== parts[i])) continue;
    const params = pieces.flatMap((piece, i) => (piece.startsWith(':') ? [[piece.slice(1), parts[i]!]] : []));
    return { name, ...Object.fromEntries(params) } as Route;
  }
  return { name: 'not-found' };
}

/** What a page's query says, every value of the right kind. */
export function readQuery<N extends RouteName>(name: N, query: URLSearchParams): Query<N> {
  return (QUERIES[name] as z.ZodMiniType).parse(Object.fromEntries([...query].filter(([, value]) => value !== ''))) as Query<N>;
}

/** The address of a page; query values that are '', null or undefined are left out. */
export function href(route: Route, query: Record<string, string | number | null | undefined> = {}): string {
  const given = Object.entries(query).flatMap(([name, value]) => (value === '' || value === null || value === undefined ? [] : [[name, String(value)]]));
  const search = new URLSearchParams(given).toString();
  return `#${pathOf(route)}${search && `?${search}`}`;
}

function pathOf(route: Route): string {
  return PATHS[route.name].replace(/:(\w+)/g, (_, name: string) => encodeURIComponent((route as unknown as Record<string, string>)[name]!));
}
