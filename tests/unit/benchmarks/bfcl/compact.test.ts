/** The compact form of BFCL's tasks. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, test } from 'vitest';
import { importBenchmark } from '../../../../src/benchmarks/import/import.ts';
import { importedDomains } from '../../../../src/benchmarks/imported-domain.ts';
import { BFCL_RULES } from '../../../../src/benchmarks/bfcl/rules.ts';
import type { BfclTask } from '../../../../src/benchmarks/bfcl/task.ts';
import { rulesFor } from '../../../../src/benchmarks/rules.ts';
import { signatureOf } from '../../../../src/domains/multiturn/prompt.ts';
import { canPair } from '../../../../src/evaluation/types.ts';
import { pairTrials } from '../../../../src/evaluation/paired.ts';
import { reportOf } from '../../../../src/evaluation/report.ts';
import { resultOf } from '../../../../src/evaluation/trial-result.ts';
import { customerScripts } from '../../../../src/domains/registry.ts';
import { ScriptedUsers } from '../../../../src/users/scripted.ts';
import { startAgentServer } from '../../../support/agent-server.ts';
import { importedStage } from '../../../support/served-episodes.ts';
import type { EvaluationRow } from '../../../../src/records/evaluation.ts';
import { bfclFolder, filesOf, hasBfcl } from '../../../support/bfcl-data.ts';
import { fixtureFiles } from '../../../support/bfcl-fixture.ts';
import { bfclStage, written } from '../../../support/bfcl-play.ts';

const both = async () => {
  const imported = await importBenchmark(fixtureFiles());
  return { full: bfclStage(imported), compact: bfclStage(imported, 'compact') };
};

describe('the compact form', () => {
  it('shows bare signatures with types, and no tool schemas', async () => {
    const { compact } = await both();
    const task = await compact.task('multi_turn_base_0');
    expect(task).toMatchObject({ id: 'bfcl-multiturn/compact/heldout/multi_turn_base_0', level: 'compact', tools: [] });
    expect(task.policy).toMatch(/^You can call these functions:\n/);
    expect(task.policy).toContain('\ncat(file_name: str)\n');
  });

  it('writes types and defaults as Python does', () => {
    const tool = (properties: object, required: string[]) =>
      signatureOf({
        type: 'function',
        function: { name: 'f', description: 'x', parameters: { type: 'object', properties: properties as never, required } },
      });
    expect(
      tool({ a: { type: 'string' }, b: { type: 'integer' }, c: { type: 'number' }, d: { type: 'boolean' } }, ['a', 'b', 'c', 'd']),
    ).toBe('f(a: str, b: int, c: float, d: bool)');
    expect(
      tool(
        {
          a: { type: 'array', items: { type: 'string' } },
          b: { type: 'string', default: 'None' },
          c: { type: 'boolean', default: false },
          d: { type: 'string', default: "it's" },
          e: { type: 'integer', default: 10 },
          g: { type: 'array', default: [] },
          h: { type: 'object' },
        },
        ['a'],
      ),
    ).toBe(`f(a: list[str], b: str = None, c: bool = False, d: str = "it's", e: int = 10, g: list = [], h: dict = ...)`);
  });

  it('passes with gold, fails with nothing, and has calls with or without line breaks', async () => {
    const { compact } = await both();
    for (const task of await compact.tasks()) {
      const { gold } = task.benchmark as BfclTask;
      const turns = gold.map((calls) => (calls.length > 0 ? [written(calls)] : []));
      const short = turns.map((texts) =>
        texts.map((text) => text.replaceAll('<tool_call>\n', '<tool_call>').replaceAll('\n</tool_call>', '</tool_call>')),
      );
      expect((await compact.play(task, turns)).reward).toBe(1);
      expect((await compact.play(task, short)).reward).toBe(1);
      expect((await compact.play(task, [])).reward).toBe(0);
    }
  });

  it('pastes withheld functions into the message of the user', async () => {
    const { compact } = await both();
    const task = await compact.task('multi_turn_miss_func_0');
    expect(task.policy).not.toContain('cat(');
    const { nodes } = await compact.play(task, [[], [written(["cat('a.txt')"])]]);
    expect(nodes.filter(({ role }) => role === 'user')[1]!.text).toBe('Here is more.\ncat(file_name: str)');
    expect(nodes.some(({ tools }) => tools)).toBe(false);
  });

  it('is named in reports, and never paired with the official form', async () => {
    const { compact, full } = await both();
    const played = async (stage: typeof full) => [{ ...(await stage.play(await stage.task('multi_turn_base_0'), [])), group: 'g-0' }];
    const [small, official] = [await played(compact), await played(full)];
    expect(reportOf(small, 1, 1).derived).toBe('BFCL-derived, compact');
    expect(reportOf(official, 1, 1)).not.toHaveProperty('derived');
    expect(pairTrials(official.map(resultOf), small.map(resultOf))).toEqual([]);
    const row = (level: string) =>
      ({
        model: { kind: 'model', name: 'x' },
        settings: { domain: 'bfcl-multiturn', level, limits: {}, user: { mode: 'scripted' } },
      }) as EvaluationRow;
    expect(canPair(row('compact'), row('compact'))).toBe(true);
    expect(canPair(row('compact'), row('full'))).toBe(false);
  });

  it('reads the official form only with line breaks, and passes calls on under MUA-RL’s rules', async () => {
    expect(BFCL_RULES.readTurn!('<tool_call>{"name": "ls", "arguments": {}}</tool_call>', { level: 'full' } as never).calls).toEqual([]);
    const domain = { name: 'bfcl-multiturn', benchmark: 'bfcl', terminalTools: [] };
    expect(rulesFor({ ...domain, level: 'compact' }, 'mua_rl').passUnknownTools).toBe(true);
    expect(rulesFor({ ...domain, level: 'full' }, 'mua_rl').passUnknownTools).toBe(false);
  });

  it('is played with calls as text by an agent behind a server', async () => {
    const { tasks, play } = await importedStage(await importBenchmark(fixtureFiles()), 'compact');
    const task = tasks.find(({ id }) => id.endsWith('base_1'))!;
    const { url, requests, close } = await startAgentServer(({ messages }) => ({
      content: messages.at(-1)!.content!.startsWith('<tool_response>') ? 'Done.' : written(['fund_account(50.0)']),
    }));
    expect(await play(task, new ScriptedUsers(customerScripts), url)).toMatchObject({ reward: 1, toolCalls: { fund_account: 1 } });
    close();
    expect(requests.every(({ tools }) => tools === undefined)).toBe(true);
    expect(requests[0]!.messages[0]).toEqual({ role: 'system', content: task.policy });
  });

  it('is a level of BFCL alone', async () => {
    const imported = await importBenchmark(fixtureFiles());
    const levels = importedDomains(async () => ({ id: 'i', imported })).map(({ name, levels }) => [name, levels.join()]);
    expect(levels.filter(([, list]) => list!.includes('compact'))).toEqual([['bfcl-multiturn', 'full,compact']]);
  });
});

if (!hasBfcl) console.warn(`SKIPPED: all entries of BFCL in the compact form: ${bfclFolder} does not exist`);
test.skipIf(!hasBfcl)('800 compact entries: gold passes, and no prompt has more than 4,500 characters', { timeout: 120_000 }, async () => {
  const files = filesOf(bfclFolder).map((path) => [path, readFileSync(join(bfclFolder, path))] as const);
  const { tasks, play } = bfclStage(await importBenchmark(files), 'compact');
  const all = await tasks();
  expect(all).toHaveLength(800);
  const failed: string[] = [];
  let longest = 0;
  for (const task of all) {
    longest = Math.max(longest, task.policy!.length);
    const turns = (task.benchmark as BfclTask).gold.map((calls) => (calls.length > 0 ? [written(calls)] : []));
    if ((await play(task, turns)).reward !== 1) failed.push(task.id);
  }
  expect(failed).toEqual([]);
  expect(longest).toBeLessThan(4500);
});
