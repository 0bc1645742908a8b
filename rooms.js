/**
 * @file Which room may import which room. A room is a folder of src or of src/app. ESLint checks these tables, type imports
 * included. docs/architecture.md says what each room holds.
 */

/** Rooms without a subject: types of stored things, and small helpers. Every room may import them, except kit. */
const FOUNDATION = ['records', 'base'];

/** Each room with the rooms that it may import beside the foundation. A room may import only rooms above it. */
export const ROOMS = {
  kit: [],
  records: [],
  base: [],
  python: [],
  engine: [],
  environments: [],
  local: [],
  mcp: [],
  users: ['environments', 'local'],
  agent: ['engine', 'environments', 'users'],
  scenarios: ['environments', 'users', 'agent', 'mcp'],
  domains: ['python', 'environments', 'users', 'agent', 'scenarios'],
  exchange: ['engine'],
  storage: ['environments', 'scenarios', 'domains'],
  benchmarks: ['python', 'environments', 'users', 'agent', 'domains', 'exchange'],
  evaluation: ['environments', 'users', 'agent', 'domains'],
  synthesis: ['environments', 'users', 'agent', 'scenarios', 'domains', 'benchmarks', 'evaluation'],
  training: ['engine', 'environments', 'users', 'agent', 'domains', 'benchmarks', 'evaluation', 'synthesis'],
  experiments: ['exchange', 'evaluation', 'training'],
  bench: ['engine', 'training'],
  trainer: [
    'engine',
    'environments',
    'users',
    'agent',
    'domains',
    'exchange',
    'storage',
    'benchmarks',
    'evaluation',
    'training',
    'experiments',
    'bench',
  ],
  formats: ['agent', 'exchange', 'benchmarks', 'training'],
  serve: ['environments', 'mcp', 'local', 'users', 'agent', 'domains', 'exchange', 'benchmarks', 'evaluation', 'training', 'formats'],
  worlds: ['environments', 'mcp', 'scenarios', 'domains', 'exchange', 'storage', 'benchmarks'],
  workers: [
    'environments',
    'mcp',
    'scenarios',
    'local',
    'users',
    'domains',
    'exchange',
    'storage',
    'benchmarks',
    'training',
    'experiments',
    'trainer',
    'formats',
    'worlds',
  ],
  cli: [
    'environments',
    'mcp',
    'scenarios',
    'synthesis',
    'local',
    'agent',
    'domains',
    'exchange',
    'storage',
    'benchmarks',
    'evaluation',
    'training',
    'experiments',
    'trainer',
    'formats',
    'serve',
  ],

  // The page: folders of src/app that several features use.
  routes: ['kit'],
  labels: ['kit', 'environments', 'agent', 'domains', 'worlds'],
  clients: ['kit', 'mcp', 'exchange', 'training', 'experiments', 'trainer', 'formats', 'worlds'],
  library: ['kit', 'routes', 'clients', 'exchange', 'storage', 'benchmarks', 'evaluation', 'training', 'experiments', 'trainer'],
  'run-data': ['kit', 'routes', 'clients', 'library', 'agent', 'domains', 'training', 'trainer'],
  lessons: ['kit', 'library'],
  state: ['kit', 'routes', 'clients', 'library', 'lessons', 'local'],
  charts: ['kit', 'labels', 'run-data', 'state'],
  customer: ['kit', 'labels', 'state', 'environments', 'local', 'users'],
  branches: ['clients', 'library', 'agent', 'evaluation', 'training', 'trainer', 'worlds'],
  conversation: [
    'kit',
    'routes',
    'labels',
    'clients',
    'library',
    'state',
    'branches',
    'environments',
    'agent',
    'domains',
    'training',
    'trainer',
  ],
  grpo: ['kit', 'routes', 'labels', 'library', 'run-data', 'state', 'conversation', 'agent'],
  setup: [
    'kit',
    'routes',
    'labels',
    'library',
    'run-data',
    'state',
    'customer',
    'conversation',
    'domains',
    'exchange',
    'training',
    'trainer',
  ],

  /** App.svelte, main.ts and the files that put features together. They import each other, and every feature. */
  root: ['root', 'feature', 'kit', 'routes', 'clients', 'library', 'run-data', 'lessons', 'state', 'conversation', 'trainer'],
};

/** Each feature of the page, another folder of src/app, with the rooms that it may import. A feature may not import another feature. */
export const FEATURES = {
  home: ['kit', 'routes', 'library', 'run-data', 'state', 'charts', 'conversation', 'grpo', 'setup', 'users'],
  runs: ['kit', 'routes', 'labels', 'clients', 'library', 'run-data', 'state', 'charts', 'conversation', 'exchange', 'training', 'trainer'],
  rollouts: ['kit', 'routes', 'labels', 'library', 'run-data', 'state', 'conversation', 'grpo', 'evaluation'],
  group: ['kit', 'routes', 'labels', 'run-data', 'state', 'conversation', 'grpo'],
  play: ['kit', 'routes', 'labels', 'clients', 'library', 'state', 'customer', 'branches', 'conversation', 'users', 'agent', 'domains'],
  evals: [
    'kit',
    'routes',
    'labels',
    'library',
    'state',
    'customer',
    'conversation',
    'domains',
    'exchange',
    'benchmarks',
    'evaluation',
    'training',
  ],
  experiments: ['kit', 'routes', 'clients', 'library', 'state', 'evaluation', 'training', 'experiments'],
  worlds: ['kit', 'routes', 'labels', 'clients', 'library', 'state', 'conversation', 'benchmarks', 'worlds'],
  mcp: ['kit', 'routes', 'labels', 'clients', 'state', 'mcp', 'worlds'],
  models: ['kit', 'routes', 'clients', 'library', 'state', 'engine', 'local', 'exchange', 'training', 'bench', 'trainer'],
  coldstart: [
    'kit',
    'routes',
    'labels',
    'clients',
    'library',
    'state',
    'conversation',
    'domains',
    'exchange',
    'evaluation',
    'synthesis',
    'training',
  ],
  share: ['kit', 'routes', 'labels', 'clients', 'library', 'run-data', 'state', 'exchange', 'benchmarks', 'training', 'trainer', 'formats'],
  settings: ['kit', 'routes', 'library', 'state', 'customer'],
  learn: ['kit', 'routes', 'library', 'run-data', 'lessons', 'state', 'charts', 'grpo', 'training'],
  shell: ['kit', 'routes', 'labels', 'clients', 'library', 'state', 'conversation'],
};

const PAGE = Object.keys(ROOMS).slice(Object.keys(ROOMS).indexOf('routes'));
const shared = ['kit', ...PAGE].filter((room) => room !== 'root');

export const elements = [
  { type: 'workers', pattern: 'workers' },
  ...shared.map((room) => ({ type: room, pattern: `src/app/${room}` })),
  { type: 'feature', pattern: 'src/app/*', capture: ['feature'] },
  ...Object.keys(ROOMS)
    .filter((room) => !['workers', 'root', ...shared].includes(room))
    .map((room) => ({ type: room, pattern: `src/${room}` })),
];

export const files = [{ category: 'root', pattern: ['src/*.ts', 'src/app/*.{ts,svelte}'] }];

/** The foundation that a room may import. `base` may import `records`. */
const foundation = (room) => (room === 'kit' ? [] : FOUNDATION.slice(0, FOUNDATION.includes(room) ? FOUNDATION.indexOf(room) : undefined));
const select = (room) => (room === 'root' ? { file: { categories: 'root' } } : { element: { type: room } });
const policy = (from, room, allowed) => ({ from, allow: { to: [...foundation(room), ...allowed].map(select) } });

export const policies = [
  ...Object.entries(ROOMS).map(([room, allowed]) => policy(select(room), room, allowed)),
  ...Object.entries(FEATURES).map(([feature, allowed]) =>
    policy({ element: { type: 'feature', captured: { feature } } }, feature, allowed),
  ),
].filter(({ allow }) => allow.to.length > 0);
