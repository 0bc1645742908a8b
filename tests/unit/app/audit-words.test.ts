/** Texts of the page and of the reports about conversations in domains without an audit. */
import { render } from 'svelte/server';
import { describe, expect, test } from 'vitest';
import type { Trajectory } from '../../../src/records/trajectory.ts';
import TrialFacts from '../../../src/app/evals/TrialFacts.svelte';
import Violations from '../../../src/app/conversation/transcript/Violations.svelte';
import { noViolations, violationCount } from '../../../src/app/labels/labels.ts';
import { reportOf } from '../../../src/evaluation/report.ts';
import { rolloutMetrics } from '../../../src/training/metrics.ts';
import { task } from '../../support/episodes.ts';

const played = (domain: string, violations: Trajectory['violations'] = []) =>
  ({
    id: '1-0-0',
    task: { ...task, id: `${domain}/nano/train/0/0`, domain },
    group: '1-0',
    index: 0,
    nodes: [{ id: 0, parent: null, role: 'system', text: '', tokens: [1], mask: [0], logprobs: [null] }],
    leaf: 0,
    termination: 'user_stop',
    turns: 3,
    reward: 1,
    verdict: null,
    violations,
    toolCalls: {},
    parseErrors: 0,
    seconds: { generate: 0, tool: 0, user: 0 },
  }) as unknown as Trajectory;
const broken: Trajectory['violations'] = [{ rule: 'unconfirmed_write', call: 0, detail: 'x' }];

describe.each(['tau1-airline', 'tau2-airline', 'tau2-mock'])('%s is not audited', (domain) => {
  test('in the report and the metrics', () => {
    expect(reportOf([played(domain)], 1, 0).violations).toBeNull();
    expect(rolloutMetrics([[played(domain)]])).not.toHaveProperty('violations/ratio');
  });
  test('on the page, for stored conversations too', () => {
    expect(noViolations(domain)).toBe('Not audited: the rules of this domain are not checked.');
    const row = { task: 'retail/nano/train/1/0', violations: 0, domain };
    expect(violationCount(row)).toBeNull();
    expect(violationCount({ task: `${domain}/full/train/1/0`, violations: [] })).toBeNull();
    expect(violationCount(played(domain))).toBeNull();
    expect(render(Violations, { props: { of: row, word: true } }).body).toContain('not audited');
    expect(render(TrialFacts, { props: { trajectory: played(domain) } }).body).toContain(noViolations(domain));
  });
});

test('retail is audited: no violation means that no rule was broken', () => {
  expect(reportOf([played('retail')], 1, 0).violations).toEqual({});
  expect(reportOf([played('retail', broken)], 1, 0).violations).toEqual({ unconfirmed_write: 1 });
  expect(rolloutMetrics([[played('retail'), played('retail', broken)]])).toMatchObject({ 'violations/ratio': 0.5 });
  expect(violationCount({ task: 'retail/nano/train/1/0', violations: 2, domain: 'retail' })).toBe(2);
  const mark = (violations: Trajectory['violations']) =>
    render(Violations, { props: { of: played('retail', violations), word: true } }).body;
  expect(mark([])).not.toContain('violation');
  expect(mark(broken)).toMatch(/⚑1.*, 1 policy violation</);
  expect(mark([...broken, ...broken])).toContain('2 policy violations');
  const words = (violations: Trajectory['violations']) => render(TrialFacts, { props: { trajectory: played('retail', violations) } }).body;
  expect(words([])).toContain('No rule was broken.');
  expect(words(broken)).not.toContain('No rule was broken.');
});
