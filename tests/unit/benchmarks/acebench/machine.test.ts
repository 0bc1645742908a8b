/** The tasks of ACEBench's reference data in the episode machine. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { AceVerdict } from '../../../../src/benchmarks/acebench/check.ts';
import { importBenchmark } from '../../../../src/benchmarks/import/import.ts';
import { aceFolder, expectedAce, hasAce } from '../../../support/acebench-data.ts';
import { aceStage } from '../../../support/acebench-play.ts';
import { filesOf } from '../../../support/bfcl-data.ts';

if (!hasAce) console.warn(`SKIPPED: the tasks of ACEBench in the episode machine: ${aceFolder} does not exist`);
const reference = test.skipIf(!hasAce);

interface Run {
  name: string;
  agent: string[];
  user?: string[];
  max_turns?: number;
  senders: string;
  verdict: AceVerdict;
}

const stage = async () => {
  const files = filesOf(aceFolder).map((path) => [path, readFileSync(join(aceFolder, path))] as const);
  return aceStage(await importBenchmark(files));
};

reference('every run of the reference has its scores and its number of messages', { timeout: 300_000 }, async () => {
  const { entries } = expectedAce<{ entries: { lang: string; kind: string; id: string; runs: Run[] }[] }>('agent');
  const { task, play } = await stage();
  const usual = { en: ['Hello, I need help.', 'Yes.'], zh: ['你好，我需要帮助。', '是的。'] } as Record<string, string[]>;
  const wrong: unknown[] = [];
  let played = 0;
  for (const { lang, kind, id, runs } of entries) {
    const own = await task(`${lang}_${id}`);
    for (const { name, agent, user = usual[lang]!, max_turns, senders, verdict } of runs) {
      if (max_turns !== undefined) continue;
      const ours = await play(own, agent, kind === 'multi_turn' ? user : undefined);
      played += 1;
      const messages = ours.nodes.filter(({ role }) => role === 'assistant').length;
      const process = Math.round(ours.verdict!.progress * 1000) / 1000;
      const same =
        ours.reward === verdict.end_to_end && Math.abs(process - verdict.process) < 1e-9 && messages === senders.split('a').length - 1;
      if (!same) wrong.push({ lang, id, name, agent, senders, messages, reward: ours.reward, process, verdict, ended: ours.termination });
    }
  }
  expect(played).toBe(1335);
  expect(wrong.slice(0, 4)).toEqual([]);
});

reference('100 tasks of a language: the gold of an import reaches the end state where upstream’s can, and nothing fails', async () => {
  const { tasks, play } = await stage();
  const reached: Record<string, number> = {};
  for (const split of ['en_multi_turn', 'en_multi_step', 'zh_multi_turn', 'zh_multi_step']) {
    const all = await tasks(split);
    reached[split] = 0;
    for (const one of all) {
      reached[split] += (await play(one, (one.benchmark as unknown as { gold: string[] }).gold)).reward!;
      expect((await play(one, [])).reward, one.id).toBe(0);
    }
  }
  expect(reached).toEqual({ en_multi_turn: 29, en_multi_step: 12, zh_multi_turn: 29, zh_multi_step: 14 });
});
