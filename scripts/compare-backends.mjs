/**
 * Compares the seconds per step of `mua train` in the browser and in Node, on this computer, with the same seed and settings. The backends
 * take turns.
 * Usage: node scripts/compare-backends.mjs [presets, default glimpse,nano] [steps, default 6] [rounds, default 2]
 */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const [presets = 'glimpse,nano', steps = '6', rounds = '2'] = process.argv.slice(2);
const scratch = mkdtempSync(join(tmpdir(), 'mua-backends-'));

function secondsOfSteps(preset, on) {
  const args = ['train', '--on', on, '--preset', preset, '--seed', '7', '--steps', steps, '--set', 'val_tasks=0'];
  const { status } = spawnSync(process.execPath, ['bin/mua.mjs', ...args, '--out', join(scratch, 'run'), '--force'], { stdio: 'inherit' });
  if (status !== 0) throw new Error(`mua ${args.join(' ')} ended with ${status}`);
  const lines = readFileSync(join(scratch, 'run', 'metrics.jsonl'), 'utf8')
    .trim()
    .split('\n');
  const seconds = lines.map((line) => JSON.parse(line)['timing_s/step']).filter((value) => value > 0);
  if (seconds.length === 0) throw new Error('metrics.jsonl has no timing_s/step');
  // Drops the first step, because it also compiles shaders.
  return seconds.slice(1);
}

function median(values) {
  const sorted = values.toSorted((a, b) => a - b);
  return (sorted[Math.floor((sorted.length - 1) / 2)] + sorted[Math.floor(sorted.length / 2)]) / 2;
}
try {
  const rows = [];
  for (const preset of presets.split(',')) {
    const all = { browser: [], node: [] };
    for (let round = 0; round < Number(rounds); round++) for (const on of ['browser', 'node']) all[on].push(...secondsOfSteps(preset, on));
    for (const [on, values] of Object.entries(all)) {
      const spread = `${Math.min(...values).toFixed(2)} to ${Math.max(...values).toFixed(2)}`;
      rows.push(`| ${preset} | \`${on}\` | ${median(values).toFixed(2)} | ${spread} | ${values.length} |`);
    }
  }
  console.log(['| preset | `--on` | median, s a step | least to most | steps |', '|---|---|---|---|---|', ...rows].join('\n'));
} finally {
  rmSync(scratch, { recursive: true, force: true });
}
