/**
 * Runs all checks, even when one of them fails. Two stages run at a time. After them the end-to-end tests run with two workers, and last
 * the speed tests run alone. At the end, prints the wall time of each stage and the summaries of the test runners.
 * Usage: node scripts/test.mjs [names of stages]
 */
import { spawn } from 'node:child_process';
import { filesWithOwnProcess } from './own-process.mjs';

const vitest = (project, ...flags) => ({ command: ['npx', 'vitest', 'run', '--project', project, ...flags], suite: true });
const OWN_PROCESS = filesWithOwnProcess();
/** The stages. Two of them run at a time, except those with `alone`. The longest come first, so that both cores are busy until the end. */
const STAGES = {
  // Starts many processes, one after another, and leaves half of its core idle.
  'gpu-node': vitest('gpu-node'),
  // Many of these tests wait. With two files at a time, the core has work meanwhile.
  unit: vitest('unit', '--maxWorkers=2', '--no-isolate', ...OWN_PROCESS.map((file) => `--exclude=${file}`)),
  gpu: vitest('gpu'),
  // The other unit tests. The name `unit` asks for them too.
  'unit-own': { ...vitest('unit', '--maxWorkers=2', ...OWN_PROCESS), of: 'unit' },
  // Checks the types of TypeScript files too.
  types: { command: ['npx', 'svelte-check', '--fail-on-warnings', '--tsconfig', './tsconfig.json'] },
  lint: { command: ['npm', 'run', '--silent', 'lint'] },
  format: { command: ['npx', 'prettier', '--check', '.'] },
  component: vitest('component'),
  unused: { command: ['npx', 'knip'] },
  build: { command: ['npm', 'run', '--silent', 'build'] },
  e2e: { command: ['npx', 'playwright', 'test', '--project=pages'], suite: true, alone: true },
  // Runs only if it is asked for.
  checkpoint: { command: ['npx', 'tsx', 'scripts/checkpoint.mts'], alone: true, optional: true },
  speed: { command: ['npx', 'playwright', 'test', '--project=speed', '--no-deps'], suite: true, alone: true },
};
const AT_ONCE = 2;
/** Words of a command that are printed. The files of the unit tests would fill a page. */
const MOST_WORDS = 7;

/** @param live whether to print the output while the command runs; otherwise it is printed when the command ends */
function run([command, ...args], live) {
  return new Promise((resolve) => {
    const child = spawn(command, args, { stdio: ['ignore', 'pipe', 'pipe'], shell: process.platform === 'win32' });
    const chunks = [];
    for (const stream of [child.stdout, child.stderr]) {
      stream.on('data', (chunk) => {
        if (live) process.stdout.write(chunk);
        chunks.push(chunk);
      });
    }
    const end = (code, output) => {
      if (!live) process.stdout.write(output);
      // eslint-disable-next-line no-control-regex
      resolve({ code, output: output.replace(/\x1b\[[0-9;]*m/g, '') });
    };
    child.on('error', (error) => end(1, error.message));
    child.on('close', (code) => end(code ?? 1, Buffer.concat(chunks).toString()));
  });
}

/**
 * The lines with which a test runner ends its output: Vitest's "Tests  1 failed | 2 passed (3)" and "Errors  1 error", Playwright's
 * "1 failed" and "2 passed (3.4s)".
 */
const closingLines = (output) =>
  output.match(/^ *(Test Files|Tests|Errors) {2}.*$/gm) ??
  output.match(/^ {2}\d+ (passed|failed|skipped|flaky|interrupted|did not run)\b.*$/gm) ??
  [];

/** @param lines the lines that `closingLines` finds */
function counts(lines) {
  const text = lines.filter((line) => !line.includes('Test Files')).join('\n');
  const sum = (words) => [...text.matchAll(new RegExp(`(\\d+) (?:${words})\\b`, 'g'))].reduce((total, m) => total + Number(m[1]), 0);
  return { passed: sum('passed'), failed: sum('failed|interrupted|did not run'), skipped: sum('skipped'), flaky: sum('flaky') };
}

async function runStage(name, live) {
  const { command, suite } = STAGES[name];
  console.log(`── ${name}: ${command.slice(0, MOST_WORDS).join(' ')}${command.length > MOST_WORDS ? ' …' : ''}`);
  const start = performance.now();
  const { code, output } = await run(command, live);
  const seconds = (performance.now() - start) / 1000;
  if (!live) console.log(`── ${name} ended with ${code} after ${seconds.toFixed(0)} s\n`);
  const lines = suite ? closingLines(output) : [];
  const found = counts(lines);
  // A stage that fails without a failed test, such as a type error or a crash, counts as one failure.
  if (code !== 0 && found.failed === 0) found.failed = 1;
  return { name, ok: code === 0, seconds, lines, found };
}

const asked = process.argv.slice(2);
const unknown = asked.find((name) => !(name in STAGES));
if (unknown) {
  console.error(`unknown stage "${unknown}": expected ${Object.keys(STAGES).join(', ')}`);
  process.exit(2);
}
const start = performance.now();
const names = Object.keys(STAGES).filter((name) =>
  asked.length === 0 ? !STAGES[name].optional : asked.some((one) => one === name || one === STAGES[name].of),
);
const waiting = names.filter((name) => !STAGES[name].alone);
const live = waiting.length === 1;
const results = [];
const takeNext = async () => {
  for (let name = waiting.shift(); name; name = waiting.shift()) results.push(await runStage(name, live));
};
await Promise.all(Array.from({ length: AT_ONCE }, takeNext));
for (const name of names.filter((other) => STAGES[other].alone)) results.push(await runStage(name, true));

console.log('\nWall time');
for (const { name, ok, seconds } of results)
  console.log(`${name.padEnd(10)} ${ok ? 'ok    ' : 'FAILED'} ${seconds.toFixed(0).padStart(5)} s`);
console.log(`${'all'.padEnd(17)} ${((performance.now() - start) / 1000).toFixed(0).padStart(5)} s`);
for (const { name, lines } of results.filter((result) => result.lines.length > 0)) console.log(`\n${name}\n${lines.join('\n')}`);
const total = (key) => results.reduce((sum, { found }) => sum + found[key], 0);
console.log(
  `\n${total('passed')} passed, ${total('failed')} failed, ${total('skipped')} skipped, ${total('flaky')} passed on the second try only`,
);
process.exit(total('failed') > 0 ? 1 : 0);
