/** BFCL's classes and checkers against the results of the original Python code. */
import { expect, test } from 'vitest';
import { checkResponse, type Response, settingOf } from '../../../../src/domains/multiturn/check.ts';
import type { BfclData } from '../../../../src/benchmarks/bfcl/data.ts';
import { Instances } from '../../../../src/domains/multiturn/instances.ts';
import { shortText } from '../../../../src/benchmarks/bfcl/replay.ts';
import { portableState, stateHash } from '../../../../src/domains/multiturn/portable.ts';
import { Dict } from '../../../../src/python/values.ts';
import { bfclFolder, expectedBfcl, hasBfcl, readFolder, sha256 } from '../../../support/bfcl-data.ts';

if (!hasBfcl) console.warn(`SKIPPED: BFCL against its original code: ${bfclFolder} and ../expected do not exist`);
const reference = test.skipIf(!hasBfcl);

interface Run {
  name: string;
  response?: string[][][];
  patch?: Record<string, string[][]>;
  verdict: Record<string, unknown>;
}
interface ExpectedEntry {
  id: string;
  initial_state_sha256_js: string;
  turns: { calls: string[]; results: unknown[]; state_sha256_js: string }[];
  initial_state?: unknown;
  final_state?: unknown;
  runs: Run[];
}

let loaded: Promise<BfclData> | undefined;
const data = () => (loaded ??= readFolder(bfclFolder));

/** A state whose long texts are shortened. */
const shortState = (value: unknown): unknown =>
  JSON.parse(JSON.stringify(value), (_key, child: unknown) => (typeof child === 'string' ? shortText(child, 1500) : child)) as unknown;
const short = (texts: string[] | undefined, most: number) => texts?.map((text) => shortText(text, most));

reference('400 entries: states and results after the gold calls', async () => {
  const bfcl = await data();
  const wrong: unknown[] = [];
  const { entries } = expectedBfcl<{ entries: ExpectedEntry[] }>('multi_turn');
  expect(entries).toHaveLength(400);
  for (const { id, initial_state_sha256_js, turns, initial_state, final_state } of entries) {
    const entry = bfcl.entries.get(id)!;
    const gold = new Instances(settingOf(entry), bfcl.tables);
    const differ = (what: string, ours: unknown, theirs: unknown) => {
      if (JSON.stringify(ours) !== JSON.stringify(theirs)) wrong.push({ id, what, ours, theirs });
    };
    differ('initial', stateHash(gold.state(), sha256), initial_state_sha256_js);
    if (initial_state) expect(shortState(portableState(gold.state()))).toEqual(initial_state);
    for (const [i, turn] of turns.entries()) {
      differ(`calls ${i}`, entry.gold[i], turn.calls);
      differ(
        `results ${i}`,
        short(
          turn.calls.map((call) => gold.run(call).text),
          1500,
        ),
        turn.results,
      );
      differ(`state ${i}`, stateHash(gold.state(), sha256), turn.state_sha256_js);
    }
    if (final_state) expect(shortState(portableState(gold.state()))).toEqual(final_state);
  }
  expect(wrong.slice(0, 5)).toEqual([]);
});

reference('12,701 verdicts', { timeout: 60_000 }, async () => {
  const bfcl = await data();
  const wrong: unknown[] = [];
  let count = 0;
  for (const { id, runs } of expectedBfcl<{ entries: ExpectedEntry[] }>('multi_turn').entries) {
    const entry = bfcl.entries.get(id)!;
    for (const { name, response, patch, verdict } of runs) {
      const steps: Response = response ?? entry.gold.map((calls, i) => patch?.[String(i)] ?? (calls.length ? [calls] : []));
      const { missing_items, ...ours } = checkResponse(bfcl, entry, steps).verdict;
      const own = { ...ours, ...(missing_items && { missing_items: short(missing_items, 300) }) };
      count += 1;
      try {
        expect(own).toEqual(verdict);
      } catch {
        wrong.push({ id, name, own, verdict });
      }
    }
  }
  expect(wrong.slice(0, 5)).toEqual([]);
  expect(count).toBe(12_701);
});

interface Sequence {
  class: string;
  config_of: string | null;
  long_context?: boolean;
  tag: string;
  calls: string[];
  results: unknown[];
  state_sha256_js: string;
  python_text?: number[];
  python_only?: number[];
  unordered?: number[];
}

const anyOrder = (text: unknown) => [...String(text)].sort().join('');

reference('3,005 hostile calls', async () => {
  const bfcl = await data();
  const wrong: unknown[] = [];
  const { cases } = expectedBfcl<{ cases: Sequence[] }>('adversarial');
  expect(cases.flatMap(({ calls }) => calls)).toHaveLength(3005);
  for (const one of cases) {
    const source = one.config_of === null ? undefined : bfcl.entries.get(one.config_of)!;
    const setting = { involved: [one.class], config: source?.config ?? new Dict(), longContext: one.long_context ?? false };
    const object = new Instances(setting, bfcl.tables);
    const results = one.calls.map((call) => object.run(call));
    for (const [i, { text, error }] of results.entries()) {
      const wanted = one.results[i];
      const ok =
        one.python_only?.includes(i) || one.python_text?.includes(i)
          ? error
          : one.unordered?.includes(i)
            ? anyOrder(text) === anyOrder(wanted)
            : JSON.stringify(shortText(text, 1500)) === JSON.stringify(wanted);
      if (!ok) wrong.push({ class: one.class, tag: one.tag, call: one.calls[i], text, wanted });
    }
    if (!one.python_only && stateHash(object.state(), sha256) !== one.state_sha256_js)
      wrong.push({ class: one.class, tag: one.tag, calls: one.calls, what: 'state', results });
  }
  expect(wrong.slice(0, 8)).toEqual([]);
});
