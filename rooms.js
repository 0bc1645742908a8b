/**
 * @file Which room may import which room. A room is a folder of src. ESLint checks this table, type imports included.
 * docs/architecture.md says what each room holds.
 */

/** Each room with the rooms that it may import. A room may import only rooms above it. */
export const ROOMS = {
  records: [],
  base: ['records'],
  engine: ['base', 'records'],
  environments: ['base', 'records'],
  local: ['base', 'records'],
  users: ['base', 'records', 'environments', 'local'],
  agent: ['base', 'records', 'engine', 'environments', 'users'],
  domains: ['base', 'records', 'environments', 'users', 'agent'],
  exchange: ['base', 'records', 'engine'],
  storage: ['base', 'records'],
  benchmarks: ['base', 'records', 'environments', 'users', 'agent', 'domains', 'exchange'],
  evaluation: ['base', 'records', 'environments', 'users', 'agent', 'domains'],
  training: ['base', 'records', 'engine', 'environments', 'users', 'agent', 'domains', 'benchmarks', 'evaluation'],
  experiments: ['base', 'records', 'exchange', 'evaluation', 'training'],
  trainer: [
    'base',
    'records',
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
  ],
  formats: ['base', 'records', 'agent', 'exchange', 'benchmarks'],
  serve: ['base', 'records', 'environments', 'local', 'users', 'agent', 'domains', 'benchmarks', 'evaluation', 'training', 'formats'],
  worlds: ['base', 'records', 'environments', 'domains', 'exchange', 'benchmarks'],
  workers: ['environments', 'local', 'users', 'domains', 'exchange', 'storage', 'benchmarks', 'trainer', 'worlds'],
  cli: [
    'base',
    'records',
    'environments',
    'local',
    'agent',
    'domains',
    'exchange',
    'benchmarks',
    'experiments',
    'trainer',
    'formats',
    'serve',
  ],

  // The page: the folders of src/app.
  kit: [],
  data: [
    'kit',
    'base',
    'records',
    'engine',
    'environments',
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
    'worlds',
  ],
  charts: ['kit', 'data', 'base'],
  conversation: [
    'kit',
    'data',
    'base',
    'records',
    'environments',
    'local',
    'users',
    'agent',
    'domains',
    'evaluation',
    'training',
    'trainer',
  ],
  /** Every other folder of src/app. A feature may not import another feature. */
  feature: [
    'kit',
    'data',
    'charts',
    'conversation',
    'base',
    'records',
    'local',
    'users',
    'agent',
    'domains',
    'exchange',
    'benchmarks',
    'evaluation',
    'training',
    'experiments',
    'trainer',
    'worlds',
    'formats',
  ],
  gallery: ['kit', 'data', 'charts', 'conversation', 'feature', 'records', 'evaluation', 'training', 'trainer'],
  /** App.svelte, main.ts and the files that put features together. They import each other. */
  root: ['root', 'kit', 'data', 'conversation', 'feature', 'gallery', 'trainer'],
};

const PAGE = ['kit', 'data', 'charts', 'conversation', 'gallery'];

export const elements = [
  { type: 'workers', pattern: 'workers' },
  ...PAGE.map((room) => ({ type: room, pattern: `src/app/${room}` })),
  { type: 'feature', pattern: 'src/app/*', capture: ['feature'] },
  ...Object.keys(ROOMS)
    .filter((room) => !['workers', 'feature', 'root', ...PAGE].includes(room))
    .map((room) => ({ type: room, pattern: `src/${room}` })),
];

export const files = [{ category: 'root', pattern: ['src/*.ts', 'src/app/*.{ts,svelte}'] }];

const select = (room) => (room === 'root' ? { file: { categories: 'root' } } : { element: { type: room } });

export const policies = Object.entries(ROOMS)
  .filter(([, allowed]) => allowed.length > 0)
  .map(([room, allowed]) => ({ from: select(room), allow: { to: allowed.map(select) } }));
