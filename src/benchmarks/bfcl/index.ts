/** @file BFCL Multi Turn, the part of the Berkeley Function-Calling Leaderboard in which an agent calls functions over several turns. */
import { IMPORTED_LEVEL } from '../../domains/registry.ts';
import type { BenchmarkDefinition } from '../definition.ts';
import { ALL, bfclFiles, dataOf, DOMAIN, tablesOf } from './files.ts';
import { BFCL_RULES } from './rules.ts';
import { multiTurn } from './score.ts';
import { MultiTurnSession } from '../../domains/multiturn/session.ts';
import { type BfclTask, bfclTaskReader, storedParts } from './task.ts';

const onlySession = () => {
  throw new Error('expected a session, which runs the calls and judges the episode');
};

export const bfcl: BenchmarkDefinition<BfclTask> = {
  name: 'bfcl',
  title: 'BFCL Multi Turn',
  version: 'V3, commit 6ea5797',
  domains: [
    {
      name: DOMAIN,
      tools: [],
      load: tablesOf,
      execute: onlySession,
    },
  ],
  rules: BFCL_RULES,
  terminalTools: [],
  splits: { train: [], heldout: [ALL] },
  files: bfclFiles,
  tasks: bfclTaskReader,
  stored: storedParts,
  async session({ database }, { benchmark, level }) {
    const data = await dataOf(database);
    const task = benchmark as BfclTask;
    const entry = data.entries.get(task.id);
    if (!entry) throw new Error(`task.benchmark.id is "${task.id}": expected an entry of the imported data`);
    // In the compact form, the user's message has the functions that appear.
    return new MultiTurnSession(data, entry, level === IMPORTED_LEVEL ? task.later : {});
  },
  judge: onlySession,
  score: multiTurn,
  replay: async (job) => (await import('./replay.ts')).replayBfcl(job),
};
