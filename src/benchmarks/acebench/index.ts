/** @file ACEBench Agent, the part of ACEBench in which an agent uses a phone or books flights for a user. */
import type { BenchmarkDefinition } from '../definition.ts';
import { rounded } from './check.ts';
import { LANGUAGES } from './classes/api.ts';
import { aceFiles, dataOf, DOMAIN, tablesOf } from './files.ts';
import { ACE_RULES } from './rules.ts';
import { agentOf } from './score.ts';
import { AceSession } from './session.ts';
import { type AceTask, aceTaskReader, storedParts, taskId } from './task.ts';

export const acebench: BenchmarkDefinition<AceTask> = {
  name: 'acebench',
  title: 'ACEBench Agent',
  version: 'commit 56dd66c',
  domains: [
    {
      name: DOMAIN,
      tools: [],
      load: tablesOf,
      execute: () => ({ text: 'Error: expected a session', error: true }),
    },
  ],
  rules: ACE_RULES,
  terminalTools: [],
  splits: { train: [], heldout: [...LANGUAGES] },
  files: aceFiles,
  tasks: aceTaskReader,
  stored: storedParts,
  async session({ database }, { benchmark }) {
    const { id } = benchmark as AceTask;
    for (const { states, entries } of (await dataOf(database)).values())
      for (const entry of entries.values()) if (taskId(entry) === id) return new AceSession(entry, states);
    throw new Error(`task.benchmark.id is "${id}": expected a task of the imported data`);
  },
  judge: () => {
    throw new Error('the session judges the episode');
  },
  score: agentOf,
  roundSet: rounded,
  replay: async (job) => (await import('./replay.ts')).replayAce(job),
};
