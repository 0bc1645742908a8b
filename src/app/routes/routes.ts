/**
 * @file The pages, their addresses and the values of their queries. The address is in the hash, so it works on any static host
 * and is never sent to a server. A query value that a page does not know is ignored, so old links still open.
 */
import * as z from 'zod/mini';

const text = z._default(z.catch(z.string().check(z.maxLength(4000)), ''), '');
const natural = z._default(z.catch(z.nullable(z.coerce.number().check(z.int(), z.minimum(0))), null), null);
const oneOf = <const T extends readonly [string, ...string[]]>(...names: T) => z._default(z.catch(z.enum(names), names[0]), names[0]);
const flag = z._default(z.catch(z.enum(['', '1']), ''), '');

/** The colour channels of the token view. A channel with stored values has the name of its annotation in `MessageNode.annotations`. */
export const CHANNELS = ['none', 'mask', 'logprob', 'ref_logprob', 'kl', 'entropy', 'ratio', 'advantage', 'pressure', 'delta_p'] as const;
/** Channels that need the tokens to be scored again, with weights that the visitor chooses. */
export const BY_CHANNELS = ['by_delta_p', 'by_logprob', 'by_entropy'] as const;
/** The columns by which the list of runs can be sorted. */
export const RUN_SORTS = ['name', 'status', 'step', 'reward', 'heldOut', 'size', 'preset', 'seed', 'createdAt'] as const;
export const WORLD_TABS = ['data', 'tools', 'policy', 'tasks'] as const;

/** `turn`: a node's id; `tok`: a position in the whole sequence; `call`: the tool call whose database is shown; `by`: the weights that score the tokens again. */
const INSPECTOR = z.object({
  view: oneOf('messages', 'rendered'),
  ch: oneOf(...CHANNELS, ...BY_CHANNELS),
  scale: oneOf('rollout', 'group'),
  turn: natural,
  tok: natural,
  call: natural,
  q: text,
  by: text,
});

/**
 * The query of each page. A filter holds the value that rows must have; '' and null mean all rows. The query of `home` may also hold any
 * setting of a new run; these settings are not listed here. `setup` 1 shows only the form of a new run.
 */
const QUERIES = {
  home: z.looseObject({ preset: text, seed: natural, setup: flag }),
  learn: z.object({}),
  /** `step`: the step to begin with, counted from 1. */
  lesson: z.object({ step: natural }),
  teach: z.object({}),
  /** `answer` 1 shows the cause and the remedies. */
  failing: z.object({ answer: flag }),
  /** `of`: the runs to compare; `tags`: the tags that a run must have, separated by commas. */
  runs: z.object({ of: text, tags: text, sort: oneOf('', ...RUN_SORTS), order: oneOf('', 'asc', 'desc') }),
  /** `from`, `to`: the steps that the charts show; `metric`: the chosen metric under “All metrics”. */
  run: z.object({ step: natural, smooth: text, from: natural, to: natural, metric: text, tab: oneOf('overview', 'config', 'checkpoints') }),
  /** `at`: the rollout that was opened last. */
  rollouts: z.object({
    step: natural,
    reward: oneOf('', '0', '1', 'null'),
    end: text,
    violation: text,
    tool: text,
    domain: text,
    column: text,
    intent: text,
    q: text,
    sort: oneOf('', 'reward', 'turns', 'tokens', 'advantage'),
    at: text,
  }),
  /**
   * `pin`: up to two rollouts, separated by commas. `shared` 1 hides the moves that all rollouts share. `at`: the rollout to show when the
   * screen is too narrow for more than one.
   */
  group: z.object({ sort: oneOf('', 'reward', 'turns'), pin: text, shared: flag, at: text }),
  /** `list`: the list of rollouts from which the visitor opened this one, as `rollouts/list.ts` writes it. */
  rollout: z.extend(INSPECTOR, { list: text }),
  trial: INSPECTOR,
  branch: INSPECTOR,
  /**
   * `of`: two or more runs, or two rollouts as `run/rollout`, or two evaluations, separated by commas. For evaluations, `flip` filters the
   * pairs by outcome and `violation` by a rule that only one side breaks; `task` and `trial` name the pair to show.
   */
  compare: z.object({
    kind: oneOf('runs', 'rollouts', 'evals'),
    of: text,
    smooth: text,
    from: natural,
    to: natural,
    task: text,
    trial: natural,
    flip: oneOf('', 'gained', 'lost', 'both', 'neither'),
    violation: text,
    intent: text,
  }),
  /**
   * `from`: `place/id@node`, as `play-origin.ts` writes it. If `from` is absent, a new conversation begins. `token`: `index:id`, a token to
   * put into the agent's message that `from` names. `run`, `step`: the weights of the agent. `say`: the words that the customer's field has
   * at first.
   */
  play: z.object({ from: text, token: text, as: oneOf('user', 'agent'), run: text, step: natural, say: text }),
  worlds: z.object({}),
  mcp: z.object({}),
  /** `world`: the number of a generated world within its `split` and `seed`. The id of a `task` contains all three. */
  world: z.object({ table: text, row: text, task: text, q: text, split: text, seed: natural, world: natural }),
  /** `pick`: the evaluations to compare; `model`: the weights to evaluate, as a model's name or `run@step`. */
  evals: z.object({ pick: text, model: text }),
  /** `finding`: a rule that the trial broke, as `layer/rule`. */
  eval: z.object({ reward: oneOf('', '0', '1', 'null'), violation: text, finding: text, intent: text, end: text }),
  /** `question`: what the visitor is asked, one of `QUESTIONS`. `at`: the number of the shown conversation among those drawn, from 0. */
  labels: z.object({ question: text, at: natural }),
  /** `file`: the id of the report. `kind`: the kind of turns to list, or `unconfirmed`. `at`: the number of the shown turn, from 0. */
  shadow: z.object({ file: text, kind: text, at: natural }),
  reliability: z.object({ file: text }),
  /** The query holds the settings of Setup, for a new experiment. */
  experiments: z.looseObject({ preset: text, seed: natural }),
  experiment: z.object({}),
  models: z.object({}),
  'cold-start': z.object({}),
  /** Each filter holds the value that conversations must have. `at`: the index of the shown conversation. */
  dataset: z.object({
    state: oneOf('', 'kept', 'rejected'),
    reward: oneOf('', '0', '1', 'unknown'),
    audit: text,
    persona: text,
    demonstrator: text,
    intent: text,
    q: text,
    at: natural,
  }),
  /** `at`: the number of the shown conversation among those drawn, from 0. */
  review: z.object({ at: natural }),
  settings: z.object({}),
  /** `src`: the address of a run bundle or a report. `open`: what to open after the import, as `share/link.ts` writes it. */
  import: z.object({ src: text, open: text }),
  'not-found': z.object({}),
} as const;

export type RouteName = keyof typeof QUERIES;
export type Query<N extends RouteName> = z.output<(typeof QUERIES)[N]>;

/** The pattern of each route's path. Each `:name` is replaced by a parameter of the route. */
const PATHS = {
  home: '/',
  learn: '/learn',
  teach: '/learn/teach',
  lesson: '/learn/:lesson',
  failing: '/learn/failing/:failure',
  runs: '/runs',
  run: '/runs/:run',
  rollouts: '/runs/:run/rollouts',
  group: '/runs/:run/groups/:group',
  rollout: '/runs/:run/rollouts/:id',
  compare: '/compare',
  play: '/play/:domain/:task',
  worlds: '/worlds',
  mcp: '/mcp',
  world: '/worlds/:domain/:tab',
  evals: '/evals',
  eval: '/evals/:id',
  trial: '/evals/:evaluation/trials/:id',
  labels: '/evals/:evaluation/labels',
  shadow: '/shadow',
  reliability: '/reliability',
  branch: '/branches/:id',
  experiments: '/experiments',
  experiment: '/experiments/:experiment',
  models: '/models',
  'cold-start': '/cold-start',
  dataset: '/cold-start/:dataset',
  review: '/cold-start/:dataset/review',
  settings: '/settings',
  import: '/import',
  'not-found': '/not-found',
} as const satisfies Record<RouteName, string>;

type Params<P extends string> = P extends `${string}:${infer Name}/${infer Rest}`
  ? Name | Params<Rest>
  : P extends `${string}:${infer Name}`
    ? Name
    : never;
export type RouteOf<N extends RouteName> = N extends RouteName ? { name: N } & Record<Params<(typeof PATHS)[N]>, string> : never;
export type Route = RouteOf<RouteName>;

/** The pages that show one conversation in detail. */
export type ConversationRoute = RouteOf<'rollout' | 'trial' | 'branch'>;

export interface Address {
  route: Route;
  query: URLSearchParams;
}

/** Reads `location.hash`. An unknown address gives the route `not-found`. */
export function parseHash(hash: string): Address {
  const [pathname = '', search = ''] = hash.replace(/^#/, '').split(/\?(.*)/s);
  return { route: parsePath(pathname), query: new URLSearchParams(search) };
}

function parsePath(pathname: string): Route {
  let parts: string[];
  try {
    parts = pathname.split('/').filter(Boolean).map(decodeURIComponent);
  } catch {
    return { name: 'not-found' }; // The path has a lone %, such as in an address that a person typed.
  }
  for (const [name, pattern] of Object.entries(PATHS)) {
    const pieces = pattern.split('/').filter(Boolean);
    if (pieces.length !== parts.length || pieces.some((piece, i) => !piece.startsWith(':') && piece !== parts[i])) continue;
    const params = pieces.flatMap((piece, i) => (piece.startsWith(':') ? [[piece.slice(1), parts[i]!]] : []));
    return { name, ...Object.fromEntries(params) } as Route;
  }
  return { name: 'not-found' };
}

/** The query of a page with typed values. */
export function readQuery<N extends RouteName>(name: N, query: URLSearchParams): Query<N> {
  return (QUERIES[name] as z.ZodMiniType).parse(Object.fromEntries([...query].filter(([, value]) => value !== ''))) as Query<N>;
}

/** The address of a page. Query values that are '', null or undefined are left out. */
export function href(route: Route, query: Record<string, string | number | null | undefined> = {}): string {
  const given = Object.entries(query).flatMap(([name, value]) =>
    value === '' || value === null || value === undefined ? [] : [[name, String(value)]],
  );
  const search = new URLSearchParams(given).toString();
  return `#${pathOf(route)}${search && `?${search}`}`;
}

function pathOf(route: Route): string {
  return PATHS[route.name].replace(/:(\w+)/g, (_, name: string) => encodeURIComponent((route as unknown as Record<string, string>)[name]!));
}
