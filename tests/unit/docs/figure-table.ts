/**
 * @file Where each figure of the texts comes from. `CLAIMS` has the figures that the bundled results give: each `{}` of a text stands for a
 * value that is computed here from the raw data. `ELSEWHERE` lists the other figures, with the command that measured them.
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { PRESETS } from '../../../src/training/presets.ts';
import {
  calledAgain,
  confirmed,
  confirmedBySeed,
  confirmedGain,
  type Figure,
  gain,
  gainOfAll,
  gains,
  greedy,
  intentFigures,
  intentMinus,
  interaction,
  mean,
  metricBySeed,
  minus,
  minusBySeed,
  minusOfAll,
  offeredMore,
  overSeeds,
  pass,
  passBySeed,
  passOfSeed,
  recorded,
  recordedTimeouts,
  interactionOf42,
  shown,
  shownIntents,
  runsOf,
} from '../../support/bundled-results.ts';
import { FIRST_RUN, plantedRows, TODAY } from '../../support/planted-layers/figures.ts';

const rounded = (value: number, digits: number) =>
  value
    .toFixed(digits)
    .replace(/^-(?=0(\.0)?$)/, '')
    .replace('-', '−');
const one = (value: number) => rounded(value, 1);
const whole = (value: number) => rounded(value, 0);
const sign = (value: number) => (one(value).startsWith('−') || one(value) === '0.0' ? one(value) : `+${one(value)}`);
const ends = ({ low, high }: Figure) => `${one(low)} to ${one(high)}`;
const full = (figure: Figure) => `${one(figure.value)} (${ends(figure)})`;
const signed = (figure: Figure) => `${sign(figure.value)} (${ends(figure)})`;
const WORDS = ['zero', 'one', 'two', 'three', 'four', 'five', 'six', 'seven', 'eight', 'nine', 'ten', 'eleven', 'twelve'];
const word = (value: number) => WORDS[Math.round(value)]!;
const changesMind = (preset: string) => whole(100 * PRESETS[preset]!.config['customers.changes_mind']);

/** The texts whose figures are checked. */
export const TEXTS: readonly string[] = [
  'README.md',
  // `npm run engines` writes engines.md from what it has just run, and `npm run docs` writes cards.md from docs/scorecards,
  // and the tables of judge.md from judge.json.
  ...readdirSync('docs/results').flatMap((name) =>
    ['engines.md', 'cards.md', 'judge.md', 'judge.json'].includes(name) ? [] : [`docs/results/${name}`],
  ),
  ...readdirSync('models', { recursive: true, encoding: 'utf8' }).flatMap((name) => (name.endsWith('README.md') ? [`models/${name}`] : [])),
  ...readdirSync('src/app/home').flatMap((name) => (name.endsWith('.json') ? [] : [`src/app/home/${name}`])),
  'src/app/learn/content.ts',
  'src/app/learn/plan.ts',
  'src/app/lessons/titles.ts',
  'src/training/presets.ts',
];

const RESULTS = 'docs/results/';
const LESSONS = 'src/app/learn/content.ts';
const PLAN = 'src/app/learn/plan.ts';
const GRPO_CARD = 'models/nano-retail-grpo/README.md';

export interface Claim {
  in: string;
  /** A part of the text, with `{}` for each value. */
  text: string;
  values: readonly string[];
}
const claim = (path: string, text: string, ...values: string[]): Claim => ({ in: path, text, values });

/** The arms of the matched controls, and those of the experiments timeouts*.toml: “not run” until there are results for all seeds. */
const ARMS = ['grpo', 'rejection_sampling', 'sft_on_the_runs_customers', 'sft_careful_only', 'start', 'start_greedy', 'guard'];
const SKILLS = [
  ...ARMS.filter((name) => name !== 'start_greedy'),
  'two_guards',
  'careful_demonstrator',
  'brisk_demonstrator',
  'demonstrator_with_both',
  'sft_with_both',
];
const OTHER_STARTS = ['grpo', 'rejection_sampling', 'sft_on_the_runs_customers', 'start'];
const OTHER_WORLDS = [...OTHER_STARTS, 'two_guards'];
const UNSEEN = ['grpo', 'start', 'two_guards', 'careful_demonstrator'];
const TURN_REWARDS = ['grpo', 'rewards_added', 'mt_grpo', 'gtpo'];
const LEFT_OUT = ['start', 'grpo_cancellations', 'grpo_payments', 'grpo_both', 'sft_cancellations', 'sft_payments'];
const SCENARIOS_LONG = ['grpo', 'sft', 'sft_careful_only', 'start'];
const SCENARIOS = ['grpo', 'sft', 'sft_careful_only', 'sft_careful_only_1e-3', 'start', 'careful_demonstrator'];
const NOISE = ['clean', 'noisy_5', 'noisy_15', 'noisy_30', 'checked_30', 'start'];
const hasResults = (experiment: string) => existsSync(`public/experiments/${experiment}.mua-experiment.json`);
const armCells = (
  experiment: string,
  [first, ...others]: readonly string[],
  name: string,
  ...more: ((of: string, arm: string) => Figure)[]
): string[] => {
  if (!hasResults(experiment)) return ['not run', '', ...more.map(() => 'not run')];
  const mark = shown(experiment, others, first).has(name) ? ', shown' : '';
  const minusFirst = name === first ? '' : signed(minus(experiment, name, first)) + mark;
  const figures = more.map((figure) => figure(experiment, name));
  return [
    full(pass(experiment, name)),
    minusFirst,
    ...figures.map((figure) => (figure.low === figure.high ? one(figure.value) : full(figure))),
  ];
};
/** pass^1 in each domain, and its difference from the first arm. Holm's correction is for all differences of all domains. */
const domainCells = (experiment: string, [first, ...others]: readonly string[], domains: readonly string[], name: string): string[] => {
  if (!hasResults(experiment)) return domains.flatMap(() => ['not run', '']);
  const pairs = others.flatMap((arm) => domains.map((domain) => [arm, domain] as const));
  const shown = shownIntents(experiment, pairs, first!);
  return domains.flatMap((domain) => [
    full(intentFigures(experiment, name, domain)[0]),
    name === first ? '' : signed(intentMinus(experiment, name, first!, domain)[0]) + (shown.has(`${name} ${domain}`) ? ', shown' : ''),
  ]);
};
/** A row of a table of arms. @param cells the values after the name and the meaning @param table the table, if the page has several with this arm */
const armRow = (page: string, name: string, cells: readonly string[], table = ''): Claim => {
  const text = readFileSync(RESULTS + page, 'utf8');
  const row = new RegExp(`^\\| \\\`${name}\\\` \\| ([^|]*) \\|`, 'm').exec(text.slice(text.indexOf(table)))!;
  return claim(RESULTS + page, `${row[0]}${' {} |'.repeat(cells.length)}`, ...cells);
};

/** GRPO and rejection sampling in the experiment with 40 steps. */
const SHORT_GRPO = ['3e-4', '1e-3', '2e-3', '3e-3'].flatMap((rate) => [`grpo_${rate}`, `rejection_sampling_${rate}`]);

const ablationRow = (name: string): Claim =>
  claim(
    `${RESULTS}ablation.md`,
    `| \`${name}\` | {} | {} | {} |`,
    full(pass('ablation', name)),
    signed(confirmedGain('ablation', name)),
    signed(minus('ablation', name)),
  );

const nanoRow = (name: string): Claim =>
  claim(
    `${RESULTS}nano.md`,
    `| \`${name}\` | the same | {} | {} | {} | {} | {} |`,
    full(pass('honest', name)),
    signed(gain('honest', name)),
    full(confirmed('honest', name)),
    signed(confirmedGain('honest', name)),
    signed(minus('honest', name)),
  );

const smallRow = (seed: number, i: number): Claim => {
  const change = gains('small', 'grpo')[i]!;
  return claim(
    `${RESULTS}small.md`,
    `| \`grpo\`, ${seed} | {} | {} | {} | {}, {} | {} | {} |`,
    full(passOfSeed('small', 'grpo', seed, 0)),
    full(passOfSeed('small', 'grpo', seed)),
    full(change),
    String(change.gained),
    String(change.lost),
    one(confirmedBySeed('small', 'grpo', 0)[i]!),
    one(confirmedBySeed('small', 'grpo')[i]!),
  );
};
const smallAll = (name: string): Claim => {
  const change = gainOfAll('small', name);
  return claim(
    `${RESULTS}small.md`,
    `| \`${name}\`, all 400 tasks | {} | {} | {} | {}, {} |`,
    one(mean(passBySeed('small', name, 0))),
    one(mean(passBySeed('small', name))),
    full(change),
    String(change.gained),
    String(change.lost),
  );
};

const glimpseRow = (seed: number, i: number): Claim =>
  claim(
    `${RESULTS}glimpse.md`,
    `| ${seed} | {} | {} | {} |`,
    full(passOfSeed('ablation', 'grpo', seed, 0)),
    full(passOfSeed('ablation', 'grpo', seed)),
    full(gains('ablation', 'grpo')[i]!),
  );

const TRAINED = 'nano-retail trained with';
const TOLD = `${TRAINED} customers who tell everything`;
const SCRIPTED = `${TRAINED} the scripted customer`;
const LEARNED = `${TRAINED} the learned customer`;
const KINDS = ['scripted', 'local'] as const;
const less = (a: string, b: string, customer: (typeof KINDS)[number]) => {
  const base = interaction(b, customer);
  return overSeeds(interaction(a, customer).map((value, i) => value - base[i]!));
};
const trainedRow = (label: string, weights: string, bold = ''): Claim => {
  const cells = KINDS.map((customer) => {
    const { value, ...rest } = overSeeds(interaction(weights, customer));
    const mark = bold === customer ? '**' : '';
    return [`${mark}${one(value)}${mark} (${ends({ value, ...rest })})`, signed(less(weights, 'nano-retail', customer))];
  });
  return claim(`${RESULTS}customers.md`, `| ${label} | {} | {} | {} | {} |`, ...cells.flat());
};

const DECADES = [1, 11, 21, 31];
const decades = (name: string, format: (value: number) => string, digits = 1) =>
  DECADES.map((from) => {
    const { value, low, high } = overSeeds(metricBySeed('honest', 'grpo', name, from, from + 9));
    return `${format(value)} (${rounded(low, digits)} to ${rounded(high, digits)})`;
  });

const across = (variant: string) => signed(minus('ablation', variant));
const NEVER = 'customers_never_change_their_mind';
const grpoConfirmed = confirmedBySeed('ablation', 'grpo');
const unasked = overSeeds(
  confirmedBySeed('ablation', NEVER).map((share, i) => share - grpoConfirmed[i]!),
  [-100, 100],
);
const [asked, rejection, oneUpdate, three] = [
  confirmedGain('ablation', NEVER),
  minus('ablation', 'rejection_sampling'),
  minus('ablation', 'rejection_sampling_one_update'),
  minus('ablation', 'grpo_three_updates'),
];
const fewer = intentMinus('left-out-intents', 'sft_cancellations', 'start', 'modify_payment')[0]!;
/** The arms that trained on one kind of request, with the other kind. */
const onOthers = shownIntents(
  'left-out-intents',
  [
    ['grpo_cancellations', 'modify_payment'],
    ['grpo_payments', 'cancel'],
    ['sft_cancellations', 'modify_payment'],
    ['sft_payments', 'cancel'],
  ],
  'start',
);
const smallMinus = minusBySeed('small', 'grpo', 'continued_sft');
const nano42 = [one(interactionOf42('nano-retail').value), ends(interactionOf42('nano-retail'))];
const fiveSeeds = String(runsOf('ablation', 'grpo').length);
const cardSeed = (at: number) => full(passOfSeed('honest', 'grpo', 42, at));

export const CLAIMS: readonly Claim[] = [
  ...ARMS.map((name) =>
    armRow('matched-controls.md', name, [...armCells('matched-controls', ARMS, name), ...armCells('matched-controls-nano', ARMS, name)]),
  ),
  ...SKILLS.map((name) => armRow('timeouts.md', name, armCells('timeouts', SKILLS, name, greedy, confirmed, calledAgain))),
  ...OTHER_STARTS.map((name) =>
    armRow('timeouts.md', name, [
      ...armCells('timeouts-start-2', OTHER_STARTS, name, confirmed),
      ...armCells('timeouts-never', OTHER_STARTS, name, confirmed),
    ]),
  ),
  ...OTHER_WORLDS.map((name) =>
    armRow('timeouts.md', name, [
      ...armCells('timeouts-third', OTHER_WORLDS, name, confirmed, offeredMore),
      ...armCells('timeouts-confused', OTHER_WORLDS, name),
      ...armCells('timeouts-nano', OTHER_WORLDS, name),
    ]),
  ),
  ...UNSEEN.map((name) => armRow('transfer.md', name, armCells('timeouts-unseen', UNSEEN, name, confirmed))),
  ...LEFT_OUT.map((name) =>
    armRow(
      'transfer.md',
      name,
      hasResults('left-out-intents')
        ? ['cancel', 'modify_payment'].flatMap((intent) => intentFigures('left-out-intents', name, intent)).map(full)
        : Array.from({ length: 4 }, () => 'not run'),
    ),
  ),
  ...SCENARIOS.map((name) => armRow('scenarios.md', name, domainCells('scenarios', SCENARIOS, ['rooms', 'library', 'rentals'], name))),
  ...SCENARIOS_LONG.map((name) =>
    armRow(
      'scenarios.md',
      name,
      domainCells('scenarios-long', SCENARIOS_LONG, ['rooms', 'library', 'rentals'], name),
      '<!-- scenarios long -->',
    ),
  ),
  claim(
    `${RESULTS}scenarios.md`,
    'minus GRPO: start {} and `sft` {}, both shown; `sft_careful_only` {}, not shown',
    ...['start', 'sft', 'sft_careful_only'].map((arm) => signed(minus('scenarios-long', arm))),
  ),
  claim(
    `${RESULTS}scenarios.md`,
    'GRPO asks before {} of its writes on rooms, the start before {}.',
    ...['grpo', 'start'].map((arm) => full(intentFigures('scenarios-long', arm, 'rooms')[1])),
  ),
  ...NOISE.map((name) =>
    armRow(
      'simulated-tools.md',
      name,
      ['noise-grpo', 'noise-sft'].flatMap((experiment) => armCells(experiment, NOISE, name)),
    ),
  ),
  ...TURN_REWARDS.map((name) => armRow('turn-rewards.md', name, armCells('turn-rewards', TURN_REWARDS, name, confirmed))),
  ...[`${RESULTS}README.md`, `${RESULTS}matched-controls.md`].map((path) =>
    claim(path, 'rule is {} points better', one(minus('matched-controls', 'guard').value)),
  ),
  claim(
    `${RESULTS}matched-controls.md`,
    'supervised learning from the demonstrator who asks {} points',
    one(minus('matched-controls', 'sft_careful_only').value),
  ),
  claim(
    `${RESULTS}matched-controls.md`,
    'is {} points above the start, but the rule is {} points better than GRPO, and supervised learning from the demonstrator who asks {} points.',
    ...[
      -minus('matched-controls-nano', 'start').value,
      ...['guard', 'sft_careful_only'].map((name) => minus('matched-controls-nano', name).value),
    ].map(one),
  ),
  claim(
    `${RESULTS}timeouts.md`,
    'GRPO ends {} points above the start, which is not shown. Two written rules are {} points better than GRPO.',
    ...[-minus('timeouts-nano', 'start').value, minus('timeouts-nano', 'two_guards').value].map(one),
  ),
  claim(
    `${RESULTS}timeouts.md`,
    'pass^1 is {} %, and it asks before {} % of its writes',
    one(passBySeed('timeouts-start-2', 'rejection_sampling')[0]!),
    whole(confirmedBySeed('timeouts-start-2', 'rejection_sampling')[0]!),
  ),
  ...(
    [
      ['grpo_cancellations', 'modify_payment', 'payments'],
      ['grpo_payments', 'cancel', 'cancellations'],
    ] as const
  ).map(([arm, intent, name]) => {
    const [success, asks] = intentMinus('left-out-intents', arm, 'start', intent);
    const than = intent === 'cancel' ? '' : ' than the start';
    return claim(
      `${RESULTS}transfer.md`,
      `asks before {} points more of the writes of ${name}${than} ({}), and solves {} points more ${name} ({})`,
      ...[asks, success].flatMap((figure) => [one(figure.value), ends(figure)]),
    );
  }),
  claim(
    `${RESULTS}transfer.md`,
    'solves {} points fewer payments than the start ({} to {})',
    one(-fewer.value),
    one(-fewer.high),
    one(-fewer.low),
  ),
  claim(`${RESULTS}transfer.md`, "is shown for {} of them after Holm's correction: GRPO on payments", word(onOthers.size)),
  claim(`${RESULTS}timeouts.md`, 'But it asks for a yes before {} % of its writes.', one(confirmed('timeouts-third', 'grpo').value)),
  claim(
    `${RESULTS}timeouts.md`,
    'one run ended at {} %. Rejection sampling joins',
    one(Math.min(...passBySeed('timeouts-confused', 'grpo'))),
  ),
  claim(
    `${RESULTS}transfer.md`,
    'The start solves {} % of such tasks, and the model after GRPO {} %. A script solves {} %',
    ...['start', 'grpo', 'careful_demonstrator'].map((name) => one(pass('timeouts-unseen', name).value)),
  ),
  claim(`${RESULTS}timeouts.md`, 'GRPO ends {} points above the start', one(-minus('timeouts-never', 'start').value)),
  claim(
    `${RESULTS}timeouts.md`,
    'ended between {} and {} % for GRPO and rejection sampling',
    ...[Math.min, Math.max].map((end) => whole(end(...SHORT_GRPO.map((name) => passBySeed('timeouts-rates-short', name)).flat()))),
  ),
  claim(`${RESULTS}timeouts.md`, 'one of five runs ended at {} %', one(Math.min(...passBySeed('timeouts', 'rejection_sampling')))),
  claim(
    `${RESULTS}timeouts.md`,
    'in {} % of its conversations',
    whole(100 * (1 - PRESETS.timeouts!.config['demonstrators.careful.calls_again'])),
  ),
  claim('README.md', '[about {} percentage points more](docs/results/small.md)', word(gainOfAll('small', 'grpo').value)),

  claim(
    `${RESULTS}README.md`,
    'yes: pass^1 rises by {} points; supervised learning with such customers gains {};',
    ...['grpo', 'sft_on_the_runs_customers'].map((name) => one(gain('timeouts', name).value)),
  ),
  ...(
    [
      ['the start', 'start', 'start'],
      ['GRPO, learning rate 3e-5', null, 'grpo_3e-5'],
      ['GRPO, 1e-4', 'grpo', 'grpo_1e-4'],
      ['rejection sampling, 1e-4', 'rejection_sampling', null],
      ['supervised learning on the run’s customers, 1e-4', 'sft_on_the_runs_customers', 'sft_1e-4'],
      ['a rule that asks before each write', 'guard', 'guard'],
    ] as const
  ).map(([name, of50, of60]) => {
    const figures = [
      ...(of50 ? [full(passOfSeed('smollm2', of50, 50))] : []),
      ...(of60 ? [full(passOfSeed('smollm2-rates', of60, 60))] : []),
    ];
    return claim(`${RESULTS}smollm2.md`, `| ${name} | ${of50 ? '{}' : '–'} | ${of60 ? '{}' : '–'} |`, ...figures);
  }),
  claim(
    `${RESULTS}smollm2.md`,
    'At seed 50, GRPO minus rejection sampling is {} points, minus supervised learning {}, and minus the rule {}. At seed 60, GRPO at 1e-4 minus supervised learning is {}, and minus the rule {}.',
    ...['rejection_sampling', 'sft_on_the_runs_customers', 'guard'].map((other) => full(minusOfAll('smollm2', 'grpo', other))),
    ...['sft_1e-4', 'guard'].map((other) => full(minusOfAll('smollm2-rates', 'grpo_1e-4', other))),
  ),
  claim(
    `${RESULTS}README.md`,
    'yes, in two runs: {} to {} % and {} to {} %; cheaper ways do as well',
    ...['start', 'grpo'].map((variant) => one(passOfSeed('smollm2', variant, 50).value)),
    ...['start', 'grpo_1e-4'].map((variant) => one(passOfSeed('smollm2-rates', variant, 60).value)),
  ),
  claim(`${RESULTS}README.md`, 'yes: pass^1 rises by {} points over three seeds', one(gain('honest', 'grpo').value)),
  claim(`${RESULTS}README.md`, 'pass^1 rises by {} and {} points in two seeds', ...gains('small', 'grpo').map(({ value }) => one(value))),
  claim(`${RESULTS}README.md`, '{} % held-out success', one(interaction('nano-retail', 'scripted')[0]!)),

  ...['with_kl', 'group_of_4', 'customers_never_change_their_mind', 'price_of_unasked_writes', 'rloo'].map(ablationRow),
  ...['rejection_sampling', 'continued_sft', 'rejection_sampling_one_update', 'grpo_three_updates'].map(ablationRow),
  claim(
    `${RESULTS}ablation.md`,
    'confirmed writes end {} points below those of `grpo` ({})',
    one(-unasked.value),
    `${one(-unasked.high)} to ${one(-unasked.low)}`,
  ),
  claim(`${RESULTS}ablation.md`, '| `grpo` | {} | {} | |', full(pass('ablation', 'grpo')), signed(confirmedGain('ablation', 'grpo'))),
  claim(`${RESULTS}ablation.md`, '| `cold_start_only` | {} | | {} |', full(pass('ablation', 'cold_start_only')), across('cold_start_only')),
  claim(`${RESULTS}ablation.md`, '| `rl_only` | {} | | {} |', full(pass('ablation', 'rl_only')), across('rl_only')),

  claim(`${RESULTS}nano.md`, '{} % of the customers change their mind', changesMind('nano')),
  claim(
    `${RESULTS}nano.md`,
    '| `grpo` | {} | {} | {} | {} | {} | |',
    full(pass('honest', 'grpo', 0)),
    full(pass('honest', 'grpo')),
    signed(gain('honest', 'grpo')),
    full(confirmed('honest', 'grpo')),
    signed(confirmedGain('honest', 'grpo')),
  ),
  ...['customers_never_change_their_mind', 'continued_sft', 'rejection_sampling'].map(nanoRow),
  claim(
    `${RESULTS}nano.md`,
    'Confirmed writes rise from {} to {} %',
    one(mean(confirmedBySeed('honest', 'grpo', 0))),
    one(mean(confirmedBySeed('honest', 'grpo'))),
  ),
  claim(
    `${RESULTS}nano.md`,
    '| pass^1, mean, % | {} | {} | {} | {} | {} |',
    ...[0, 1, 2, 3, 4].map((at) => one(mean(passBySeed('honest', 'grpo', at)))),
  ),
  claim(
    `${RESULTS}nano.md`,
    '| confirmed writes, mean, % | {} | {} | {} | {} | {} |',
    ...[0, 1, 2, 3, 4].map((at) => one(mean(confirmedBySeed('honest', 'grpo', at)))),
  ),

  ...[42, 43].map(smallRow),
  ...['grpo', 'continued_sft'].map(smallAll),
  claim(
    `${RESULTS}small.md`,
    'by {} points over all 400 tasks ({}), {} with seed 42 ({}) and {} with seed 43 ({})',
    ...[minusOfAll('small', 'grpo', 'continued_sft'), ...smallMinus].flatMap((figure) => [one(figure.value), ends(figure)]),
  ),
  claim(
    `${RESULTS}small.md`,
    'learns nothing from {} and {} % of the groups',
    ...metricBySeed('small', 'grpo', 'trajectories/valid_query_ratio', 1, 40).map((mixed) => whole(100 * (1 - mixed))),
  ),
  claim(
    `${RESULTS}small.md`,
    'Confirmed writes rise by {} and {} points',
    ...confirmedBySeed('small', 'grpo').map((after, i) => one(after - confirmedBySeed('small', 'grpo', 0)[i]!)),
  ),

  ...[50, 51, 52, 53, 54].map(glimpseRow),
  claim(`${RESULTS}glimpse.md`, '{} % of the customers of this preset change their mind', changesMind('glimpse')),

  claim(
    `${RESULTS}customers.md`,
    '| – (before) | {} |  | {} |  |',
    ...KINDS.map((customer) => full(overSeeds(interaction('nano-retail', customer)))),
  ),
  trainedRow('told everything', TOLD),
  trainedRow('scripted', SCRIPTED, 'scripted'),
  trainedRow('learned', LEARNED, 'local'),
  claim(
    `${RESULTS}customers.md`,
    '| learned − scripted | {} | {} |',
    ...KINDS.map((customer) => signed(less(LEARNED, SCRIPTED, customer))),
  ),

  claim(`${RESULTS}paper.md`, '(`rollout/turns/mean`) | {} | {} | {} | {} |', ...decades('rollout/turns/mean', one)),

  claim(`${RESULTS}customer-faults.md`, 'nano-retail has a pass^1 of {} % ({})', ...nano42),
  claim('models/nano-retail/README.md', '({} % change their mind)', changesMind('nano')),
  claim('models/nano-retail/README.md', 'pass^1 is {} % (95 % interval {})', ...nano42),

  claim('models/small-retail/README.md', '({} % change their mind)', changesMind('small')),
  claim(
    'models/small-retail/README.md',
    'pass^1 is {} % (95 % interval {})',
    one(passBySeed('small', 'grpo', 0)[0]!),
    ends(passOfSeed('small', 'grpo', 42, 0)),
  ),
  claim('models/small-retail/README.md', 'said yes before {} % of the writes', one(confirmedBySeed('small', 'grpo', 0)[0]!)),

  claim(GRPO_CARD, '| 200 tasks of seed 42, in the run | pass^1, % | {} | {} |', cardSeed(0), cardSeed(-1)),
  claim(
    GRPO_CARD,
    '| | confirmed writes, % | {} | {} |',
    one(100 * recorded.metric('val-aux/retail-nano/writes/confirmed_ratio', 0)),
    one(100 * recorded.metric('val-aux/retail-nano/writes/confirmed_ratio', 40)),
  ),
  claim(
    GRPO_CARD,
    '| the same 200 tasks with other sampler seeds | pass^1, % | {} | {} |',
    ...['nano-retail', SCRIPTED].map((name) => full(interactionOf42(name))),
  ),
  claim(GRPO_CARD, '| 48 other tasks (seed 1) | pass^1, % | {} | {} |', full(recorded.pass('before')), full(recorded.pass('after'))),
  claim(
    GRPO_CARD,
    'does not contain the {} % of the first one',
    one(100 * recorded.metric('val-aux/retail-nano/writes/confirmed_ratio', 40)),
  ),
  claim(GRPO_CARD, '{} % of the customers in training change their mind', changesMind('nano')),

  claim(
    LESSONS,
    'with the customer’s yes rose from {} % to {} %',
    whole(100 * recorded.metric('val-aux/retail-nano/writes/confirmed_ratio', 0)),
    whole(100 * recorded.metric('val-aux/retail-nano/writes/confirmed_ratio', 40)),
  ),
  claim(
    LESSONS,
    'Success rose from {} % to {} %: {} trials were gained, {} was lost. The difference is {} points, with a 95 % interval from {} to {}.',
    whole(recorded.pass('before').value),
    whole(recorded.pass('after').value),
    String(recorded.gained),
    String(recorded.lost),
    whole(recorded.gain.value),
    whole(recorded.gain.low),
    whole(recorded.gain.high),
  ),
  claim(
    LESSONS,
    'Here success rose from {} % to {} %. The previous step showed {} %.',
    whole(100 * recorded.metric('val-core/retail-nano/reward/mean@1', 0)),
    whole(100 * recorded.metric('val-core/retail-nano/reward/mean@1', 40)),
    whole(recorded.pass('after').value),
  ),
  claim(LESSONS, 'its interval, {} to {} %', whole(recorded.pass('after').low), whole(recorded.pass('after').high)),
  claim(LESSONS, 'contains {} %', whole(100 * recorded.metric('val-core/retail-nano/reward/mean@1', 40))),
  claim(
    LESSONS,
    'Here GRPO gains {} points (95 % interval {}, {} seeds)',
    one(gain('ablation', 'grpo').value),
    ends(gain('ablation', 'grpo')),
    fiveSeeds,
  ),
  claim(LESSONS, 'yes changes by {} points ({})', sign(asked.value), ends(asked)),
  claim(LESSONS, 'conclude from {} ({})', sign(asked.value), ends(asked)),
  claim(LESSONS, 'They do not fit a rise of {} points', one(confirmedGain('ablation', 'grpo').value)),
  claim(LESSONS, 'The difference from GRPO is {} points ({})', sign(unasked.value), ends(unasked)),
  claim(LESSONS, 'With one update, the difference is {} points ({})', sign(oneUpdate.value), ends(oneUpdate)),
  claim(LESSONS, 'differs from GRPO by {} points (95 % interval {}, {} seeds)', sign(rejection.value), ends(rejection), fiveSeeds),
  claim(LESSONS, 'differs from GRPO by {} points (95 % interval {})', sign(three.value), ends(three)),
  claim(LESSONS, 'its interval is {} points wide', whole(three.high - three.low)),
  claim(LESSONS, 'here {} % of the customers change their mind', changesMind('glimpse')),

  claim(
    LESSONS,
    'Over five seeds, GRPO solves {} % of the held-out tasks (95 % interval {}), and rejection sampling, which imitates the correct rollouts, {} % ({}).',
    ...['grpo', 'rejection_sampling'].map((name) => pass('timeouts', name)).flatMap((figure) => [one(figure.value), ends(figure)]),
  ),
  claim(LESSONS, 'Two rules written by hand solve {} % without training', one(pass('timeouts', 'two_guards').value)),
  claim(
    'src/app/home/Story.svelte',
    'success on held-out tasks rose from {} % to {} %',
    ...[0, 40].map((step) => whole(100 * recordedTimeouts.metric('val-core/retail-glimpse/reward/mean@1', step))),
  ),
  claim(LESSONS, 'served the same {} held-out tasks. Before', String(recordedTimeouts.tasks)),
  claim(
    LESSONS,
    'Before training, {} % of the writes had the customer’s yes, and the agent called again after {} % of the timeouts.',
    whole(recordedTimeouts.asked('before')),
    whole(recordedTimeouts.calledAgain('before')),
  ),
  claim(
    LESSONS,
    'After training, {} % of the writes had a yes, and the agent called again after {} % of the timeouts. Success rose from {} % to {} %.',
    whole(recordedTimeouts.asked('after')),
    whole(recordedTimeouts.calledAgain('after')),
    whole(recordedTimeouts.pass('before').value),
    whole(recordedTimeouts.pass('after').value),
  ),

  claim(
    PLAN,
    'One run gained {} points (95 % interval {} to {}, over {} tasks)',
    ...[recorded.gain.value, recorded.gain.low, recorded.gain.high, 48].map(whole),
  ),
];

/** Figures of a text that no claim has, in the order of the text. */
export interface Elsewhere {
  /** The command that measured them or the words that say where they are from, as the text has it; or the file that asserts or explains them. */
  by: string;
  figures: string;
}
const by = (source: string, figures: string): Elsewhere => ({ by: source, figures });
const AUDIT = 'npx vitest run --project unit tests/unit/users/customer-audit.test.ts';
const OF_NANO = './mua evaluate --model models/nano-retail --tasks 200 --seed 42';
const OF_CUSTOMER = './mua evaluate --model models/nano-retail --user learned --tasks 1000 --seed 42';
const LESSON_TEST = 'tests/unit/app/learn.test.ts';

/** The numbers in the shares of planted conversations. */
const PLANTED = plantedRows(FIRST_RUN, TODAY)
  .flatMap((row) => row.slice(2).flatMap((cell) => cell.match(/[\d.]+/g)))
  .join(' ');

export const ELSEWHERE: Readonly<Record<string, readonly Elsewhere[]>> = {
  [`${RESULTS}README.md`]: [
    by(`${RESULTS}customer-faults.md`, '10.4 96 100 29 30'),
    by(`${RESULTS}speed.md`, '4.3'),
    by(`${RESULTS}benchmarks.md`, '256 256 0.6'),
    by(`${RESULTS}synthesis.md`, '0.3'),
    by(`${RESULTS}page.md`, '1.5'),
    by(`${RESULTS}judge.md`, '95.2 7.0'),
    by('tests/unit/evaluation/coverage.test.ts', '94'),
  ],
  [`${RESULTS}benchmarks.md`]: [by('npx tsx --expose-gc scripts/measure-airline.mts DIR', '256 256 6.3 0.6 1.8 10 0.6')],
  [`${RESULTS}customer-faults.md`]: [
    by(AUDIT, '95 2 100 96.3 100 99 94.6 99.8 96 90.2 98.4 0 0 2.1 0 0 0.3'),
    by(
      'npx vitest run --project unit tests/unit/cli/audit-planted.test.ts',
      '188 188 100 98.0 100 3 209 1.4 0.5 4.1 29 30 96.7 83.3 99.4 2 34 5.9 1.6 19.1 35 23.2 53.7',
    ),
    by(OF_CUSTOMER, '10.4 8.7 12.4 96 742 17 24.5 21.9 27.1'),
    by('--user folder:smollm2-135m-instruct@fp32 --tasks 12 --seed 42', '0 5 3 12 7 12 0 5'),
  ],
  [`${RESULTS}glimpse.md`]: [
    by('npx tsx tests/bench/glimpse.mts --seeds 5 --first 50', '57.0 51.0 8.3 50.9 57.3 21.9 51.3 58.3 25.0 50.9 57.3 22.9 55.0 56.3 27.1'),
    by('[other seeds](../log.md) (60 to 62)', '60 62'),
  ],
  [`${RESULTS}layers.md`]: [by('npx vitest run --project unit tests/unit/cli/layers-planted.test.ts', PLANTED)],
  [`${RESULTS}page.md`]: [
    by('npx tsx tests/bench/dashboard.mts', '0.995 0.022 5.99 4.48 1.5'),
    by('npx tsx tests/bench/keeping.mts --steps 5', '0.28 0.17 0.39'),
    by('npx playwright test --project=speed --no-deps', '104.3 130 0.22 2.4 0.05 0.25 0.08 0.36'),
  ],
  [`${RESULTS}paper.md`]: [
    by('the paper reports', '21 23'),
    by('DIR/grpo/SEED/metrics.jsonl', '25 20 29 33 20 46 40 19 62 42 31 53 3.7 0.6 6.9 2.9 0 6.5 3.7 0 13.1 1.7 0 3.5'),
  ],
  [`${RESULTS}small.md`]: [by('with seed 42', '42 43')],
  [`${RESULTS}smollm2.md`]: [
    by(
      './mua evaluate --model cold-starts/smollm2-135m.gguf',
      '1.0 0.2 5.7 51.0 41.2 60.8 58.3 48.3 67.7 2 139 15 429 2 364 225 240 256 258 13 96 91 96 96 96',
    ),
    by('--set lr=RATE --set lr_warmup_steps=0', '16 23 30 30 24 31 0.047 16 20 23 0.053 16 0 0'),
  ],
  [`${RESULTS}speed.md`]: [
    by(
      'npm run bench:peers -- --rounds 3',
      '2.48 825 10.6 193 4.3 4.1 4.3 2.56 799 1.03 0.99 1.07 49.7 41 20 19 20 7.84 2.67 2.9 6.40 2.47 2.6 1,997 105 19 18 20 5,620 0.36 0.33 0.37 79 12',
    ),
    by(
      'npm run bench:peers:lora',
      '27.7 27.4 38.6 3.0 2.9 3.9 1 1 5.1 4.8 5.6 19 19 22 5.8 4.9 7.6 6.3 5.6 6.7 0.70 0.54 0.76 0.74 0.74 0.77',
    ),
    by(
      './mua bench',
      '808 6.04 79 2,171 4.84 64 255 1,164 1,839 0.58 2.67 4.22 8 35 56 46 7.62 100 117 7.47 98 21 75 95 1.69 6.00 7.59 22 79 100',
    ),
    by('./mua bench --on node --workloads grpo-qwen3-0.6b', '69'),
    by('node scripts/compare-backends.mjs glimpse 6 3', '3.15 4.76 2.16 2.99'),
    by(
      './mua bench --on node` (2026-11-27)',
      '6,908 9,113 1.32 1.31 1.34 15,243 21,192 1.39 1.38 1.39 69 138 1.99 1.98 2.11 570 881 1.55 1.48 1.57 1,168 1,320 1.13 1.12 1.17 2,720 4,373 1.61 1.60 1.63 223,939 247,758 1.11 1.04 1.32 82,596 72,569 0.88 0.78 0.90 22 5',
    ),
    by(
      'scripts/predicted-steps.ts',
      '12 5 2 2.9 14 5.6 8.6 24 9.6 15 1.2 0.56 0.61 59 27 7.5 19 79 21 58 130 36 99 5.6 1.9 3.7 100 52 14 39 160 40 120 270 67 200 11 3.3 7.2',
    ),
  ],
  'models/glimpse-retail/README.md': [by('./mua synthesize --level glimpse --count 4000 --seed 1 --out first.jsonl', '47')],
  [`${RESULTS}transfer.md`]: [
    by(
      'scripts/cross-domain.sh',
      '46.8 42.9 50.8 53.0 41.8 64.2 57.4 49.2 65.6 74.3 27.2 100.0 +27.5 −18.3 73.3 70.5 57.4 83.6 +17.5 −3.0 38.0 75.3 63.1 87.4 50.8 31.3 70.3 +4.0 −14.8 22.8 97.7 95.1 100.0 +44.7 35.9 53.4 98.6 93.9 100.0 84.5 77.6 91.4 +37.7 33.0 42.4 43.7 39.8 47.7 −9.3 −20.0 1.4 53.9 47.1 60.8 37.5 26.9 48.1 −9.3 −16.8 −1.8 96.5 92.0 100.0 +43.5 34.8 52.2 95.9 92.3 99.6 52.5',
    ),
    by(
      'scripts/matrix.sh',
      '35.0 26.4 44.7 2.0 0.6 7.0 7,233 8,192 8,192 8,192 4,305 70.0 60.4 78.1 0.0 0.0 3.7 6,282 8,192 8,192 8,192 3,979 85.0 76.7 90.7 0.0 0.0 3.7 6,282 8,192 8,192 8,192 3,979 44.0 34.7 53.8 5,124 7,366 8,192 8,192 3,557',
    ),
    by(
      'https://arxiv.org/abs/2508.18669',
      '41.0 12.5 19.1 11.8 39.2 49.8 19.0 21.8 14.6 53.3 43.1 14.8 29.9 17.6 60.0 66.0 38.0 33.4 25.3 78.3 50.2 23.5 24.8 19.6 72.5 67.3 45.4 28.3 28.4 82.5',
    ),
  ],
  [`${RESULTS}simulated-tools.md`]: [
    by('./mua scenario fidelity NAME', '900 99.6 100 600 600 147 151 88 93'),
    by('public/experiments/noise-grpo.toml', '5 15 30 30 30'),
  ],
  [`${RESULTS}dpo.md`]: [
    by(
      'scripts/dpo.sh',
      '1 46.5 3 44.5 1 40.0 3 17.0 1 15.0 46.5 41.5 51.5 40.2 34.0 46.4 3 46.5 1 46.5 3 42.5 1 33.0 3 21.5 44.2 37.9 50.4 −2.3 −7.5 2.8 53.5 48.5 58.6 47.3 43.4 51.3 +0.8 −0.6 2.3 39.0 29.2 48.8',
    ),
  ],
  [`${RESULTS}synthesis.md`]: [by('./mua synthesize --domain rooms,library', '2,304 2,194 2,000 1,163 2,647 120 0.3 47 48')],
  [`${RESULTS}timeouts.md`]: [by('models/glimpse-timeouts/README.md', '1.8')],
  'models/glimpse-timeouts/README.md': [by('--set demonstrators.careful.calls_again=0.05 --out first.jsonl', '5 1.8')],
  'models/nano-retail/README.md': [
    by(OF_NANO, '51.5 43.6 59.4'),
    by('./mua sft --model fresh', '80 5.9 800 0.52 1,600 0.26 3,200 0.12 6,400 0.044 11,200 0.021'),
    by(OF_NANO, '18.5 13.7 24.5'),
    by('./mua synthesize --level nano --count 6000 --seed 1', '47'),
  ],
  [GRPO_CARD]: [
    by('./mua evaluate --model models/nano-retail-grpo --tasks 200 --seed 42', '51.5 43.6 59.4 81.8 75.7 87.6'),
    by('./mua evaluate --model models/nano-retail-grpo --tasks 48 --seed 1', '53.8 38.0 68.5 87.5 76.8 96.3'),
  ],
  'models/small-retail/README.md': [by('./mua experiment public/experiments/small.toml', '13 19 8 13 15 27 5 14 5 13')],
  'models/customers/nano-customer/README.md': [
    by(OF_CUSTOMER, '10.4 8.7 12.4'),
    by('At temperature 0.3', '0.3 5.3 3.3 8.5'),
    by(AUDIT, '0.0 0.3 1,260 0.0 0.4'),
  ],
  [LESSONS]: [
    by(LESSON_TEST, '49 51 100 0.3 98 0.3 100 76 76 29 0.3 100 42 60 64 36 3 30 9 42 19 42'),
    by('models/glimpse-timeouts/README.md', '1.8'),
  ],
  'src/app/home/Story.svelte': [by('models/glimpse-timeouts/README.md', '1.8')],
  [PLAN]: [by(LESSON_TEST, '42 60'), by('May you write that the method gains at least 1 point?', '1')],
};
