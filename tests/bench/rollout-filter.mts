/**
 * @file How long the list of rollouts takes to filter, count its facets and sort, on made-up rows.
 *   npx tsx tests/bench/rollout-filter.mts [rows]
 */
import { listOrder, RolloutIndex } from '../../src/app/logic/rollout-filter.ts';
import { readQuery } from '../../src/app/logic/routes.ts';
import type { RolloutSummary } from '../../src/training/types.ts';

const count = Number(process.argv[2] ?? 100_000);
const tools = Array.from({ length: 16 }, (_, i) => `tool_${i}`);
const rows = Array.from({ length: count }, (_, i): RolloutSummary => {
  const step = 1 + Math.floor(i / 64);
  const group = `${step}-${Math.floor((i % 64) / 8)}`;
  return {
    id: `${group}-${i % 8}`, group, index: i % 8, step, task: `retail/small/train/1/${i % 997}`, intent: ['cancel', 'return', 'exchange', 'cancel+return'][i % 4]!,
    reward: i % 101 === 0 ? null : i % 3 === 0 ? 1 : 0, advantage: (i % 7) - 3, termination: (['user_stop', 'max_turns', 'terminal_tool'] as const)[i % 3]!,
    turns: i % 29, tokens: 500 + ((i * 7919) % 4000), violations: i % 5 === 0 ? 1 : 0, domain: 'retail', rules: i % 5 === 0 ? ['unconfirmed_write'] : [],
    tools: tools.filter((_, t) => (i * 31 + t * 17) % 3 === 0),
  };
});

function time(label: string, work: () => number): void {
  const times: number[] = [];
  let left = 0;
  for (let round = 0; round < 7; round++) {
    const start = performance.now();
    left = work();
    times.push(performance.now() - start);
  }
  times.sort((a, b) => a - b);
  console.log(`${label}: ${left.toLocaleString('en')} of ${count.toLocaleString('en')} rows, median ${times[3]!.toFixed(0)} ms, worst ${times[6]!.toFixed(0)} ms`);
}

const index = new RolloutIndex(listOrder(rows));
time('order and index, once for a set of rows', () => new RolloutIndex(listOrder(rows)).rows.length);
for (const search of ['', 'reward=0', 'reward=0&end=max_turns&tool=tool_3', 'violation=unconfirmed_write', 'sort=tokens', 'reward=0&sort=turns', 'step=400']) {
  const query = readQuery('rollouts', new URLSearchParams(search));
  time(search || 'no filter', () => index.filter(query, null).rows.length);
}
