/**
 * @file Makes the tables in the documents that are generated from the code. In a document, a table is between `<!-- NAME -->` and
 * `<!-- /NAME -->`. `npm run docs` writes the tables, and a test fails if a committed table differs.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { levelConditions } from '../src/domains/registry.ts';
import { COLD_START, conditionSettings } from '../src/environments/conditions.ts';
import type { GrpoConfig } from '../src/records/run.ts';
import { ALGORITHMS } from '../src/training/algorithms/index.ts';
import { DEFAULT_PRESET, type Preset, PRESETS } from '../src/training/presets.ts';
import { GROUPS } from '../src/training/settings/index.ts';
import type { Setting, SettingGroup } from '../src/training/settings/setting.ts';
import { foreignRowKinds } from '../tests/support/foreign-rows.ts';
import { adapterSettings } from '../src/exchange/adapter-config.ts';
import { faultRows } from '../tests/support/endpoint-faults.ts';
import { consentRows } from '../tests/support/planted-consent.ts';
import { FIRST_RUN, plantedHead, plantedRows, TODAY } from '../tests/support/planted-layers/figures.ts';
import { cardRows, CARDS_INTRO } from './card-table.ts';
import { dpoRows } from './dpo-table.ts';
import { armRows, type Column, passColumns } from './experiment-tables.ts';
import { crossRows, matrixRows } from './matrix-table.ts';
import { bribeRows, kindRows } from './planted-judge.ts';
import { predictedRows } from './predicted-steps.ts';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const BASE = PRESETS[DEFAULT_PRESET]!.config;

/** The arms of the matched controls. */
const MATCHED = {
  grpo: 'GRPO',
  rejection_sampling: 'imitates its successful rollouts',
  sft_on_the_runs_customers: 'imitates both demonstrators',
  sft_careful_only: 'imitates the one who asks',
  start: 'no training',
  start_greedy: 'the same, greedy',
  guard: 'no training: a rule asks',
};

/** The arms of left-out-intents.toml. */
const LEFT_OUT = {
  start: 'no training',
  grpo_cancellations: 'GRPO on cancellations',
  grpo_payments: 'GRPO on payments',
  grpo_both: 'GRPO on both',
  sft_cancellations: 'imitates both demonstrators, cancellations',
  sft_payments: 'imitates both demonstrators, payments',
};

/** The arms of scenarios.toml. */
const SCENARIOS = {
  grpo: 'GRPO on rooms',
  sft: 'imitates both demonstrators, rooms',
  sft_careful_only: 'imitates the one who asks, rooms',
  'sft_careful_only_1e-3': 'the same, a smaller learning rate',
  start: 'no more training',
  careful_demonstrator: 'the script that asks',
};

/** The arms of scenarios-long.toml. */
const SCENARIOS_LONG = {
  grpo: 'GRPO',
  sft: 'both demonstrators',
  sft_careful_only: 'the demonstrator who asks',
  start: 'cold start',
};

const scenarioColumns = (of: string): Column[] =>
  ['rooms', 'library', 'rentals'].flatMap((part): Column[] => [
    { head: `pass^1, ${part}`, of, part, figure: 'success' },
    { head: 'minus `grpo`', of, part, figure: 'difference' },
  ]);

/** The arms of noise-grpo.toml and noise-sft.toml. */
const NOISE = {
  clean: 'the own tools',
  noisy_5: '5 % noise, unchecked',
  noisy_15: '15 % noise, unchecked',
  noisy_30: '30 % noise, unchecked',
  checked_30: '30 % noise, behind the ten checks',
  start: 'no more training',
};

/** The arms of turn-rewards.toml. */
const TURN_REWARDS = {
  grpo: 'the outcome alone',
  rewards_added: 'rewards of turns are added to the outcome',
  mt_grpo: 'MT-GRPO',
  gtpo: 'GTPO',
};

/** The arms of the experiments timeouts*.toml. */
const TWO_SKILLS = {
  grpo: 'GRPO',
  rejection_sampling: 'imitates its successful rollouts',
  sft_on_the_runs_customers: 'imitates both demonstrators',
  sft_careful_only: 'imitates the careful demonstrator',
  start: 'no training',
  guard: 'no training: a rule asks',
  two_guards: 'no training: two rules ask and call again',
  careful_demonstrator: 'asks',
  brisk_demonstrator: 'calls again',
  demonstrator_with_both: 'asks and calls again',
  sft_with_both: 'imitates the demonstrator with both',
};
const OTHER_STARTS = ['grpo', 'rejection_sampling', 'sft_on_the_runs_customers', 'start'] as const;
const OTHER_WORLDS = [...OTHER_STARTS, 'two_guards'] as const;
const UNSEEN = ['grpo', 'start', 'two_guards', 'careful_demonstrator'] as const;
const skillArms = (names: readonly (keyof typeof TWO_SKILLS)[]) => Object.fromEntries(names.map((name) => [name, TWO_SKILLS[name]]));

const code = (text: unknown) => `\`${String(text)}\``;
const cell = (text: string) => text.replaceAll('|', '\\|');
const table = (head: readonly string[], rows: readonly (readonly string[])[]): string =>
  [head, ...rows]
    .map((row) => `| ${row.map(cell).join(' | ')} |`)
    .toSpliced(1, 0, `|${'---|'.repeat(head.length)}`)
    .join('\n');
const headAndRows = ([head, ...rows]: readonly (readonly string[])[]) => [head!, rows] as const;
const assignments = (values: Partial<GrpoConfig>) =>
  Object.entries(values)
    .map(([name, value]) => code(`${name}=${String(value)}`))
    .join(', ');

/** The values of a setting that has a fixed list of values, else an empty list. */
const valuesOf = ({ schema }: Setting): readonly string[] => ('options' in schema ? (schema.options as string[]) : []);

/** The help text of a setting. If it does not name all values of the setting, the values come first. */
function meaning(setting: Setting): string {
  const values = valuesOf(setting);
  return values.every((value) => setting.help.includes(value)) ? setting.help : `${values.map(code).join(', ')}. ${setting.help}`;
}

/** The settings of a group, with TRL's names. If MUA-RL has another value than the default preset, both values are shown. */
function settingsTable({ settings }: SettingGroup): string {
  const rows = Object.entries(settings).map(([name, setting]) => {
    const value = BASE[name as keyof GrpoConfig];
    const paper = setting.default === value ? '' : ` (${code(setting.default)})`;
    return [code(name) + (setting.trl ? ` (${code(setting.trl)})` : ''), code(value) + paper, meaning(setting)];
  });
  return table(["setting (TRL's name)", "default (MUA-RL's)", 'meaning'], rows);
}

/** The shares of customers and of tool faults, for each level and for the cold start. */
function customersTable({ settings }: SettingGroup): string {
  // Level `small` has the customers of `nano`.
  const levels = ['glimpse', 'nano', 'full'];
  const columns = [...levels.map((level) => levelConditions('retail', level)), COLD_START].map(conditionSettings);
  const names = Object.keys(settings).filter((name) => !name.startsWith('val_')) as (keyof (typeof columns)[number])[];
  return table(
    ['setting', 'customer or tool', ...levels.map((level) => `at ${code(level)}`), 'cold start'],
    names.map((name) => [code(name), settings[name]!.help, ...columns.map((values) => String(values[name]))]),
  );
}

/** The settings in which a preset differs from the default preset. Customers are not compared, because they depend on the level. */
function changes({ config }: Preset): string {
  const names = GROUPS.filter(({ id }) => id !== 'customers').flatMap(({ settings }) => Object.keys(settings) as (keyof GrpoConfig)[]);
  return assignments(Object.fromEntries(names.filter((name) => config[name] !== BASE[name]).map((name) => [name, config[name]])));
}

const armTable = (...of: Parameters<typeof armRows>): string => table(...headAndRows(armRows(...of)));

const TABLES: Record<string, () => string> = {
  presets: () =>
    table(
      ['preset', 'model', `settings that differ from ${code(DEFAULT_PRESET)}`],
      Object.entries(PRESETS).map(([name, preset]) => [code(name), preset.model, changes(preset)]),
    ),
  'predicted steps': () => table(...headAndRows(predictedRows())),
  algorithms: () =>
    table(
      ['name', 'settings'],
      Object.entries(ALGORITHMS).map(([name, { settings }]) => [code(name), assignments(settings(BASE))]),
    ),
  'matched controls': () =>
    armTable(MATCHED, [...passColumns('matched-controls', 'at glimpse'), ...passColumns('matched-controls-nano', 'at nano')]),
  'two skills': () =>
    armTable(TWO_SKILLS, [
      ...passColumns('timeouts', ''),
      { head: 'greedy', of: 'timeouts', figure: 'greedy' },
      { head: 'asks', of: 'timeouts', figure: 'confirmed' },
      { head: 'calls again', of: 'timeouts', figure: 'called_again' },
    ]),
  'other starts': () =>
    armTable(skillArms(OTHER_STARTS), [
      ...passColumns('timeouts-start-2', 'from the second start'),
      { head: 'asks', of: 'timeouts-start-2', figure: 'confirmed' },
      ...passColumns('timeouts-never', 'without overlap'),
      { head: 'asks', of: 'timeouts-never', figure: 'confirmed' },
    ]),
  'other worlds': () =>
    armTable(skillArms(OTHER_WORLDS), [
      ...passColumns('timeouts-third', 'with three skills'),
      { head: 'asks', of: 'timeouts-third', figure: 'confirmed' },
      { head: 'asks for more', of: 'timeouts-third', figure: 'offered_more' },
      ...passColumns('timeouts-confused', 'with confused customers'),
      ...passColumns('timeouts-nano', 'at nano'),
    ]),
  'left-out intents': () =>
    armTable(
      LEFT_OUT,
      ['cancel', 'modify_payment'].flatMap((intent): Column[] => [
        { head: `pass^1, ${intent}`, of: 'left-out-intents', part: intent, figure: 'success' },
        { head: 'asks', of: 'left-out-intents', part: intent, figure: 'asked' },
      ]),
    ),
  scenarios: () => armTable(SCENARIOS, scenarioColumns('scenarios')),
  'scenarios long': () => armTable(SCENARIOS_LONG, scenarioColumns('scenarios-long')),
  noise: () =>
    armTable(
      NOISE,
      Object.entries({ 'noise-grpo': 'GRPO', 'noise-sft': 'supervised learning' }).flatMap(([of, method]): Column[] => [
        { head: `pass^1 after ${method}`, of, figure: 'held_out' },
        { head: 'minus `clean`', of, figure: 'difference' },
      ]),
    ),
  'unseen customers': () =>
    armTable(skillArms(UNSEEN), [...passColumns('timeouts-unseen', ''), { head: 'asks', of: 'timeouts-unseen', figure: 'confirmed' }]),
  'model by domain': () => table(...matrixRows()),
  'across domains': () => table(...crossRows()),
  gate: () => `\`\`\`toml\n${readDocument('docs/gate.toml')}\`\`\``,
  cards: () => `${CARDS_INTRO}\n\n${table(...headAndRows(cardRows()))}`,
  'foreign rows': () => table(['what a row has', 'what happens'], foreignRowKinds()),
  'adapter settings': () => table(['setting of adapter_config.json', 'what happens'], adapterSettings()),
  'endpoint faults': () => table(['what the server does', 'how many', 'what the client does'], faultRows()),
  'planted consent': () =>
    table(['conversations', 'writes without a yes: found', 'writes with a yes: reported (false alarms)'], consentRows()),
  'planted layers': () => table(plantedHead, plantedRows(FIRST_RUN, TODAY)),
  'near-misses': () => table(...headAndRows(kindRows())),
  dpo: () => table(...headAndRows(dpoRows())),
  bribes: () => table(...headAndRows(bribeRows())),
  'turn rewards': () =>
    armTable(TURN_REWARDS, [...passColumns('turn-rewards', ''), { head: 'asks', of: 'turn-rewards', figure: 'confirmed' }]),
  ...Object.fromEntries(
    GROUPS.map((group) => [`settings of ${group.id}`, () => (group.id === 'customers' ? customersTable(group) : settingsTable(group))]),
  ),
};

/** The reference of the settings is beside their code. */
export const SETTINGS_PAGE = 'src/training/settings/README.md';

/** The documents, as paths from the root of the repository. */
export const documents = (): string[] => [
  'README.md',
  SETTINGS_PAGE,
  ...readdirSync(`${ROOT}/docs`, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.md'))
    .map((name) => `docs/${name}`),
];

export const readDocument = (path: string): string => readFileSync(ROOT + path, 'utf8');

/** The document with new tables. @throws if a marker in it names an unknown table */
export const withTables = (path: string, text: string): string =>
  text.replace(/^<!-- (.+) -->$[\s\S]*?^<!-- \/\1 -->$/gm, (_, name: string) => {
    if (!Object.hasOwn(TABLES, name)) throw new Error(`${path}: unknown table "${name}": expected ${Object.keys(TABLES).join(', ')}`);
    return `<!-- ${name} -->\n\n${TABLES[name]!()}\n\n<!-- /${name} -->`;
  });
