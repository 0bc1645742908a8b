/**
 * Runs every check in turn, all of them even when one fails, and closes with the runners' own counts.
 * Usage: node scripts/test.mjs [names of stages]
 */
import { spawn } from 'node:child_process';

const STAGES = {
  types: ['npm', 'run', '--silent', 'check'],
  lint: ['npm', 'run', '--silent', 'lint'],
  unit: ['npx', 'vitest', 'run', '--project', 'unit'],
  build: ['npm', 'run', '--silent', 'build'],
  gpu: ['npx', 'vitest', 'run', '--project', 'gpu'],
  e2e: ['npx', 'playwright', 'test'],
};

/** Passes the output on as it comes and keeps it without colours. */
function run([command, ...args]) {
  return new Promise((resolve) => {
    const child = spawn(command, args, { stdio: ['ignore', 'pipe', 'pipe'], shell: process.platform === 'win32' });
    let output = '';
    for (const [stream, to] of [[child.stdout, process.stdout], [child.stderr, process.stderr]]) {
      stream.on('data', (chunk) => {
        to.write(chunk);
        output += chunk;
      });
    }
    child.on('error', (error) => resolve({ code: 1, output: error.message }));
    // eslint-disable-next-line no-control-regex
    child.on('close', (code) => resolve({ code: code ?? 1, output: output.replace(/\x1b\[[0-9;]*m/g, '') }));
  });
}

/** Counts in Vitest's line "Tests  1 failed | 2 passed (3)", else in Playwright's lines "1 failed", "2 passed (3.4s)". */
function counts(output) {
  const vitest = output.match(/^\s*Tests\s.*$/m)?.[0];
  const sum = (word) => [...(vitest ?? output).matchAll(vitest ? new RegExp(`(\\d+) ${word}`, 'g') : new RegExp(`^\\s+(\\d+) ${word}\\b`, 'gm'))].reduce((total, m) => total + Number(m[1]), 0);
  return { passed: sum('passed'), failed: sum('failed'), skipped: sum('skipped') };
}

const asked = process.argv.slice(2);
const unknown = asked.find((name) => !(name in STAGES));
if (unknown) {
  console.error(`unknown stage "${unknown}": expected ${Object.keys(STAGES).join(', ')}`);
  process.exit(2);
}
const summary = [];
const total = { passed: 0, failed: 0, skipped: 0 };
for (const name of asked.length > 0 ? asked : Object.keys(STAGES)) {
  console.log(`\n── ${name}: ${STAGES[name].join(' ')}`);
  const start = performance.now();
  const { code, output } = await run(STAGES[name]);
  const isSuite = ['unit', 'gpu', 'e2e'].includes(name);
  const found = isSuite ? counts(output) : { passed: 0, failed: 0, skipped: 0 };
  // A stage that fails without naming a test (a type error, a crash) counts as one failure.
  if (code !== 0 && found.failed === 0) found.failed = 1;
  for (const key of Object.keys(total)) total[key] += found[key];
  const words = isSuite ? ` ${found.passed} passed, ${found.failed} failed, ${found.skipped} skipped` : '';
  summary.push(`${name.padEnd(6)} ${code === 0 ? 'ok    ' : 'FAILED'}${words} (${((performance.now() - start) / 1000).toFixed(0)} s)`);
}
console.log(`\n${summary.join('\n')}\n${total.passed} passed, ${total.failed} failed, ${total.skipped} skipped`);
process.exit(total.failed > 0 ? 1 : 0);
