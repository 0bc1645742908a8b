/** Recorded conversations with an error that is no text. */
import { expect, it } from 'vitest';
import { readTau1Results } from '../../../src/benchmarks/tau1/recorded-results.ts';
import { readTau2Results } from '../../../src/benchmarks/tau2/recorded-results.ts';

const error = { message: 'rate limit', status: 429 };
const JSON_TEXT = '{"message":"rate limit","status":429}';

it('tau-bench: the error is its JSON, and the reward 0 does not count', () => {
  const recorded = (info: object) => readTau1Results('f', [{ task_id: 1, trial: 0, reward: 0, traj: [], info } as never])[0]!;
  expect(recorded({ error })).toMatchObject({ error: JSON_TEXT, reward: null });
  expect(recorded({ error: 'no network' })).toMatchObject({ error: 'no network', reward: null });
  expect(recorded({ error: '' })).toMatchObject({ reward: 0 });
});

it('tau2-bench: the error is its JSON, after the ending', () => {
  const simulation = { id: 's', task_id: '1', trial: 0, termination_reason: 'infrastructure_error', messages: [], reward_info: null };
  const [recorded] = readTau2Results('f', { tasks: [], simulations: [{ ...simulation, info: { error } }] } as never);
  expect(recorded).toMatchObject({ error: `infrastructure_error: ${JSON_TEXT}`, reward: null });
});
