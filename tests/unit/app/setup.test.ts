/** The configuration in the address of home. */
import { describe, expect, test } from 'vitest';
import { FIELD_GROUPS } from '../../../src/app/setup/fields.ts';
import { problemText } from '../../../src/app/setup/problem-text.ts';
import { REWARD_EXAMPLES } from '../../../src/app/setup/reward-examples.ts';
import { algorithmQuery, choicesOf, conditionsQuery, readSetup, settingQuery, trlName } from '../../../src/app/setup/setup.ts';
import { conversationsOf, runTime } from '../../../src/app/setup/run-time.ts';
import { presetOf, saysNothing, settingTexts } from '../../../src/app/setup/texts.ts';
import { runConditions } from '../../../src/app/labels/conditions.ts';
import { href, parseHash, readQuery } from '../../../src/app/routes/routes.ts';
import { algorithmOf, ALGORITHMS, withAlgorithm } from '../../../src/training/algorithms/index.ts';
import { grpoConfig } from '../../../src/training/config.ts';
import { PAPER } from '../../../src/training/defaults.ts';
import { PRESETS, SOONEST_PRESET } from '../../../src/training/presets.ts';
import { rewardFrom } from '../../../src/training/rewards.ts';

const read = (hash: string) => settingTexts(readQuery('home', parseHash(hash).query));

describe('an address', () => {
  test('contains settings, preset, seed and model, and gives the same configuration', () => {
    const address = href({ name: 'home' }, { preset: 'tiny', seed: 7, model: 'm', lr: '3e-4', use_kl_loss: 'false' });
    expect(read(address)).toEqual({ lr: '3e-4', use_kl_loss: 'false' });
    const { config, overrides, problems } = readSetup('tiny', { ...read(address), seed: '7' });
    expect(problems).toEqual({});
    expect(overrides).toEqual({ seed: 7, lr: 3e-4, use_kl_loss: false });
    expect(config).toEqual(grpoConfig('tiny', overrides));
  });

  test('without settings gives the preset', () => {
    expect(read('#/')).toEqual({});
    expect(readSetup('nano', {})).toMatchObject({ config: PRESETS.nano!.config, overrides: {}, given: {} });
  });

  test('on another domain has what is set, also if the preset has the same, and else what is usual there', () => {
    // At glimpse retail, "timeouts" has tools.timeouts 0.8 and half upfront customers. Library's customers are 38 % upfront.
    const place = { domain: 'library', level: 'nano' };
    const usual = readSetup('timeouts', place);
    expect(usual.config).toMatchObject({ 'tools.timeouts': 0, 'customers.upfront': 0.38, 'val_customers.upfront': 0.38 });
    const { config, overrides } = readSetup('timeouts', { ...place, 'tools.timeouts': '0.8', 'tools.outages': '0.1' });
    expect(config).toMatchObject({ 'tools.timeouts': 0.8, 'tools.outages': 0.1, 'val_tools.outages': 0, 'customers.upfront': 0.38 });
    // The run starts with the preset and the overrides.
    expect(grpoConfig('timeouts', overrides)).toEqual(config);
    const half = { 'customers.upfront': '0.5', 'customers.changes_mind': '0.5' };
    const halves = readSetup('timeouts', { ...place, ...half });
    expect(halves.config).toMatchObject({ 'customers.upfront': 0.5, 'customers.pushy': 0, 'val_customers.upfront': 0.38 });
    expect(grpoConfig('timeouts', halves.overrides)).toEqual(halves.config);
  });

  test('accepts TRL’s names and stores verl’s names', () => {
    expect(readSetup('nano', { learning_rate: '0.001', epsilon: '0.3' })).toMatchObject({
      overrides: { lr: 0.001, clip_ratio_low: 0.3, clip_ratio_high: 0.3 },
      given: { lr: '0.001' },
    });
    expect(trlName('lr')).toBe('learning_rate');
    expect(trlName('domain')).toBeUndefined();
  });

  test('omits invalid settings with a reason, and keeps the other settings', () => {
    const { config, problems, unknown } = readSetup('nano', { lr: 'fast', n: '4', train_batch_size: '-1', bogus: '1', constructor: '1' });
    expect(problems).toEqual({
      lr: expect.stringContaining('"lr" is "fast": expected a number'),
      train_batch_size: expect.stringContaining('train_batch_size'),
    });
    expect(problemText(problems.lr!)).toBe('Learning rate is “fast”: expected a number.');
    expect(problemText(problems.train_batch_size!)).toMatch(/^Tasks per step is “-1”: .+\.$/);
    expect(problemText('customers.* sum to 0.5: expected 1')).toBe('customers.* sum to 0.5: expected 1.');
    expect(config).toEqual({ ...PRESETS.nano!.config, n: 4 });
    expect(unknown).toEqual(['bogus', 'constructor']);
  });

  test('settings that need each other are read together, in any order', () => {
    for (const texts of [
      { ppo_mini_batch_size: '6', train_batch_size: '12' },
      { train_batch_size: '12', ppo_mini_batch_size: '6' },
    ]) {
      expect(readSetup('nano', texts)).toMatchObject({ problems: {}, overrides: { train_batch_size: 12, ppo_mini_batch_size: 6 } });
    }
    expect(readSetup('nano', { ppo_mini_batch_size: '5' }).problems.ppo_mini_batch_size).toMatch(/divisor/);
  });
});

describe('customers', () => {
  const base = PRESETS.nano!.config;
  const nano = runConditions(base, 'train');
  const moved = { ...nano, customers: { ...nano.customers, upfront: 0.2, on_request: 0.12 } };
  const written = {
    'customers.upfront': '0.2',
    'customers.on_request': '0.12',
    'customers.changes_mind': '0.55',
    'customers.pushy': '0.1',
    'customers.impossible': '0.03',
    'customers.confused': '0',
    'customers.reserved': '0',
    'tools.outages': '0',
    'tools.stale_reads': '0',
    'tools.timeouts': '0',
  };

  test('are all written to the address, and removed if they are the default of the setup', () => {
    expect(conditionsQuery('nano', {}, 'train', moved)).toEqual(written);
    expect(Object.keys(conditionsQuery('nano', {}, 'val', moved))).toEqual(Object.keys(written).map((name) => `val_${name}`));
    const texts = { lr: '0.01', ...written };
    expect(Object.values(conditionsQuery('nano', texts, 'train', nano))).toEqual(Object.keys(written).map(() => ''));
    // Another level has another default, so the shares of nano are a choice there.
    expect(conditionsQuery('nano', { level: 'full' }, 'train', nano)).toMatchObject({ 'customers.upfront': '0.19' });
  });

  test('come back from the address, and from the overrides of a run, at any level', () => {
    for (const [level, conditions] of [
      ['nano', moved],
      ['full', nano],
    ] as const) {
      const { config, overrides, problems } = readSetup('nano', { level, ...conditionsQuery('nano', { level }, 'train', conditions) });
      expect(problems).toEqual({});
      expect(runConditions(config, 'train')).toEqual(conditions);
      expect(grpoConfig('nano', overrides)).toEqual(config);
    }
  });

  test('that sum to more than 1 are a problem', () => {
    const { problems } = readSetup('nano', { 'customers.pushy': '0.7', 'customers.upfront': '0.6' });
    expect(Object.values(problems)).toEqual([expect.stringContaining('sum to 1.3: expected at most 1')]);
  });
});

test('the examples of the reward: without a price, breaking a rule earns as much as asking', () => {
  const totals = (overrides: Record<string, string>) =>
    REWARD_EXAMPLES.map(({ facts }) => rewardFrom(facts, grpoConfig('nano', overrides)).total);
  expect(totals({})).toEqual([1, 0, 1, 0]);
  expect(totals({ 'reward.partial': '0.5', 'reward.unconfirmed_write': '0.25', 'reward.handover': '0.5' })).toEqual([1.5, 0.25, 1, -0.5]);
});

describe('a change', () => {
  test('is written to the address, and removed if it equals the preset', () => {
    expect(settingQuery('nano', 'lr', ' 0.01 ')).toEqual({ learning_rate: '', lr: '0.01' });
    expect(settingQuery('nano', 'n', String(PRESETS.nano!.config.n))).toMatchObject({ n: '', num_generations: '' });
  });
});

describe('an algorithm', () => {
  /** The address after choosing algorithms one after the other. */
  const choose = (preset: string, start: Record<string, string>, ...names: string[]) =>
    names.reduce((texts, name) => {
      const query = { ...texts, ...algorithmQuery(preset, name, readSetup(preset, texts).config) };
      return Object.fromEntries(Object.entries(query).filter(([, text]) => text !== ''));
    }, start);

  /** The algorithms of a preset. In a domain without rewards of turns, turn-level algorithms are refused. */
  const algorithms = (preset: string) =>
    Object.keys(ALGORITHMS).filter((name) => preset !== 'question' || !['mt-grpo', 'gtpo'].includes(name));

  test.each(Object.keys(PRESETS).flatMap((preset) => algorithms(preset).map((name) => [preset, name])))(
    'in preset %s, %s is written to the address and recognised, after any other',
    (preset, name) => {
      for (const before of algorithms(preset)) {
        const { config, problems } = readSetup(preset, choose(preset, {}, before, name));
        expect(problems).toEqual({});
        expect(algorithmOf(preset, config)).toBe(name);
        expect(config).toMatchObject(ALGORITHMS[name]!.settings(config));
      }
    },
  );

  test('keeps other settings, and its values follow the batch', () => {
    const texts = choose('nano', { train_batch_size: '12', lr: '0.001' }, 'gspo');
    expect(readSetup('nano', texts).config).toMatchObject({ lr: 0.001, train_batch_size: 12, ppo_mini_batch_size: 3, loss_mode: 'gspo' });
    expect(choose('nano', texts, 'grpo')).toEqual({ train_batch_size: '12', lr: '0.001', ppo_mini_batch_size: '12' });
  });

  test('the preset’s algorithm needs no setting, and a changed one is no algorithm', () => {
    expect(choose('nano', {}, 'dapo', 'grpo')).toEqual({});
    expect(algorithmOf('nano', PRESETS.nano!.config)).toBe('grpo');
    expect(algorithmOf('nano', { ...PRESETS.nano!.config, clip_ratio_high: 0.3 })).toBeUndefined();
  });

  test('of the command line applies before --set', () => {
    expect(grpoConfig('nano', withAlgorithm('dapo', 'nano', { epsilon_high: '0.4' }))).toMatchObject({
      clip_ratio_c: 10,
      clip_ratio_high: 0.4,
    });
    expect(grpoConfig('nano', withAlgorithm('gspo', 'nano', { train_batch_size: '16' }))).toMatchObject({ ppo_mini_batch_size: 4 });
    expect(() => withAlgorithm('ppo', 'nano', {})).toThrow('unknown algorithm "ppo"; known: grpo, dr-grpo, rloo');
  });
});

test('Setup has every setting once; the seed is above the settings', () => {
  const names = FIELD_GROUPS.flatMap(({ fields }) => fields.map(({ name }) => name));
  expect([...names, 'seed'].sort()).toEqual(Object.keys(PAPER).sort());
  for (const { fields, summary } of FIELD_GROUPS) {
    expect(summary(PAPER)).not.toMatch(/undefined|NaN/);
    for (const { help } of fields) expect(help.length).toBeGreaterThan(8);
  }
});

test('settings with few values list their values', () => {
  expect(choicesOf('use_kl_loss')).toEqual(['true', 'false']);
  expect(choicesOf('lr_scheduler_type')).toEqual(['constant', 'linear', 'cosine']);
  expect(choicesOf('lr')).toBeNull();
  expect(choicesOf('domain')).toBeNull();
});

test('an address that chooses nothing gets the preset that shows learning soonest; every other keeps its meaning', () => {
  const of = (hash: string) => readQuery('home', parseHash(hash).query);
  expect(['#/', '#/?setup=1', '#/?seed=7', '#/?model=m', '#/?lr=1', '#/?preset=tiny'].map((hash) => saysNothing(of(hash)))).toEqual([
    true,
    true,
    false,
    false,
    false,
    false,
  ]);
  expect(['#/?lr=1', '#/?preset=small', '#/?preset=constructor'].map((hash) => presetOf(of(hash)))).toEqual(['nano', 'small', 'nano']);
  // Of all presets that were timed, a whole run with this one is the shortest.
  const times = Object.entries(PRESETS).flatMap(([name, { config }]) => {
    const time = runTime(name, config, null);
    return time ? [{ name, seconds: time.seconds }] : [];
  });
  expect(times.length).toBeGreaterThan(1);
  expect(times.sort((a, b) => a.seconds - b.seconds)[0]!.name).toBe(SOONEST_PRESET);
});

describe('the time of a run', () => {
  // 10 · 6 · 8 rollouts, and 96 trials before training and after step 10.
  const { config } = PRESETS.glimpse!;

  test('counts rollouts and trials of evaluations', () => {
    expect(conversationsOf(config)).toBe(10 * 6 * 8 + 2 * 96);
    expect(conversationsOf({ ...config, total_training_steps: 11 })).toBe(11 * 48 + 3 * 96);
    expect(conversationsOf({ ...config, val_tasks: 0 })).toBe(480);
    expect(conversationsOf({ ...config, test_freq: 0 })).toBe(480 + 2 * 96);
    // A run without steps evaluates once.
    expect(conversationsOf({ ...config, test_freq: 0, total_training_steps: 0 })).toBe(96);
    // The address is not checked yet: a count that walks through these steps would never end.
    const endless = { total_training_steps: 1e12, train_batch_size: 1, n: 1, test_freq: 1e11, val_tasks: 2, val_before_train: true };
    expect(conversationsOf(endless)).toBe(1e12 + 11 * 2);
  });

  test('comes from a run with the preset, else from the pace of another preset, else from times measured elsewhere', () => {
    // Five runs of 672 conversations took 51 to 57 s on two cores.
    const elsewhere = runTime('glimpse', config, null)!;
    expect(elsewhere.here).toBe(false);
    expect(elsewhere.seconds).toBeGreaterThan(50);
    expect(elsewhere.seconds).toBeLessThan(58);
    // Here 48 rollouts took 12 s: 0.25 s each.
    expect(runTime('glimpse', config, { preset: 'glimpse', config, stepSeconds: 12 })).toEqual({ seconds: 672 * 0.25, here: true });
    // 64 rollouts at nano took 13.44 s: 0.21 s each, half of the 0.42 s that were measured elsewhere.
    const nano = { preset: 'nano', config: PRESETS.nano!.config, stepSeconds: 13.44 };
    expect(runTime('glimpse', config, nano)!.seconds).toBeCloseTo(elsewhere.seconds / 2, 6);
    expect(runTime('lora', PRESETS.lora!.config, nano)).toBeNull();
    expect(runTime('lora', PRESETS.lora!.config, null)).toBeNull();
  });
});
