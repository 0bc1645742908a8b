/**
 * Runs what this project exports with the real packages of other projects, and writes docs/results/engines.md.
 *   readers: tools without torch, 5 to 7 minutes. all: also TRL, transformers, PEFT, verl and optimum, 7 GB of packages.
 * The first start makes virtual environments with pinned versions (tests/engines/environments.json). If they cannot be made, the script
 * says so and skips. The recorded run of the page gives the conversations, so no GPU is needed.
 * Usage: npm run engines -- readers|all [names of scripts]
 *   ENGINES_FOLDER=DIR   the folder of the environments
 *   ENGINES_PYTHON=FILE  a Python of version 3.11
 */
import { spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { unzipSync } from 'fflate';
import { format } from 'prettier';

interface Row {
  tool: string;
  what: string;
  result: string;
  ok: boolean;
}
interface Environment {
  stage: 'readers' | 'all';
  packages: string[];
}

const SCRIPTS: Record<string, { environment: string; shown: string[] }> = {
  openenv_checks: { environment: 'openenv', shown: ['openenv'] },
  skyrl_words: { environment: 'openenv', shown: ['skyrl-gym', 'openenv'] },
  verifiers_eval: { environment: 'verifiers', shown: ['verifiers', 'openenv'] },
  read_exports: { environment: 'read', shown: [] },
  trl_words: { environment: 'trl', shown: ['trl', 'transformers', 'openenv'] },
  trl_runs: { environment: 'trl', shown: ['trl', 'transformers', 'torch', 'peft'] },
  trl_dpo: { environment: 'trl', shown: ['trl', 'transformers', 'torch'] },
  torch_numbers: { environment: 'trl', shown: ['transformers', 'torch'] },
  peft_back: { environment: 'trl', shown: ['peft', 'transformers'] },
  verl_words: { environment: 'verl', shown: ['verl', 'transformers'] },
  optimum_greedy: { environment: 'optimum', shown: ['optimum-onnx', 'transformers'] },
};
/** The package of a tool in the environment `read`. */
const READERS: Record<string, string> = { Inspect: 'inspect-ai', 'ONNX Runtime': 'onnxruntime' };
const PAGE = 'docs/results/engines.md';
const RUN = 'public/recorded/run.mua.zip';
const [stage = '', ...names] = process.argv.slice(2);
const unknown = names.find((name) => !Object.hasOwn(SCRIPTS, name));
if ((stage !== 'readers' && stage !== 'all') || unknown !== undefined) {
  console.error(`engines: "${unknown ?? stage}": expected readers or all, then names of ${Object.keys(SCRIPTS).join(', ')}`);
  process.exit(2);
}
const folder = resolve(process.env.ENGINES_FOLDER ?? 'node_modules/.cache/engines');
const environments = JSON.parse(readFileSync('tests/engines/environments.json', 'utf8')) as Record<string, Environment>;

function skip(reason: string): never {
  console.log(`engines: skipped: ${reason}`);
  process.exit(0);
}

function mua(...args: string[]): void {
  const { status, stderr } = spawnSync('node', ['bin/mua.mjs', ...args], { encoding: 'utf8' });
  if (status !== 0) throw new Error(`mua ${args.join(' ')}: ${stderr}`);
}

/** Writes the recorded conversations, and everything that the scripts open. */
function prepare(work: string): void {
  const files = unzipSync(new Uint8Array(readFileSync(RUN)));
  for (const name of ['trajectories.jsonl', 'trials.jsonl']) writeFileSync(join(work, name), files[name]!);
  const model = 'models/nano-retail';
  const place = ['--preset', 'nano', '--level', 'nano', '--tasks', '64'];
  for (const engine of ['skyrl', 'verifiers', 'verl'])
    mua('export', '--format', engine, '--model', model, ...place, '--out', join(work, engine));
  mua('export', '--format', 'trl', '--form', 'calls', '--model', model, ...place, '--out', join(work, 'trl'));
  for (const [name, own] of [
    ['', model],
    ['-small', 'models/small-retail'],
  ] as const)
    for (const kind of ['hf', 'onnx']) mua('export', '--format', kind, '--model', own, '--out', join(work, kind + name));
  mua('export', '--format', 'trl', '--model', join(work, 'hf'), ...place, '--out', join(work, 'trl-text'));
  const exports = join(work, 'exports');
  mkdirSync(join(exports, 'inspect'), { recursive: true });
  const written = {
    rollouts: 'rollouts.jsonl',
    parquet: 'rollouts.parquet',
    verl: 'verl.jsonl',
    chat: 'chat.jsonl',
    inspect: 'inspect',
    csv: 'metrics.csv',
    tensorboard: 'events.out.tfevents.1.run',
  };
  for (const [kind, name] of Object.entries(written)) mua('export-run', RUN, '--format', kind, '--out', join(exports, name));
  const converted = ['chat', 'trl', 'sharegpt', 'preference', 'mua-rl', 'parquet'];
  for (const kind of converted) mua('convert', RUN, '--format', kind, '--out', join(exports, `converted.${kind}`));
}

const interpreter = (environment: string) => join(folder, environment, 'bin', 'python');

/** Runs a script in its environment. Prints its rows at once. A script that fails adds a row. */
async function rowsOf(name: string, work: string): Promise<Row[]> {
  const { environment } = SCRIPTS[name]!;
  const child = spawn(interpreter(environment), [`tests/engines/${name}.py`], {
    env: {
      ...process.env,
      MUA_ENGINES_WORK: work,
      PYTHONPATH: resolve('tests/engines'),
      PYTHONDONTWRITEBYTECODE: '1',
      // Two threads on two busy cores are several times slower than one.
      OMP_NUM_THREADS: '1',
      HF_HUB_OFFLINE: '1',
      TRL_EXPERIMENTAL_SILENCE: '1',
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let [output, errors] = ['', ''];
  child.stdout.on('data', (chunk) => (output += chunk));
  child.stderr.on('data', (chunk) => (errors = (errors + chunk).slice(-2000)));
  const code = await new Promise<number | null>((end) => child.on('close', end));
  const rows = output
    .split('\n')
    .filter((line) => line.startsWith('ROW '))
    .map((line) => JSON.parse(line.slice(4)) as Row);
  if (code !== 0) rows.push({ tool: name, what: 'the script', result: errors.trim().split('\n').at(-1) ?? '', ok: false });
  for (const { tool, what, result, ok } of rows) console.log(`${ok ? 'ok    ' : 'FAILED'} ${tool}: ${what}: ${result}`);
  return rows;
}

/** The signatures that the stand-ins of the tests use must be those of the installed packages. */
function signatures(of: string): Row {
  const { stdout } = spawnSync(interpreter(of), ['tests/engines/signatures.py', of], {
    encoding: 'utf8',
    env: { ...process.env, OMP_NUM_THREADS: '1' },
  });
  const known = JSON.parse(readFileSync('tests/engines/signatures.json', 'utf8')) as Record<string, Record<string, unknown>>;
  const found = JSON.parse(stdout.trim().split('\n').at(-1) || '{}') as Record<string, unknown>;
  const wanted = known[of]!;
  const differ = Object.keys(wanted).filter((name) => JSON.stringify(wanted[name]) !== JSON.stringify(found[name]));
  const result = differ.length === 0 ? `${Object.keys(wanted).length} functions equal` : `differ: ${differ.join(', ')}`;
  console.log(`${differ.length === 0 ? 'ok    ' : 'FAILED'} ${of}: signatures: ${result}`);
  return { tool: of, what: 'signatures of the stand-ins in our tests', result, ok: differ.length === 0 };
}

function versionsOf(environment: string, shown: readonly string[]): string {
  const pinned = environments[environment]!.packages.map((name) => name.replace(/\[.*\]/, '').split('=='));
  return shown.flatMap((name) => pinned.filter(([own]) => own === name).map(([own, version]) => `${own} ${version}`)).join(', ');
}

const python = process.env.ENGINES_PYTHON ?? 'python3.11';
if (spawnSync(python, ['--version']).status !== 0) skip(`${python} does not run: expected Python 3.11 as ENGINES_PYTHON`);
mkdirSync(folder, { recursive: true });
if (spawnSync(python, ['tests/engines/install.py', folder, stage], { stdio: 'inherit' }).status !== 0)
  skip('the packages cannot be installed');

const work = mkdtempSync(join(tmpdir(), 'mua-engines-'));
const start = performance.now();
prepare(work);
const chosen = Object.keys(SCRIPTS).filter((name) => {
  const { environment } = SCRIPTS[name]!;
  return (names.length === 0 || names.includes(name)) && (stage === 'all' || environments[environment]!.stage === 'readers');
});
/** The rows that ran, of this start and of earlier ones with the same packages. */
const ROWS = join(folder, 'rows.json');
const readRows = () =>
  (existsSync(ROWS) ? JSON.parse(readFileSync(ROWS, 'utf8')) : {}) as Record<string, { packages: string; rows: string[][] }>;
let failed = 0;
const keep = (key: string, environment: string, rows: Row[], versions: (row: Row) => string) => {
  failed += rows.filter(({ ok }) => !ok).length;
  const done = rows.filter(({ ok }) => ok).map((row) => [row.tool, versions(row), row.what, row.result]);
  const rowsOfKey = { packages: environments[environment]!.packages.join(), rows: done };
  writeFileSync(ROWS, JSON.stringify({ ...readRows(), [key]: rowsOfKey }));
};
for (const name of chosen) {
  const { environment, shown } = SCRIPTS[name]!;
  keep(name, environment, await rowsOf(name, work), ({ tool }) =>
    environment === 'read' ? versionsOf('read', [READERS[tool] ?? tool.toLowerCase()]) : versionsOf(environment, shown),
  );
}
const SIGNED = { openenv: 'skyrl-gym', trl: 'trl', verl: 'verl' };
for (const [of, shown] of Object.entries(SIGNED))
  if (chosen.some((name) => SCRIPTS[name]!.environment === of))
    keep(`signatures ${of}`, of, [signatures(of)], () => versionsOf(of, [shown]));
rmSync(work, { recursive: true });
const minutes = ((performance.now() - start) / 60_000).toFixed(0);
const places = Object.fromEntries(Object.entries(SCRIPTS).map(([name, { environment }]) => [name, environment]));
for (const of of Object.keys(SIGNED)) places[`signatures ${of}`] = of;
const stored = readRows();
const missing: string[] = [];
const table = Object.entries(places).flatMap(([key, environment]) => {
  const found = stored[key];
  if (found?.packages === environments[environment]!.packages.join()) return found.rows;
  missing.push(key);
  return [];
});
console.log(`engines: ${table.length} rows in the table, ${failed} failed now, ${minutes} minutes`);
// A table without the rows of some packages must not replace one that has them.
if (missing.length > 0) console.log(`engines: ${PAGE} stays as it is, without new rows: ${missing.join(', ')} did not run here`);
else if (failed === 0) {
  const text = `# Other tools on our exports

\`npm run engines -- all\` writes this page. It runs the real packages, in the pinned versions, on what \`mua export\`, \`mua export-run\` and \`mua env-serve\` give them, without a GPU. The recorded conversations are those of the run that the page shows (\`nano-retail\`). A row that failed is not in the table. The rows come from several starts of the command. Not tried: vLLM, SGLang, several GPUs.

| tool | version | what ran | result |
|---|---|---|---|
${table.map((cells) => `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`).join('\n')}

TRL's tool loop has another prompt: the agent speaks with the tool \`respond\`. In the playground, the end of a turn after a tool call is given (mask 0); verl samples it (mask 1). TRL's tool loop ends at a call that is not JSON, and answers a wrong argument in its own words; the playground answers both. All other tokens and masks are equal.
`;
  writeFileSync(PAGE, await format(text, { parser: 'markdown', printWidth: 140 }));
}
process.exit(failed === 0 ? 0 : 1);
