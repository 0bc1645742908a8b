/**
 * @file The pages, their addresses and the values of their queries. The address is in the hash, so it works on any static host
 * and is never sent to a server. A query value that a page does not know is ignored, so old links still open.
 */

/** Reads a value of a query. A value that is absent or wrong gives the default. */
type Reader<T> = (value: string | undefined) => T;

// The first page needs no more than these four, so it does not load a library of schemas.
const LONGEST = 4000;
const text: Reader<string> = (value = '') => (value.length > LONGEST ? '' : value);
const natural: Reader<number | null> = (value) =>
  value !== undefined && Number.isSafeInteger(Number(value)) && Number(value) >= 0 ? Number(value) : null;
const oneOf =
  <const T extends readonly [string, ...string[]]>(...names: T): Reader<T[number]> =>
  (value) =>
    names.find((name) => name === value) ?? names[0];
const flag = oneOf('', '1');

/** The colour channels of the token view. A channel with stored values has the name of its annotation in `MessageNode.annotations`. */
export const CHANNELS = ['none', 'mask', 'logprob', 'ref_logprob', 'kl', 'entropy', 'ratio', 'advantage', 'pressure', 'delta_p'] as const;
/** Channels that need the tokens to be scored again, with weights that the visitor chooses. */
export const BY_CHANNELS = ['by_delta_p', 'by_logprob', 'by_entropy'] as const;
/** The columns by which the list of runs can be sorted. */
export const RUN_SORTS = ['name', 'status', 'step', 'reward', 'heldOut', 'size', 'preset', 'seed', 'createdAt'] as const;
export const WORLD_TABS = ['data', 'tools', 'policy', 'tasks'] as const;

/** `turn`: a node's id; `tok`: a position in the whole sequence; `call`: the tool call whose database is shown; `by`: the weights that score the tokens again. */
const INSPECTOR = {
  view: oneOf('messages', 'rendered'),
  ch: oneOf(...CHANNELS, ...BY_CHANNELS),
  scale: oneOf('rollout', 'group'),
  turn: natural,
  tok: natural,
  call: natural,
  q: text,
  by: text,
};

/**
 * The query of each page. A filter holds the value that rows must have; '' and null mean all rows. The query of `home` may also hold any
 * setting of a new run; these settings are not listed here. `setup` 1 shows only the form of a new run.
 */
const QUERIES = {
  home: { preset: text, seed: natural, setup: flag },
  learn: {},
  /** `step`: the step to begin with, counted from 1. */
  lesson: { step: natural },
  teach: {},
  /** `answer` 1 shows the cause and the remedies. */
  failing: { answer: flag },
  /** `of`: the runs to compare; `tags`: the tags that a run must have, separated by commas. */
  runs: { of: text, tags: text, sort: oneOf('', ...RUN_SORTS), order: oneOf('', 'asc', 'desc') },
  /** `from`, `to`: the steps that the charts show; `metric`: the chosen metric under “All metrics”. */
  run: { step: natural, smooth: text, from: natural, to: natural, metric: text, tab: oneOf('overview', 'config', 'checkpoints') },
  /** `at`: the rollout that was opened last. */
  rollouts: {
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
  },
  /**
   * `pin`: up to two rollouts, separated by commas. `shared` 1 hides the moves that all rollouts share. `at`: the rollout to show when the
   * screen is too narrow for more than one.
   */
  group: { sort: oneOf('', 'reward', 'turns'), pin: text, shared: flag, at: text },
  /** `list`: the list of rollouts from which the visitor opened this one, as `rollouts/list.ts` writes it. */
  rollout: { ...INSPECTOR, list: text },
  trial: INSPECTOR,
  branch: INSPECTOR,
  /**
   * `of`: two or more runs, or two rollouts as `run/rollout`, or two evaluations, separated by commas. For evaluations, `flip` filters the
   * pairs by outcome and `violation` by a rule that only one side breaks; `task` and `trial` name the pair to show.
   */
  compare: {
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
  },
  /**
   * `from`: `place/id@node`, as `play-origin.ts` writes it. If `from` is absent, a new conversation begins. `token`: `index:id`, a token to
   * put into the agent's message that `from` names. `run`, `step`: the weights of the agent. `say`: the words that the customer's field has
   * at first.
   */
  play: { from: text, token: text, as: oneOf('user', 'agent'), run: text, step: natural, say: text },
  worlds: {},
  mcp: {},
  /** `world`: the number of a generated world within its `split` and `seed`. The id of a `task` contains all three. */
  world: { table: text, row: text, task: text, q: text, split: text, seed: natural, world: natural },
  /** `pick`: the evaluations to compare; `model`: the weights to evaluate, as a model's name or `run@step`. */
  evals: { pick: text, model: text },
  /** `finding`: a rule that the trial broke, as `layer/rule`. */
  eval: { reward: oneOf('', '0', '1', 'null'), violation: text, finding: text, intent: text, end: text },
  /** `question`: what the visitor is asked, one of `QUESTIONS`. `at`: the number of the shown conversation among those drawn, from 0. */
  labels: { question: text, at: natural },
  /** `file`: the id of the report. `kind`: the kind of turns to list, or `unconfirmed`. `at`: the number of the shown turn, from 0. */
  shadow: { file: text, kind: text, at: natural },
  reliability: { file: text },
  /** The query holds the settings of Setup, for a new experiment. */
  experiments: { preset: text, seed: natural },
  experiment: {},
  models: {},
  'cold-start': {},
  /** Each filter holds the value that conversations must have. `at`: the index of the shown conversation. */
  dataset: {
    state: oneOf('', 'kept', 'rejected'),
    reward: oneOf('', '0', '1', 'unknown'),
    audit: text,
    persona: text,
    demonstrator: text,
    intent: text,
    q: text,
    at: natural,
  },
  /** `at`: the number of the shown conversation among those drawn, from 0. */
  review: { at: natural },
  settings: {},
  /** `src`: the address of a run bundle or a report. `open`: what to open after the import, as `share/link.ts` writes it. */
  import: { src: text, open: text },
  'not-found': {},
} as const;

/** The pages whose query may hold more values. */
const OPEN = ['home', 'experiments'] as const;

export type RouteName = keyof typeof QUERIES;
export type Query<N extends RouteName> = {
  [K in keyof (typeof QUERIES)[N]]: (typeof QUERIES)[N][K] extends Reader<infer T> ? T : never;
} & (N extends (typeof OPEN)[number] ? Record<string, unknown> : unknown);

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
  const given = new Map([...query].filter(([key, value]) => value !== '' && key !== '__proto__'));
  const read = Object.entries(QUERIES[name]).map(([key, reader]: [string, Reader<unknown>]) => [key, reader(given.get(key))]);
  return Object.fromEntries([...((OPEN as readonly string[]).includes(name) ? given : []), ...read]) as Query<N>;
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
