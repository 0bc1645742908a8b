/** Noise is found by the checks at the rate at which it is injected, and the code of each bundled scenario has no finding. */
import { describe, expect, it } from 'vitest';
import { GENERATED } from '../../../../src/domains/registry.ts';
import { type Answerer, CONTRADICTIONS } from '../../../../src/records/answerer.ts';
import { type Counted, fidelity } from '../../../../src/scenarios/simulated/fidelity.ts';
import { openAnswerer } from '../../../../src/scenarios/simulated/index.ts';
import { simulatedToy } from '../../../support/simulated.ts';

const ALL = await Promise.all(
  GENERATED.flatMap(({ name, scenario }) => (scenario ? [scenario().then((own) => [name, own] as const)] : [])),
);
const SCENARIOS = ALL.filter(([, { scenario }]) => !scenario.host);

/** With a plan that also lists lockers, so that an order can be wrong. */
const LOCKERS = simulatedToy((toy) => toy.blueprints[0].reads.push({ tool: 'list_lockers', arguments: { owner: 'person.id' } }));

const measure = async (own: Parameters<typeof openAnswerer>[0], answerer: Answerer, tasks: number) =>
  fidelity(own, openAnswerer(own, answerer).simulator, { level: own.scenario.levels.at(-1)!, tasks, seed: 1 });
const share = ({ count, of }: Counted) => count / of;

it.each(SCENARIOS)('the code of %s agrees with itself, and no check refuses it', async (_, own) => {
  const report = await measure(own, { kind: 'code' }, 6);
  expect(report.calls).toBeGreaterThan(15);
  expect(report.found.of).toBe(0);
  expect(report.false_alarms.count).toBe(0);
  for (const { text, rows } of report.table) expect([text.count, rows.count]).toEqual([text.of, text.of]);
});

it('a scenario whose server answers has no other answerer', () => {
  const [, desk] = ALL.find(([name]) => name === 'desk')!;
  expect(() => openAnswerer(desk, { kind: 'code' })).toThrow(
    "host: the scenario's MCP server answers its tools: expected a scenario without host",
  );
});

describe('noise', () => {
  it('comes at its rate, is found, and no right answer is refused', async () => {
    const own = SCENARIOS.find(([name]) => name === 'library')![1];
    const { calls, found, false_alarms: alarms, by_kind: kinds, table } = await measure(own, { kind: 'noisy', rate: 0.3, seed: 1 }, 24);
    // Three standard deviations of a share of 0.3.
    expect(Math.abs(found.of / calls - 0.3)).toBeLessThan(3 * Math.sqrt((0.3 * 0.7) / calls));
    expect(share(found)).toBeGreaterThanOrEqual(0.95);
    expect(alarms.count).toBe(0);
    expect(Object.values(kinds).reduce((sum, { of }) => sum + of, 0)).toBe(found.of);
    // What the checks accept is what the code says.
    for (const { accepted } of table) expect([accepted.text.count, accepted.rows.count]).toEqual([accepted.text.of, accepted.text.of]);
  });

  it.each(CONTRADICTIONS)('of the kind %s is found wherever it can be made', async (kind) => {
    const { by_kind: kinds, false_alarms: alarms } = await measure(LOCKERS, { kind: 'noisy', rate: 1, seed: 2, kinds: [kind] }, 10);
    expect(kinds[kind]!.of).toBeGreaterThan(0);
    expect(kinds[kind]!.count).toBe(kinds[kind]!.of);
    expect(alarms.count).toBe(0);
  });

  it('changes a row inside an object', async () => {
    const nested = simulatedToy(({ tools }) => {
      const get = tools.find(({ name }: { name: string }) => name === 'get_locker');
      get.result = `{"found": ${get.result}}`;
      get.returns = { type: 'object', properties: { found: get.returns }, required: ['found'] };
    });
    const { by_kind: kinds } = await measure(nested, { kind: 'noisy', rate: 1, seed: 2, kinds: ['wrong_value'] }, 10);
    expect(kinds.wrong_value!.count).toBe(kinds.wrong_value!.of);
    expect(kinds.wrong_value!.of).toBeGreaterThan(0);
  });

  it('that no check can find is counted as different, and not as found', async () => {
    const report = await measure(LOCKERS, { kind: 'noisy', rate: 1, seed: 2, kinds: ['miscounted'] }, 10);
    // The rent of a new locker is the only value that the code computes.
    expect(report.by_kind.miscounted).toMatchObject({ count: 0 });
    expect(report.found).toMatchObject({ count: 0, of: report.by_kind.miscounted!.of });
    expect(share(report.table[1]!.accepted.rows)).toBeLessThan(1);
  });

  it('is the same for the same seed', async () => {
    const play = (seed: number) => measure(LOCKERS, { kind: 'noisy', rate: 0.5, seed }, 10);
    expect(await play(1)).toEqual(await play(1));
    expect(await play(1)).not.toEqual(await play(2));
  });
});
