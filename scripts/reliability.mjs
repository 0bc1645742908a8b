/** Runs the tests that inject faults, and writes the rows that they report to tests/reliability.md. Usage: npm run reliability */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const PAGE = 'tests/reliability.md';
const UNIT = [
  'storage-faults',
  'checkpoints',
  'schema-versions',
  'environments',
  'two-tabs',
  'run-folder-faults',
  'hostile-inputs',
  'endpoint',
  'lock-file',
  'foreign-folders',
  'thread',
  'bombs',
  'bundle-budgets',
  'env-serve-audit',
];
const RUNS = [
  ['vitest', 'run', '--project', 'unit', ...UNIT.map((name) => `/${name}.test.ts`)],
  ['playwright', 'test', '--project=pages', '--retries=0', 'recovery.spec.ts'],
  ['vitest', 'run', '--project', 'gpu-node', 'killed-commands'],
];

const folder = mkdtempSync(join(tmpdir(), 'mua-faults-'));
const rowsFile = join(folder, 'rows.jsonl');
writeFileSync(rowsFile, '');
for (const command of RUNS) {
  const { status } = spawnSync('npx', command, { stdio: 'inherit', env: { ...process.env, MUA_FAULTS: rowsFile } });
  if (status !== 0) {
    console.error(`npx ${command.join(' ')} failed: ${PAGE} was not written`);
    process.exit(1);
  }
}
const rows = readFileSync(rowsFile, 'utf8')
  .split('\n')
  .filter(Boolean)
  .map((line) => JSON.parse(line));
rmSync(folder, { recursive: true });

const sum = (some) => some.reduce((all, { times }) => all + times, 0);
const isFile = ({ fault }) => fault === 'a hostile file';
const [total, files] = [sum(rows), sum(rows.filter(isFile))];
// The tests of files that run at once end in any order.
const table = rows
  .map(
    ({ fault, how, times, lost, test }) =>
      `| ${fault} | ${how} | ${times} | ${lost} | [${test.split('/').at(-1)}](${test.replace('tests/', '')}) |`,
  )
  .sort();
const page = `# Reliability

\`npm run reliability\` injects ${total} faults and writes this page: ${files} hostile files, and ${total - files} faults of storage, GPU, processes, clock, endpoints, folders and formats. Each row comes from a test that fails if more is lost than the row says. After each fault in a run, the test compares the stored rows with those of a run without faults, and checks that each stored row belongs to a stored run.

| fault | how it is injected | times | what was lost | test |
|---|---|---|---|---|
${table.join('\n')}
`;
writeFileSync(PAGE, page);
spawnSync('npx', ['prettier', '--write', PAGE], { stdio: 'ignore' });
console.log(`${total} faults: ${PAGE}`);
