/** The lessons: every place exists in the recorded runs, and every moment shows what its text says. */
import 'fake-indexeddb/auto';
import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { path } from '../../../src/base/message-path.ts';
import { chartData } from '../../../src/app/charts/charts.ts';
import type { LessonStep, Place } from '../../../src/app/lessons/lesson.ts';
import { Lessons } from '../../../src/app/lessons/lessons.svelte.ts';
import { LESSONS, type LessonId } from '../../../src/app/lessons/titles.ts';
import { parseHash, readQuery } from '../../../src/app/routes/routes.ts';
import { lessonOf } from '../../../src/app/learn/content.ts';
import { FAILURES, seriesOf } from '../../../src/app/learn/failures.ts';
import { EXERCISES, linkTo, PLAN } from '../../../src/app/learn/plan.ts';
import { mean } from '../../../src/evaluation/pass-hat.ts';
import { pairedDifference, pairTrials } from '../../../src/evaluation/paired.ts';
import { calledAgainShare, confirmedShare, resultOf } from '../../../src/evaluation/trial-result.ts';
import { readRunBundle } from '../../../src/exchange/run-bundle.ts';
import { analyse } from '../../../src/experiments/analysis.ts';
import type { Estimate } from '../../../src/experiments/estimate.ts';
import { readExperiment } from '../../../src/experiments/file.ts';
import type { TrialResult } from '../../../src/records/evaluation.ts';
import type { LessonRow } from '../../../src/records/lesson.ts';
import type { Trajectory } from '../../../src/records/trajectory.ts';
import { alarmsOf } from '../../../src/training/alarms.ts';

const bundle = (name: string) => readRunBundle(new Uint8Array(readFileSync(`public/recorded/${name}.mua.zip`)));
const [recorded, timeouts] = await Promise.all([bundle('run'), bundle('timeouts')]);
const bundles = [recorded, timeouts];
const ablation = readExperiment(readFileSync('public/experiments/ablation.mua-experiment.json', 'utf8'), 'ablation');
const rollouts = new Map(recorded.trajectories.map((trajectory) => [trajectory.id, trajectory]));
const trials = new Map(bundles.flatMap((one) => one.trials.map((trial) => [`${trial.evaluation}/${trial.id}`, trial as Trajectory])));
const stepsOf = (id: LessonId) => lessonOf(id).steps;
const placesOf = (step: LessonStep): Place[] => [step, ...(step.predict?.reveal ? [step.predict.reveal] : [])];
const wordsOf = (step: LessonStep) => [...step.text, ...(step.predict?.why ?? [])].join(' ');

/** The conversation that an address shows; undefined if it shows none. @throws if the conversation is not recorded */
function conversationAt(address: string): Trajectory | undefined {
  const { route } = parseHash(address);
  if (route.name !== 'rollout' && route.name !== 'trial') return undefined;
  const found =
    route.name === 'rollout'
      ? bundles.find(({ run }) => run.id === route.run)?.trajectories.find((one) => one.id === route.id)
      : trials.get(`${route.evaluation}/${route.id}`);
  if (!found) throw new Error(`${address}: no such conversation`);
  return found;
}

/** The sampled token at a position: its probability when it was sampled, its advantage and Δp. */
function sampledAt(trajectory: Trajectory, position: number) {
  let start = 0;
  for (const { tokens, mask, logprobs, annotations } of path(trajectory)) {
    const i = position - start;
    if (i < tokens.length) {
      expect(mask[i], `token ${position} is sampled`).toBe(1);
      return { p: Math.exp(logprobs[i]!), advantage: annotations?.advantage?.[i], change: annotations?.delta_p?.[i] };
    }
    start += tokens.length;
  }
  throw new Error(`no token ${position}`);
}

/** The token that the answer of a step shows. */
function revealedToken(step: LessonStep) {
  const { open } = step.predict!.reveal!;
  const { tok } = readQuery('rollout', parseHash(open).query);
  return sampledAt(conversationAt(open)!, tok!);
}

describe.each(LESSONS)('$title', ({ id }) => {
  test.each(stepsOf(id).map((step, i) => ({ step, i })))('step $i: its places exist', ({ step }) => {
    for (const { open } of placesOf(step)) {
      const { route, query } = parseHash(open);
      expect(['run', 'group', 'rollout', 'trial', 'compare', 'failing', 'play', 'experiment']).toContain(route.name);
      if (route.name === 'run' || route.name === 'group' || route.name === 'rollout')
        expect(bundles.map(({ run }) => run.id)).toContain(route.run);
      if (route.name === 'group') {
        const { trajectories, run } = bundles.find((one) => one.run.id === route.run)!;
        expect(trajectories.filter(({ group }) => group === route.group)).toHaveLength(run.config.n);
        for (const pinned of readQuery('group', query).pin.split(',').filter(Boolean))
          expect(rollouts.get(pinned)?.group).toBe(route.group);
      }
      if (route.name === 'compare') {
        const { of, task } = readQuery('compare', query);
        expect(bundles.map(({ evaluations }) => evaluations.map((evaluation) => evaluation.id).join())).toContain(of);
        if (task !== '') expect(recorded.trials.filter((trial) => trial.task.id === task)).toHaveLength(2);
      }
      if (route.name === 'failing') expect(FAILURES.map((failure) => failure.id)).toContain(route.failure);
      if (route.name === 'play') expect(recorded.trials.some((trial) => trial.task.id === route.task)).toBe(true);
      const shown = conversationAt(open);
      if (!shown) continue;
      const { tok, turn, call } = readQuery('rollout', query);
      if (tok !== null) sampledAt(shown, tok);
      if (turn !== null) expect(path(shown).map((node) => node.id)).toContain(turn);
      if (call !== null) expect(path(shown).some(({ toolResult }) => toolResult?.index === call)).toBe(true);
    }
  });

  test('a prediction has different choices, one of which is the answer', () => {
    for (const { predict } of stepsOf(id)) {
      if (!predict) continue;
      expect(new Set(predict.choices).size).toBe(predict.choices.length);
      expect(predict.choices[predict.answer]).toBeDefined();
      expect(predict.why.length).toBeGreaterThan(0);
    }
    expect(stepsOf(id).some(({ predict }) => predict)).toBe(true);
  });
});

test('calls and advantages have the numbers that the page shows', () => {
  const steps = LESSONS.flatMap(({ id }) => stepsOf(id));
  const calls = steps.flatMap((step) => {
    const { call } = readQuery('rollout', parseHash(step.open).query);
    return call === null
      ? []
      : [...`${step.where} ${wordsOf(step)}`.matchAll(/\bcall (\d+)/gi)].map(([, number]) => [Number(number), call + 1]);
  });
  expect(calls.length).toBeGreaterThan(1);
  for (const [said, shown] of calls) expect(said).toBe(shown);
  // Of eight rewards seven are 1: (0 − 0.875) / √(8 · 0.875 · 0.125 / 7) = −2.4749.
  const said = steps.flatMap((step) => [...wordsOf(step).matchAll(/−2\.\d+/g)].map(([text]) => text));
  expect(new Set(said)).toEqual(new Set(['−2.47']));
  expect(recorded.rollouts.find(({ id }) => id === '5-0-2')!.advantage).toBeCloseTo(-2.4749, 3);
});

test('the right choice is not always at the same place', () => {
  const answers = LESSONS.flatMap(({ id }) => stepsOf(id).flatMap(({ predict }) => (predict ? [predict.answer] : [])));
  for (const place of [0, 1]) expect(answers.filter((answer) => answer === place).length).toBeLessThan(0.75 * answers.length);
});

test('An episode: the counts and the choice that it names', () => {
  const nodes = path(rollouts.get('1-0-0')!);
  const masks = nodes.flatMap(({ mask }) => mask);
  const sampled = masks.reduce((sum, value) => sum + value, 0);
  const step = stepsOf('episode').find(({ predict }) => predict?.question.includes('sequence'))!;
  expect(step.predict!.question).toContain(`${masks.length} tokens`);
  expect(step.predict!.choices[step.predict!.answer]).toBe(String(sampled));
  expect(sampledAt(rollouts.get('1-0-0')!, 236).p).toBeCloseTo(0.49, 2);
  expect(nodes.at(-1)!.text + nodes.at(-2)!.text).toContain('###STOP###');
});

test('The reward: what each conversation earned, and a violation that earned 1', () => {
  const [right, wrong, unasked, refused] = stepsOf('reward').map(({ open }) => conversationAt(open)!);
  expect([right, wrong, unasked, refused].map((one) => one!.reward)).toEqual([1, 0, 1, 1]);
  expect(unasked!.violations.map(({ rule }) => rule)).toEqual(['unconfirmed_write']);
  expect(refused!.verdict).toMatchObject({ changes: [], goal: [] });
  const after = recorded.trials.filter(({ evaluation }) => evaluation === 'recorded-after');
  expect(after.filter(({ verdict }) => verdict?.goal.length === 0)).toHaveLength(2);
});

describe('The group and the advantage', () => {
  const rewards = (group: string) => recorded.trajectories.filter((one) => one.group === group).map(({ reward }) => reward!);

  test('the first group is mixed: 3 of 8', () => {
    expect(rewards('1-0').filter((reward) => reward === 1)).toHaveLength(3);
    expect(rewards('1-0').filter((reward) => reward === 0)).toHaveLength(5);
    const [step] = stepsOf('group');
    expect(wordsOf(step!)).toContain(`mean reward is ${mean(rewards('1-0'))}`);
    expect(wordsOf(step!)).toContain(`+${sampledAt(rollouts.get('1-0-0')!, 236).advantage!.toFixed(2)}`);
  });

  test('the second has one wrong rollout, the third none', () => {
    expect(rewards('5-0').filter((reward) => reward === 0)).toHaveLength(1);
    expect(rewards('21-0')).toEqual(Array(8).fill(1));
  });

  test('the share of mixed groups fell as the text says', () => {
    const mixed = (from: number, to: number) =>
      recorded.metrics
        .filter(({ step }) => step >= from && step <= to)
        .reduce((sum, step) => sum + step['trajectories/valid_query_num']!, 0);
    const last = wordsOf(stepsOf('group').at(-1)!);
    expect(last).toContain(`In steps 1 to 5, ${mixed(1, 5)} of 40`);
    expect(last).toContain(`In steps 36 to 40, ${mixed(36, 40)} of 40`);
  });
});

describe('The update, token by token', () => {
  const [fall, rise, decision, ratio] = stepsOf('update') as [LessonStep, LessonStep, LessonStep, LessonStep];

  test('the token of the first answer lost at least a tenth of the probability, the most of all tokens', () => {
    const { p, change, advantage } = revealedToken(fall);
    expect(change).toBeLessThan(-0.1);
    const all = recorded.trajectories.flatMap(({ nodes }) => nodes.flatMap(({ annotations }) => annotations?.delta_p ?? []));
    expect(change).toBe(all.reduce<number>((least, value) => Math.min(least, value ?? 0), 0));
    expect(advantage).toBeLessThan(0);
    expect(wordsOf(fall)).toContain(`fell from ${Math.round(100 * p)} % to ${Math.round(100 * (p + change!))} %`);
  });

  test('the token of the second answer rose by at least a tenth against its advantage', () => {
    const { p, change, advantage } = revealedToken(rise);
    expect(change).toBeGreaterThan(0.1);
    expect(advantage).toBeLessThan(0);
    expect(wordsOf(rise)).toContain(`rose from ${Math.round(100 * p)} % to ${Math.round(100 * (p + change!))} %`);
  });

  test('the third has the largest change of a correct rollout, about three points', () => {
    const { change, advantage } = revealedToken(decision);
    expect(advantage).toBeGreaterThan(0);
    expect(change).toBeGreaterThan(0.02);
    expect(change).toBeLessThan(0.04);
    const all = rollouts.get('5-0-0')!.nodes.flatMap(({ annotations }) => annotations?.delta_p ?? []);
    expect(change).toBe(Math.max(...all.map((value) => Math.abs(value ?? 0))));
  });

  test('ratios are 1 and nothing is clipped', () => {
    const ratios = conversationAt(ratio.open)!.nodes.flatMap(({ annotations }) =>
      (annotations?.ratio ?? []).filter((value) => value !== null),
    );
    expect(ratios.length).toBeGreaterThan(200);
    expect(new Set(ratios)).toEqual(new Set([1]));
    expect(Math.max(...recorded.metrics.map((step) => step['actor/pg_clipfrac'] ?? 0))).toBe(0);
  });
});

describe('When training goes wrong', () => {
  const chart = (failure: string, id: string) => {
    const found = FAILURES.find((one) => one.id === failure)!;
    return chartData(
      found.charts.find((spec) => spec.id === id)!,
      seriesOf(found),
      0,
    ).raw[0]!;
  };

  test('KL and entropy of the first run are charted at every step, and grow out of all proportion', () => {
    const [kl, entropy] = [chart('high-learning-rate', 'kl'), chart('high-learning-rate', 'entropy')];
    for (const values of [kl, entropy]) {
      expect(values).toHaveLength(16);
      expect(values).not.toContain(null);
    }
    const healthy = (name: string) => Math.max(...recorded.metrics.map((step) => step[name] ?? 0));
    expect(healthy('actor/kl_loss')).toBeLessThan(0.04);
    expect(healthy('actor/entropy')).toBeLessThan(0.06);
    expect(kl.at(-1)).toBeGreaterThan(10 * kl[1]!);
    expect(kl.at(-1)).toBeGreaterThan(100 * healthy('actor/kl_loss'));
    expect(Math.max(...entropy.map(Number))).toBeGreaterThan(5 * entropy[0]!);
    expect(chart('high-learning-rate', 'training-reward')[1]).toBe(0);
    expect(chart('high-learning-rate', 'trajectories-valid_query_ratio').findLastIndex((share) => share !== 0)).toBe(7); // step 8
    const words = wordsOf(stepsOf('wrong')[1]!);
    expect(words).toContain(`KL grows from ${kl[1]!.toFixed(2)} nats at step 2 to ${kl.at(-1)!.toFixed(1)} at step 16`);
    expect(words).toContain(
      `to ${Math.max(...entropy.map(Number)).toFixed(2)} nats at step ${entropy.indexOf(Math.max(...entropy.map(Number))) + 1}`,
    );
  });

  test('in the second run the reward and the violations rise together', () => {
    const [reward, violations] = [
      chart('price-on-length-alone', 'training-reward'),
      chart('price-on-length-alone', 'violations-per_write'),
    ];
    const ends = (values: readonly (number | null)[]) => [values.slice(0, 5), values.slice(-5)].map((part) => mean(part.map(Number)));
    const [[from, to], [few, many]] = [ends(reward), ends(violations)] as [[number, number], [number, number]];
    expect(to).toBeGreaterThan(from + 0.05);
    expect(many).toBeGreaterThan(few + 0.2);
    const signed = (value: number) => value.toFixed(2).replace('-', '−');
    expect(wordsOf(stepsOf('wrong')[2]!)).toContain(`from ${signed(from)} in the first five steps to ${signed(to)} in the last five`);
    expect(wordsOf(stepsOf('wrong')[2]!)).toContain(`from ${signed(few)} to ${signed(many)}`);
  });

  test('no group of the third run is mixed', () => {
    expect(chart('greedy-rollouts', 'trajectories-valid_query_ratio')).toEqual(Array(6).fill(0));
    expect(Math.min(...chart('greedy-rollouts', 'training-reward').map(Number))).toBeGreaterThanOrEqual(0.5);
  });

  test('the fourth run swings, with a jump of the gradient', () => {
    const [reward, gradient, cut] = ['training-reward', 'grad-norm', 'response_length-clip_ratio'].map((id) =>
      chart('own-successes-alone', id).map(Number),
    );
    expect(Math.max(...reward!) - Math.min(...reward!)).toBeGreaterThan(0.5);
    expect(gradient![10]).toBe(Math.max(...gradient!));
    expect(gradient![10]).toBeGreaterThan(3.5);
    expect(cut![9]).toBeCloseTo(0.42, 2);
  });

  test('in the fifth run no rollout is correct and no group is mixed after one update', () => {
    const [reward, mixed, cut] = ['training-reward', 'trajectories-valid_query_ratio', 'response_length-clip_ratio'].map((id) =>
      chart('pretrained-high-rate', id),
    );
    expect([reward, mixed]).toEqual([
      [0.5, 0, 0],
      [1, 0, 0],
    ]);
    expect(cut![1]).toBeGreaterThan(0.2);
    const { metrics } = FAILURES.find(({ id }) => id === 'pretrained-high-rate')!;
    expect(alarmsOf(metrics)).toMatchObject([{ rule: 'success_collapse', from: 3 }]);
    expect(metrics.at(-1)!.step).toBe(3);
  });

  test('each run raises an alarm, whose remedies its page shows', () => {
    for (const { metrics } of FAILURES) expect(alarmsOf(metrics).length).toBeGreaterThan(0);
  });
});

describe('The customer', () => {
  const side = (when: string) => recorded.trials.filter(({ evaluation }) => evaluation === `recorded-${when}`);

  test('each shown pair has the same customer, and reward 0 before and 1 after', () => {
    const pairs = stepsOf('customer').flatMap(({ open }) => {
      const { route, query } = parseHash(open);
      return route.name === 'compare' ? [readQuery('compare', query).task] : [];
    });
    expect(pairs).toHaveLength(2);
    for (const task of pairs) {
      const [before, after] = [side('before'), side('after')].map((list) => list.find((trial) => trial.task.id === task)!);
      expect([before!.reward, after!.reward]).toEqual([0, 1]);
      expect(before!.userSeed).toBe(after!.userSeed);
    }
  });

  test('the shown customers are of the kinds that the text names', () => {
    const personas = stepsOf('customer').map(({ open }) => conversationAt(open)?.task.scenario.persona);
    expect(personas.filter(Boolean)).toEqual(['changes_mind', 'on_request']);
  });

  test('the numbers by kind', () => {
    const served = (when: string, fickle: boolean) => {
      const list = side(when).filter((trial) => (trial.task.scenario.persona === 'changes_mind') === fickle);
      return [list.filter(({ reward }) => reward === 1).length, list.length];
    };
    const words = wordsOf(stepsOf('customer')[1]!);
    const [[a, all], [b], [c, others], [d]] = [
      served('before', true),
      served('after', true),
      served('before', false),
      served('after', false),
    ] as [number[], number[], number[], number[]];
    expect(words).toContain(
      `Of the ${all} held-out customers who change their mind, ${a} were served correctly before training and ${b} after`,
    );
    expect(words).toContain(`Of the ${others} other customers, ${c} were served correctly before training and ${d} after`);
  });
});

test('Tools and the database: the calls that failed, and the one that wrote', () => {
  const failed = rollouts.get('5-0-2')!;
  const results = path(failed).flatMap(({ toolResult }) => (toolResult ? [toolResult] : []));
  expect(results).toHaveLength(5);
  expect(results.every(({ error, changes }) => error && changes.length === 0)).toBe(true);
  expect(failed.parseErrors).toBe(7);
  const wrote = path(rollouts.get('5-0-0')!).flatMap(({ toolResult }) => (toolResult ? [toolResult.changes.length] : []));
  expect(wrote.slice(0, 3)).toEqual([0, 0, 0]);
  expect(wrote[3]).toBeGreaterThan(0);
});

describe('Reading a result honestly', () => {
  const points = (share: number) => (100 * share).toFixed(1).replace('-', '−');
  const analysis = analyse(ablation.experiment, ablation.runs);
  const figures = (name: string) => analysis.variants.find((variant) => variant.name === name)!.figures;
  const words = stepsOf('honest').map(wordsOf);

  test('the evaluations before and after', () => {
    const of = (when: string) => recorded.trials.filter(({ evaluation }) => evaluation === `recorded-${when}`).map(resultOf);
    const found = pairedDifference(pairTrials(of('before'), of('after')))!;
    const whole = (share: number) => (100 * share).toFixed(0);
    expect(words[0]).toContain(
      `from ${whole(found.before)} % to ${whole(found.after)} %: ${found.better} trials were gained, ${found.worse} was lost`,
    );
    expect(words[0]).toContain(`${whole(found.difference)} points, with a 95 % interval from ${whole(found.low)} to ${whole(found.high)}`);
    expect(found.low).toBeGreaterThan(0);
  });

  test('the gain of GRPO, and customers who teach nothing', () => {
    const gain = figures('grpo').gain!;
    expect(words[2]).toContain(`${points(gain.value)} points (95 % interval ${points(gain.low)} to ${points(gain.high)}, 5 seeds)`);
    const asked = figures('customers_never_change_their_mind').confirmed_gain!;
    expect(words[2]).toContain(`+${points(asked.value)} points (${points(asked.low)} to ${points(asked.high)})`);
    expect(asked.low * asked.high).toBeLessThan(0);
    expect(words[2]).toContain(`${points(figures('grpo').confirmed_gain!.value)} points`);
    const confirmed = (name: string) =>
      ablation.runs.filter(({ variant }) => variant === name).map((run) => run.evaluations.at(-1)!.figures.confirmed_writes!);
    const [never, grpo] = [confirmed('customers_never_change_their_mind'), confirmed('grpo')];
    const gap = never.reduce((sum, share, i) => sum + share - grpo[i]!, 0) / never.length;
    expect(words[2]).toContain(`The difference from GRPO is ${points(gap)} points`);
  });

  test('one comparison has unequal updates, the other is not shown', () => {
    const difference = (variant: string) => analysis.comparisons.find((one) => one.variant === variant)!.difference!;
    const [better, equal, unsure] = ['rejection_sampling', 'rejection_sampling_one_update', 'grpo_three_updates'].map(difference) as [
      Estimate,
      Estimate,
      Estimate,
    ];
    expect(words[3]).toContain(
      `by +${points(better.value)} points (95 % interval ${points(better.low)} to ${points(better.high)}, 5 seeds). The interval is above 0`,
    );
    expect(words[3]).toContain(
      `by ${points(unsure.value)} points (95 % interval ${points(unsure.low)} to ${points(unsure.high)}). The interval contains 0`,
    );
    expect(words[3]).toContain(
      `With one update, the difference is +${points(equal.value)} points (${points(equal.low)} to ${points(equal.high)})`,
    );
    expect(better.low).toBeGreaterThan(0);
    expect(equal.low * equal.high).toBeLessThan(0);
    expect(unsure.low * unsure.high).toBeLessThan(0);
  });
});

describe('Two skills that hardly anyone showed together', () => {
  const [careful, brisk, group, shares] = stepsOf('skills') as [LessonStep, LessonStep, LessonStep, LessonStep];
  const texts = (step: LessonStep) => path(conversationAt(step.open)!).map(({ text }) => text);
  const TIMEOUT = 'Error: timeout, perhaps not done';
  const groupOf = (id: string) => timeouts.trajectories.filter((one) => one.group === id);
  const asked = ({ violations }: Trajectory) => violations.every(({ rule }) => rule !== 'unconfirmed_write');
  /** True if each timeout was followed by a call. */
  const calledAgain = (one: Trajectory) => {
    const agents = path(one).filter(({ role, text }) => role === 'assistant' || text === TIMEOUT);
    const met = agents.flatMap(({ text }, i) => (text === TIMEOUT ? [agents[i + 1]] : []));
    return met.length > 0 && met.every((next) => next?.toolCall !== undefined);
  };

  test('the careful rollout asks and claims success after a lost call; the brisk one writes, calls again and fails', () => {
    const [claimed, unasked] = [careful, brisk].map((step) => conversationAt(step.open)!) as [Trajectory, Trajectory];
    expect([claimed.reward, unasked.reward]).toEqual([0, 0]);
    expect(texts(careful).findIndex((text) => text.includes('Yes or no?'))).toBeLessThan(texts(careful).indexOf(TIMEOUT));
    expect(claimed.verdict!.changes).toEqual([]);
    expect(path(claimed).find(({ id }) => id === 11)!.text).toContain('Done.');
    expect(unasked.task.scenario.persona).toBe('changes_mind');
    expect(asked(unasked)).toBe(false);
    expect(calledAgain(unasked)).toBe(true);
    expect(texts(brisk)[texts(brisk).findLastIndex((text) => text === TIMEOUT) + 4]).toContain('"status":"cancelled"');
    expect(path(unasked).find(({ id }) => id === 13)!.text).toMatch(/^Wait, .*instead/);
  });

  test('in the group, only the rollouts with both skills are correct; each skill alone fails', () => {
    const { route } = parseHash(group.open);
    const members = groupOf((route as { group: string }).group);
    expect(members.map((one) => asked(one) && calledAgain(one))).toEqual(members.map(({ reward }) => reward === 1));
    expect(members.some((one) => asked(one) && !calledAgain(one))).toBe(true);
    expect(members.some((one) => !asked(one) && calledAgain(one))).toBe(true);
    // The advantage is the reward minus the mean, divided by the standard deviation of the sample.
    const right = members.filter(({ reward }) => reward === 1).length;
    const share = right / members.length;
    const deviation = Math.sqrt((members.length * share * (1 - share)) / (members.length - 1));
    const words = wordsOf(group);
    const COUNTS = ['none', 'One rollout is', 'Two rollouts are', 'Three rollouts are', 'Four rollouts are'];
    expect(words).toContain(`${COUNTS[right]} correct`);
    expect(words).toContain(`+${((1 - share) / deviation).toFixed(2)}`);
    expect(words).toContain(`−${(share / deviation).toFixed(2)}`);
  });

  test('two other groups teach one skill each', () => {
    const skill = (id: string, has: (one: Trajectory) => boolean) => {
      expect(wordsOf(group)).toContain(`group ${id}`);
      const right = groupOf(id).filter(({ reward }) => reward === 1);
      expect(right.length).toBeGreaterThan(0);
      expect(right.length).toBeLessThan(8);
      return right.every(has);
    };
    expect(skill('1-3', calledAgain)).toBe(true);
    expect(skill('1-5', (one) => asked(one) && path(one).some(({ text }) => text.includes('Yes or no?')))).toBe(true);
  });

  test('both shares rose', () => {
    const [before, after] = timeouts.evaluations.map(({ id }) =>
      timeouts.trials.filter(({ evaluation }) => evaluation === id).map(resultOf),
    ) as [TrialResult[], TrialResult[]];
    expect(confirmedShare(after)!).toBeGreaterThan(confirmedShare(before)! + 0.05);
    expect(calledAgainShare(after)!).toBeGreaterThan(calledAgainShare(before)! + 0.05);
    expect(wordsOf(shares)).toContain(`the same ${before.length} held-out tasks`);
  });
});

describe('an open lesson', () => {
  const begin = () => {
    const [kept, opened]: [LessonRow[], string[]] = [[], []];
    const lessons = new Lessons({ put: async (row) => void kept.push(row) }, (address) => opened.push(address));
    return { lessons, kept, opened };
  };

  test('opens the place of each step, then the place of the answer', () => {
    const { lessons, opened } = begin();
    const [first, second] = stepsOf('update');
    lessons.start(lessonOf('update'));
    lessons.choose(1);
    expect(lessons.choice).toBe(1);
    expect(lessons.focus).toEqual(['token']);
    lessons.next();
    expect(lessons.choice).toBeNull();
    expect(opened).toEqual([first!.open, first!.predict!.reveal!.open, second!.open]);
  });

  test('scrolls to its first spot, unless the address names a token', () => {
    const { lessons } = begin();
    lessons.start(lessonOf('update'));
    lessons.choose(0);
    expect(lessons.lead).toBeUndefined();
    lessons.start(lessonOf('group'));
    expect(lessons.lead).toBe('group-task');
    lessons.choose(0);
    expect(lessons.lead).toBe('group-picture');
  });

  test('asks until a choice, and points only to what it shows meanwhile', () => {
    const { lessons } = begin();
    lessons.start(lessonOf('group'));
    expect(lessons.asks?.show).toEqual(['group-task']);
    expect(lessons.focus).toEqual(['group-task']);
    lessons.choose(2);
    expect([lessons.asks, lessons.focus]).toEqual([null, ['group-picture']]);
    lessons.next();
    expect(lessons.asks).not.toBeNull();
    lessons.start(lessonOf('group'), 4);
    expect([lessons.asks, lessons.focus]).toEqual([null, ['chart-groups']]);
  });

  test('ends after its last step, keeps that, and can go back', () => {
    const { lessons, kept } = begin();
    const { steps } = lessonOf('reward');
    lessons.start(lessonOf('reward'), steps.length - 1);
    lessons.next();
    expect(lessons.ended).toBe(true);
    expect(lessons.focus).toEqual([]);
    expect(kept.at(-1)).toEqual({ id: 'reward', step: 0, finished: true });
    lessons.back();
    expect(lessons.ended).toBe(false);
    expect(lessons.at).toBe(steps.length - 1);
    lessons.close();
    expect(lessons.step).toBeNull();
  });
});

describe('the teacher’s plan', () => {
  test('takes 45 minutes and links to places of the lessons', () => {
    expect(PLAN.reduce((sum, { minutes }) => sum + minutes, 0)).toBe(45);
    const places = new Set(LESSONS.flatMap(({ id }) => stepsOf(id).flatMap((step) => placesOf(step).map(({ open }) => open))));
    const moments = [...PLAN.flatMap((row) => row.moments), ...EXERCISES.map(({ moment }) => moment)];
    for (const moment of moments) expect(places).toContain(linkTo(moment).address);
    expect(EXERCISES).toHaveLength(6);
  });

  test('the exercise computes the advantages that the group has', () => {
    const rewards = recorded.trajectories.filter(({ group }) => group === '1-0').map(({ reward }) => reward!);
    expect(EXERCISES[0]!.question).toContain(rewards.join(', '));
    for (const id of ['1-0-0', '1-0-2']) {
      const advantage = path(rollouts.get(id)!).flatMap(
        ({ annotations }) => annotations?.advantage?.find((value) => value !== null) ?? [],
      )[0]!;
      expect(EXERCISES[0]!.answer).toContain(`${advantage > 0 ? '+' : '−'}${Math.abs(advantage).toFixed(2)}`);
    }
  });
});
