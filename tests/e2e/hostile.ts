/** Texts that would run code or add elements on a careless page, files full of such texts, and checks of a page that shows them. */
import { readFileSync } from 'node:fs';
import { expect, type Page } from '@playwright/test';
import { zipSync } from 'fflate';
import { loadTokenizer } from '../../src/agent/tokenizer.ts';
import type { Tau2Task } from '../../src/benchmarks/tau2/task.ts';
import type { SharedBranch, SharedEvaluation, SharedRun } from '../../src/records/bundle.ts';
import type { EvaluationRow } from '../../src/records/evaluation.ts';
import type { Json } from '../../src/records/json.ts';
import type { RolloutSummary } from '../../src/records/rollout.ts';
import type { GrpoConfig } from '../../src/records/run.ts';
import type { RowChange, Task, ToolCall, UserScenario } from '../../src/records/task.ts';
import type { MessageNode, Trajectory, UserCall } from '../../src/records/trajectory.ts';
import { BEFORE, REWARD_INFO } from '../gallery/samples.ts';
import { sha256 } from '../../src/base/sha256.ts';
import { checked } from '../../src/exchange/checked.ts';
import { evaluationSchema, rolloutSchema, runSchema } from '../../src/exchange/run-schema.ts';
import { trajectorySchema } from '../../src/exchange/trajectory-schema.ts';
import { grpoConfig } from '../../src/training/config.ts';
import { summarize } from '../../src/trainer/summary.ts';
import { type Data, tau2Retail } from '../support/benchmark-data.ts';

/** Texts that do something if a page takes them for more than text. Most set `owned`. The comment is never closed, so it is the last. */
export const CORPUS = {
  image: '<img src=x onerror="self.owned=1">',
  vector: '<svg onload=self.owned=1>',
  link: '[here](javascript:self.owned=1)',
  script: '<script>self.owned=1</script>',
  frame: '<iframe srcdoc="<script>parent.owned=1</script>"></iframe>',
  style: '"></style><style>main{display:none}</style>',
  template: '{@html owned} ${self.owned=1} {{owned}}',
  turned: '\u202egnp.exe\u200b\u200d\u2066',
  wide: 'W'.repeat(300),
  comment: '<!-- ',
} as const;

/** A text for fields of any length. */
export const ALL = Object.values(CORPUS).join(' ');
/** A text for fields of at most 200 characters. */
const SHORT = [CORPUS.image, CORPUS.link, CORPUS.script, CORPUS.turned].join(' ');
/** A text for names of files, which contain no slash. */
export const FILE = [CORPUS.image, CORPUS.vector, CORPUS.link].join(' ');
/** A text for ids, which contain no invisible characters. */
export const NAME = `${FILE} ${CORPUS.script}`;

/** Made by JSON.parse, because in a literal `__proto__` would not be an ordinary key. */
const KEYS = JSON.parse(JSON.stringify({ [ALL]: ALL, proto: { owned: 1 } }).replace('"proto"', '"__proto__"')) as Record<string, Json>;

/** A copy whose texts are `ALL`, `SHORT`, `NAME` or the image, whichever `accepts` allows. The fields in `keep` do not change. */
function poisoned<T extends object>(value: T, accepts: (candidate: T) => void, keep: readonly string[] = []): T {
  const copy = structuredClone(value);
  let said = 0;
  const visit = (at: Record<string, unknown>) => {
    for (const [key, own] of Object.entries(at)) {
      if (keep.includes(key) || key === '__proto__') continue;
      if (typeof own === 'object' && own !== null && typeof (own as unknown[])[0] !== 'number') visit(own as Record<string, unknown>);
      if (typeof own !== 'string') continue;
      const fits = [ALL, SHORT, NAME, CORPUS.image].find((payload) => {
        at[key] = payload;
        try {
          accepts(copy);
          return true;
        } catch {
          return false;
        }
      });
      at[key] = fits ?? own;
      said += Number(fits !== undefined);
    }
  };
  visit(copy as Record<string, unknown>);
  expect(said, 'fields that can be hostile').toBeGreaterThan(0);
  return copy;
}

const folder = (name: string) => readFileSync(`models/nano-retail/${name}`);
const tokenizer = loadTokenizer({ 'tokenizer.json': folder('tokenizer.json'), 'tokenizer_config.json': folder('tokenizer_config.json') });

const change: RowChange = {
  table: ALL,
  key: ALL,
  before: { status: 'pending', a: { b: 1 }, 'a.b': 1, ...KEYS },
  after: { status: 'cancelled', a: { b: 2 }, 'a.b': 2, list: ['a', KEYS], ...KEYS },
  call: 0,
};
/** Two rows whose table and key give the same text when they are joined. */
const alike: RowChange[] = [
  { ...change, table: `${ALL}/a`, key: 'b' },
  { ...change, key: 'a/b' },
];
const call: ToolCall = { name: 'cancel_pending_order', arguments: { order_id: '#W1', nested: { deep: ['x', KEYS] }, ...KEYS } };

function node(id: number, text: string, fields: Omit<MessageNode, 'id' | 'parent' | 'text' | 'tokens' | 'mask' | 'logprobs'>): MessageNode {
  const tokens = tokenizer.encode(text);
  const sampled = fields.role === 'assistant';
  const numbers = (number: number) => tokens.map(() => (sampled ? number : null));
  const likeliest = Object.fromEntries(
    [1, 2, 3, 4, 5].flatMap((rank) => [
      [`top_${rank}_id`, tokens.map((_, t) => tokens[(t + rank - 1) % tokens.length]!)],
      [`top_${rank}_logprob`, numbers(-rank)],
    ]),
  );
  return {
    ...fields,
    id,
    parent: id === 0 ? null : id - 1,
    text,
    tokens,
    mask: tokens.map(() => Number(sampled)),
    logprobs: numbers(-0.5),
    ...(sampled && {
      annotations: {
        advantage: numbers(1),
        ref_logprobs: numbers(-0.4),
        entropy: numbers(0.3),
        ratio: numbers(1.5),
        delta_p: numbers(0.1),
        ...likeliest,
        'own.metric-1': numbers(1),
      },
    }),
  };
}

const scenario: UserScenario = {
  persona: 'upfront',
  identity: { email: 'a@example.com', [ALL]: 'x' },
  wishes: [
    {
      intent: 'cancel',
      slots: { order_id: '#W1', item_ids: ['1'], [ALL]: 'x' },
      words: { items: ['mug'], [ALL]: ['x'] },
      impossible: false,
      insteadOf: { intent: 'return', slots: { order_id: '#W1' }, words: { items: ['mug'] } },
    },
  ],
  instruction: 'You want to cancel.',
  benchmark: 'tau2',
  history: [{ role: 'user', content: 'Hello.' }],
  phone: { problem: 'data', place: 'home', refuel: null, terse: false },
};
const benchmark: Tau2Task = {
  id: 'b',
  description: 'd',
  ticket: 't',
  user_scenario: { persona: 'p', instructions: 'i' },
  evaluation_criteria: { nl_assertions: ['n'], communicate_info: ['c'], actions: [{ name: 'a', arguments: { x: 'y' } }] },
};
const task: Task = {
  id: 'retail/nano/train/1/0',
  domain: 'retail',
  level: 'nano',
  split: 'train',
  world: 'w',
  scenario,
  actions: [call],
  noop: false,
  benchmark,
};
const userCall: UserCall = { after: 1, call: { ...call, requestor: 'user' }, text: ALL, error: false, index: 0, changes: [change] };

/** A conversation with every possible field. */
function conversation(group: string, index: number, first: string): Trajectory {
  const result = { name: 'cancel_pending_order', error: false, index: 0, changes: [change], ms: 1 };
  return {
    id: `${group} ${index}`,
    group,
    index,
    seed: 1,
    userSeed: 1,
    task,
    leaf: 6,
    termination: index === 0 ? 'user_error' : 'user_stop',
    ending: 'user_error',
    userCalls: [userCall],
    turns: 5,
    reward: index,
    error: 'x',
    verdict: {
      reward: index === 0 ? 0 : 1,
      changes: [change, change, ...alike],
      goal: [change, { ...change, key: '#W2' }],
      progress: 0.5,
      reward_info: { ...REWARD_INFO, info: { unjudged_nl_assertions: ['x'], ...KEYS } },
    },
    violations: [{ rule: 'unconfirmed_write', call: 0, detail: 'x' }],
    toolCalls: { cancel_pending_order: 1, [ALL]: 1 },
    parseErrors: 1,
    seconds: { generate: 1, tool: 1, user: 1 },
    nodes: [
      node(0, ALL, { role: 'system' }),
      node(1, ALL, { role: 'user' }),
      node(2, first, { role: 'assistant', content: ALL, toolCall: call }),
      node(3, ALL, { role: 'tool', toolResult: result }),
      node(4, ALL, { role: 'assistant', content: ALL, parseError: 'x' }),
      node(5, ALL, { role: 'template' }),
      node(6, ALL, { role: 'user', by: 'person' }),
    ],
  };
}

/** A hostile trajectory. Its texts still agree with its tokens. */
const hostileTrajectory = (trajectory: Trajectory, keep: readonly string[] = []) =>
  poisoned(trajectory, (value) => checked(trajectorySchema, value, ''), ['id', 'group', 'text', 'table', 'key', ...keep]);

export interface HostileRun {
  file: Uint8Array<ArrayBuffer>;
  run: SharedRun;
  trajectories: Trajectory[];
}

/** A file of a run in which every text is hostile. The second rollout has a real task, so that it can be continued. */
export function hostileRun(real: Task): HostileRun {
  const base: SharedRun = {
    id: NAME,
    name: 'hostile',
    note: 'x',
    tags: ['x'],
    createdAt: Date.UTC(2026, 0, 1),
    status: 'failed',
    message: 'x',
    step: 2,
    request: {
      model: 'nano-retail',
      preset: 'nano',
      overrides: { ...(KEYS as Partial<GrpoConfig>), lr: 0.1 },
      user: {
        mode: 'endpoint',
        baseUrl: 'https://user.example/v1',
        model: 'm',
        judgeModel: 'j',
        temperature: 0,
        maxTokens: 1,
        timeoutMs: 1,
        maxRetries: 0,
        concurrency: 1,
      },
    },
    config: { ...grpoConfig('nano'), [ALL]: ALL } as GrpoConfig,
  };
  const run = poisoned(base, (value) => checked(runSchema, value, ''), ['id']);
  const group = `1-0 ${CORPUS.image}`;
  const second = hostileTrajectory(conversation(group, 1, `Yes. ${ALL}`), ['task']);
  const trajectories = [
    hostileTrajectory(conversation(group, 0, ALL)),
    { ...second, task: { ...real, scenario: { ...real.scenario, instruction: ALL } } },
  ];
  const rollouts = trajectories.map((trajectory, i) =>
    poisoned<RolloutSummary>(summarize(trajectory, 1, i - 0.5), (value) => checked(rolloutSchema, value, ''), ['id', 'group']),
  );
  const branches: SharedBranch[] = trajectories.flatMap((trajectory) =>
    ['', SHORT].map((batch) => ({ createdAt: 1, rollout: trajectory.id, shared: 2, batch, model: SHORT, trajectory })),
  );
  const evaluations = [0, 2].map((step) =>
    poisoned<SharedEvaluation>(
      { id: `${step} ${NAME}`, step, createdAt: 1, seconds: 1, settings: { ...BEFORE.settings, user: base.request.user } },
      (value) => checked(evaluationSchema, value, ''),
      ['id'],
    ),
  );
  const trials = evaluations.map(({ id: evaluation, step }) => ({
    evaluation,
    ...trajectories[step / 2]!,
    id: NAME,
    index: 0,
    task: trajectories[0]!.task,
  }));
  const metrics = [0, 1, 2].map((step) => ({
    step,
    'critic/score/mean': step / 4,
    'actor/entropy': 1,
    [`val-core/${ALL}/reward/mean@1`]: step / 3,
    [ALL]: step,
  }));
  const lines = (rows: readonly object[]) => rows.map((row) => JSON.stringify(row)).join('\n');
  const files = Object.fromEntries(
    Object.entries({
      'run.json': JSON.stringify(run),
      'metrics.jsonl': lines(metrics),
      'rollouts.jsonl': lines(rollouts),
      'trajectories.jsonl': lines(trajectories),
      'branches.jsonl': lines(branches),
      'evaluations.jsonl': lines(evaluations),
      'trials.jsonl': lines(trials),
    }).map(([name, text]) => [name, new TextEncoder().encode(text)]),
  );
  const manifest = {
    format: 'mua-run',
    format_version: 1,
    app_version: ALL,
    created: '2026-01-01T00:00:00Z',
    files: Object.fromEntries(Object.entries(files).map(([name, bytes]) => [name, { sha256: sha256(bytes), bytes: bytes.length }])),
  };
  return { file: zipSync({ ...files, 'manifest.json': new TextEncoder().encode(JSON.stringify(manifest)) }), run, trajectories };
}

export interface HostileEvaluations {
  evaluations: EvaluationRow[];
  trajectories: (Trajectory & { evaluation: string })[];
}

/** Two evaluations of the same tasks, with hostile texts of model, customer and endpoint. Their tokens are those of the bundled model. */
export function hostileEvaluations(): HostileEvaluations {
  const evaluation = (id: string, reward: 0 | 1): EvaluationRow => ({
    ...BEFORE,
    id,
    run: '',
    name: ALL,
    model: { kind: 'model', name: 'nano-retail' },
    settings: { ...BEFORE.settings, domain: ALL, level: SHORT, user: { mode: 'endpoint', baseUrl: ALL, model: ALL, judgeModel: ALL } },
    report: {
      ...BEFORE.report,
      tool_calls: { [ALL]: 3 },
      by_intent: { [ALL]: { tasks: 1, pass_hat_1: 0.5 } },
      violations: { [ALL]: 1 } as never,
      terminations: { [ALL]: 1 } as never,
    },
    results: [
      {
        id: NAME,
        task: ALL,
        index: 0,
        intent: ALL,
        reward,
        termination: 'user_stop',
        turns: 3,
        tokens: 9,
        violations: ['unconfirmed_write'],
        writes: 1,
        faults: [],
      },
    ],
  });
  const trial = (id: string, index: 0 | 1) => ({
    evaluation: id,
    ...hostileTrajectory(conversation('g', index, index === 0 ? ALL : `No. ${ALL}`)),
    id: NAME,
    index: 0,
  });
  const ids = [NAME, `after ${NAME}`] as const;
  return { evaluations: [evaluation(ids[0], 0), evaluation(ids[1], 1)], trajectories: [trial(ids[0], 0), trial(ids[1], 1)] };
}

/** Files of a benchmark with hostile texts in the policy, the tasks, the rows and their keys. */
export function hostileWorld(): Data {
  const within = (payload: string) => JSON.stringify(payload).slice(1, -1);
  const words: Record<string, string> = {
    ada_1: NAME,
    Mug: ALL,
    Ada: ALL,
    Brown: ALL,
    '1 Elm St': ALL,
    'ada@example.com': ALL,
    gift_card_1: SHORT,
    'The agent is polite.': ALL,
    'what comes back': ALL,
  };
  const told = (text: string) => Object.entries(words).reduce((said, [word, payload]) => said.replaceAll(word, within(payload)), text);
  const files = Object.fromEntries(
    Object.entries(tau2Retail).map(([name, text]) => [name, name.endsWith('.json') ? told(text) : `# Policy\n${ALL}\n`]),
  );
  const splits = JSON.parse(files['split_tasks.json']!) as Record<string, string[]>;
  return { ...files, 'split_tasks.json': JSON.stringify({ ...splits, [ALL]: ['0', ALL] }) };
}

/** Elements that a page of this app never has. */
const FORBIDDEN =
  'img, script, style, iframe, object, embed, base, form[action], [srcdoc], [onload], [onerror], [onclick], a[href]:not([href^="#"], [href^="http"], [href^="blob:"])';

/**
 * Expects that the page shows `shown` as text, or no hostile text if `shown` is null, and that no hostile text had an effect.
 * `watch` sees dialogs and the console.
 */
export async function staysText(page: Page, where: string, shown: string | null = CORPUS.image): Promise<void> {
  await expect(page.locator('h1'), `${where}: heading`).toHaveCount(1);
  if (shown !== null)
    await expect
      .soft(page.locator('body').getByText(shown).filter({ visible: true }).first(), `${where}: shows the text`)
      .toBeVisible({ timeout: 10_000 });
  const found = await page.evaluate(
    (forbidden) => ({
      elements: [...document.body.querySelectorAll(forbidden)].map((element) => element.outerHTML.slice(0, 200)),
      owned: 'owned' in self || 'owned' in {},
      title: document.title.includes('MUA-RL Playground'),
      shown: getComputedStyle(document.querySelector('main')!).display !== 'none',
      // A name must not change the direction of the text next to it.
      turning: [...document.querySelectorAll('main *')]
        .filter((element) => {
          const { display, unicodeBidi } = getComputedStyle(element);
          return (
            display === 'inline' &&
            unicodeBidi === 'normal' &&
            [...element.childNodes].some((child) => child.nodeType === Node.TEXT_NODE && child.nodeValue!.includes('\u202e'))
          );
        })
        .map((element) => element.outerHTML.slice(0, 200)),
    }),
    FORBIDDEN,
  );
  expect.soft(found, where).toEqual({ elements: [], owned: false, title: true, shown: true, turning: [] });
  const size = page.viewportSize()!;
  await page.setViewportSize({ width: 360, height: 800 });
  expect.soft(await page.evaluate(tooWide), `${where}: wider than 360 px`).toEqual([]);
  await page.setViewportSize(size);
}

/** The elements that make the page wider than its window. */
function tooWide(): string[] {
  if (document.documentElement.scrollWidth <= innerWidth) return [];
  const scrolls = (element: Element | null): boolean =>
    element !== null && element !== document.body && (getComputedStyle(element).overflowX !== 'visible' || scrolls(element.parentElement));
  const wide = [...document.body.querySelectorAll('*')].filter(
    (element) => element.getBoundingClientRect().right > innerWidth + 1 && !scrolls(element.parentElement),
  );
  return wide
    .filter((element) => !wide.some((other) => other !== element && element.contains(other)))
    .map((element) => element.cloneNode(false) as Element)
    .map((element) => element.outerHTML.slice(0, 120));
}
