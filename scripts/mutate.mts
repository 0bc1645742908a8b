/**
 * Applies the mutations of `tests/mutations.ts` to copies of the project, one mutation at a time. It runs the tests that must notice the
 * mutation, and prints the mutations that survive. Two copies work at the same time. The exit code is 1 if a mutation survives, or if its
 * text is no longer in its file.
 * Usage: npm run mutate [-- WORD …]   With words: only mutations whose file or promise contains one of them.
 */
import { execFile } from 'node:child_process';
import { cp, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { availableParallelism, tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { type Mutation, MUTATIONS } from '../tests/mutations.ts';

const root = resolve(import.meta.dirname, '..');
/** The folders to copy, because tests write to them or mutations change them. All other folders are linked. */
const COPIED = new Set(['src', 'tests', 'scripts', 'workers']);
const LEFT_OUT = /^(\.git|dist.*|test-results|out)$/;

interface Report {
  numFailedTests: number;
  numPassedTests: number;
  testResults: { name: string; status: string; message: string; assertionResults: { status: string; failureMessages: string[] }[] }[];
}

async function copyProject(): Promise<string> {
  const copy = await mkdtemp(join(tmpdir(), 'mutate-'));
  for (const entry of await readdir(root, { withFileTypes: true })) {
    if (LEFT_OUT.test(entry.name)) continue;
    const [from, to] = [join(root, entry.name), join(copy, entry.name)];
    if (entry.isDirectory() && !COPIED.has(entry.name)) await symlink(from, to);
    else await cp(from, to, { recursive: true });
  }
  return copy;
}

/** Runs unit tests in a copy until one fails. */
async function test(copy: string, files: readonly string[]): Promise<Report> {
  const out = join(copy, 'report.json');
  await rm(out, { force: true });
  const args = ['run', '--project', 'unit', '--bail=1', '--maxWorkers=1', '--reporter=json', `--outputFile=${out}`];
  const said = await new Promise<string>((done) => {
    const vitest = join(root, 'node_modules/vitest/vitest.mjs');
    const paths = files.map((file) => `tests/unit/${file}`);
    execFile(process.execPath, [vitest, ...args, ...paths], { cwd: copy, maxBuffer: 2 ** 26 }, (_, stdout, stderr) =>
      done(stdout + stderr),
    );
  });
  const report = await readFile(out, 'utf8').catch(() => null);
  if (report === null) throw new Error(`vitest wrote no report:\n${said.slice(-2000)}`);
  return JSON.parse(report) as Report;
}

type Fate = 'killed' | 'SURVIVED' | string;

async function judge(copy: string, { file, from, to, tests }: Mutation): Promise<Fate> {
  const path = join(copy, file);
  const code = await readFile(path, 'utf8').catch(() => null);
  if (code === null) return `BROKEN: there is no ${file}`;
  const places = code.split(from).length - 1;
  if (places !== 1) return `BROKEN: its text occurs ${places} times in ${file}, expected once`;
  await writeFile(
    path,
    code.replace(from, () => to),
  );
  try {
    const report = await test(copy, tests.split(' '));
    if (report.numFailedTests > 0) return 'killed';
    // If a test file fails to load, no test has checked the mutation.
    const unloaded = report.testResults.find(({ status, assertionResults }) => status === 'failed' && assertionResults.length === 0);
    if (unloaded) return `BROKEN: ${unloaded.message.split('\n')[0]}`;
    return report.numPassedTests === 0 ? `BROKEN: ${tests} has no tests` : 'SURVIVED';
  } finally {
    await writeFile(path, code);
  }
}

const words = process.argv.slice(2);
const chosen = MUTATIONS.filter(({ file, breaks }) => words.length === 0 || words.some((word) => `${file} ${breaks}`.includes(word)));
if (chosen.length === 0) throw new Error(`no mutation has ${words.join(' or ')} in its file or promise`);
const copies = await Promise.all(Array.from({ length: Math.min(2, availableParallelism()) }, copyProject));
const start = performance.now();
const survivors: string[] = [];
try {
  const sound = await test(copies[0]!, [...new Set(chosen.flatMap(({ tests }) => tests.split(' ')))]);
  const unsound = sound.testResults.find(({ status }) => status === 'failed');
  if (unsound) {
    const why = unsound.assertionResults.flatMap(({ failureMessages }) => failureMessages)[0] ?? unsound.message;
    throw new Error(`a test fails without a mutation, mend this first: ${unsound.name}\n${why}`);
  }
  const waiting = [...chosen];
  await Promise.all(
    copies.map(async (copy) => {
      for (let mutation = waiting.shift(); mutation; mutation = waiting.shift()) {
        const fate = await judge(copy, mutation);
        if (fate !== 'killed') survivors.push(`${fate.padEnd(8)}  ${mutation.breaks}  (${mutation.file})`);
        console.log(`${fate.split(':')[0]!.padEnd(8)}  ${mutation.breaks}`);
      }
    }),
  );
} finally {
  await Promise.all(copies.map((copy) => rm(copy, { recursive: true, force: true })));
}
console.log(
  `\n${chosen.length - survivors.length} of ${chosen.length} mutations killed in ${Math.round((performance.now() - start) / 1000)} s`,
);
for (const line of survivors) console.log(line);
process.exit(survivors.length > 0 ? 1 : 0);
