/** The inspector of trajectories with the recorded run: both views, every colour, keys, links to tokens, search. */
import { readFileSync } from 'node:fs';
import { expect, type Page } from '@playwright/test';
import { path } from '../../src/base/message-path.ts';
import { flatten } from '../../src/agent/trajectory.ts';
import type { Trajectory } from '../../src/records/trajectory.ts';
import { CHANNELS } from '../../src/app/routes/routes.ts';
import { SMOLLM2_135M } from '../../src/training/pretrained.ts';
import { readRunBundle } from '../../src/exchange/run-bundle.ts';
import { inspect, load, watch } from './page-checks.ts';
import { test } from './test.ts';

/** A rollout of the recorded run that has siblings, calls and annotations. */
async function recorded(): Promise<{ trajectory: Trajectory; group: Trajectory[] }> {
  const { trajectories } = await readRunBundle(new Uint8Array(readFileSync('public/recorded/run.mua.zip')));
  const trajectory = trajectories.find(
    ({ nodes, index, group }) =>
      nodes.some(({ annotations }) => annotations?.entropy) &&
      nodes.some(({ toolResult }) => toolResult) &&
      trajectories.some((other) => other.group === group && other.index === index + 1),
  );
  if (!trajectory) throw new Error('public/recorded/run.mua.zip has no trajectory with annotations: record it again');
  return { trajectory, group: trajectories.filter(({ group }) => group === trajectory.group) };
}
const address = ({ id }: Pick<Trajectory, 'id'>, query = '') =>
  `/#/runs/recorded/rollouts/${encodeURIComponent(id)}${query && `?${query}`}`;
const field = (page: Page, name: string) => new URLSearchParams(new URL(page.url()).hash.split('?')[1] ?? '').get(name);
const tokenPanel = (page: Page) => page.locator('[data-part=token]');
const tokenId = async (page: Page) => Number(await tokenPanel(page).locator('[data-part=token-id]').innerText());

test('tokens are the stored ones, and keys, links and search lead to each', async ({ page }) => {
  const problems = watch(page);
  const { trajectory } = await recorded();
  const { tokens, lossMask } = flatten(trajectory);
  await page.goto(address(trajectory));
  await expect(page.getByRole('region', { name: 'Outcome' })).toBeVisible();
  await expect(page.getByText('Tokens are shown by their ids')).toHaveCount(0);
  await inspect(page, 'rollout-messages', { fullPage: false });

  // The view of messages has no elements for tokens. In the rendered view, every token has one, also those of the template.
  await expect(page.locator('.t')).toHaveCount(0);
  await page.keyboard.press('v');
  await expect.poll(() => field(page, 'view')).toBe('rendered');
  await expect(page.locator('.t')).toHaveCount(tokens.length);
  await expect(page.locator('.t.k').first()).toHaveText('<|im_start|>');
  await expect(page.locator('.t.s')).toHaveCount(lossMask.filter(Boolean).length);

  // Step from token to token, from the first sampled token on.
  const first = lossMask.indexOf(1);
  await page.keyboard.press('l');
  await expect.poll(() => field(page, 'tok')).toBe(String(first));
  expect(await tokenId(page)).toBe(tokens[first]);
  await page.keyboard.press('l');
  await expect.poll(() => tokenId(page)).toBe(tokens[first + 1]);
  await page.keyboard.press('h');
  await page.keyboard.press('h');
  await expect.poll(() => tokenId(page)).toBe(tokens[first - 1]);
  await expect(tokenPanel(page).locator('[data-channel=logprob]')).toContainText('not sampled');

  // A link to a token keeps the colour and scrolls to the token.
  const late = lossMask.lastIndexOf(1);
  await load(page, address(trajectory, `view=rendered&ch=entropy&tok=${late}`));
  await expect.poll(() => tokenId(page)).toBe(tokens[late]);
  await expect(page.locator('.t.on')).toBeInViewport();
  await expect(tokenPanel(page).locator('[data-channel=entropy]')).not.toContainText('not stored');
  await expect(page.locator('[data-part=legend]')).toContainText('99th percentile');
  await inspect(page, 'rollout-token', { fullPage: false });

  // Escape closes the token, and then the message.
  await page.keyboard.press('Escape');
  await expect(tokenPanel(page)).toHaveCount(0);
  expect(field(page, 'tok')).toBeNull();
  await page.keyboard.press('j');
  await expect.poll(() => field(page, 'turn')).toBe('0');
  await page.keyboard.press('k');
  expect(field(page, 'turn')).toBe('0');

  // A match of the search may span several tokens.
  const words = path(trajectory)
    .find(({ role }) => role === 'user')!
    .text.slice(0, 12);
  await page.keyboard.press('/');
  await page.getByRole('searchbox', { name: 'Find in the text' }).fill(words);
  await page.keyboard.press('Enter');
  await expect(page.locator('[data-part=find]').getByRole('status')).toHaveText(/^1 of \d+$/);
  await expect(page.locator('.t.on')).toBeInViewport();
  await page.keyboard.press('Escape');
  await expect(page.locator('[data-part=find]')).toHaveCount(0);

  // The strip is one tab stop. Arrow keys select other tokens.
  const strip = page.getByRole('slider', { name: 'Token of the sequence' });
  await strip.focus();
  await page.keyboard.press('Home');
  await expect.poll(() => field(page, 'tok')).toBe('0');
  await page.keyboard.press('ArrowRight');
  await expect(strip).toHaveAttribute('aria-valuenow', '1');

  await page.keyboard.press('?');
  await expect(page.getByRole('dialog', { name: 'Keys' })).toBeVisible();
  await page.keyboard.press('Escape');
  await expect(page.getByRole('dialog')).toHaveCount(0);
  expect(field(page, 'tok')).toBe('1');

  // The next rollout opens with the same view and colour.
  await page.keyboard.press(']');
  await expect(page).toHaveURL(/view=rendered&ch=entropy/);
  await page.keyboard.press('[');
  await expect.poll(() => decodeURIComponent(page.url())).toContain(`/rollouts/${trajectory.id}?`);
  await page.keyboard.press('f');
  await expect.poll(() => decodeURIComponent(page.url())).toMatch(/#\/play\/.*from=recorded\/.+@\d+/);
  expect(problems).toEqual([]);
});

test('every colour has a legend, and what is null, zero or masked has a look of its own', async ({ page }) => {
  const { trajectory } = await recorded();
  await page.goto(address(trajectory, 'view=rendered'));
  await expect(page.locator('.t').first()).toBeVisible();
  for (const channel of CHANNELS.slice(1)) {
    await page.keyboard.press('c');
    await expect(page.getByRole('region', { name: 'Conversation' })).toHaveAttribute('data-ch', channel);
    await expect(page.locator('[data-part=scale] .t')).not.toHaveCount(0);
  }
  await page.keyboard.press('c');
  await expect(page.locator('[data-part=legend]')).toHaveCount(0);

  await page.getByLabel('Colour').selectOption('logprob');
  const look = (selector: string) =>
    page
      .locator(`[data-part=tokens] ${selector}`)
      .first()
      .evaluate((element) => {
        element.scrollIntoView();
        const { color, backgroundColor, boxShadow, textDecorationLine, textDecorationStyle } = getComputedStyle(element);
        return { color, backgroundColor, boxShadow, decoration: textDecorationLine === 'none' ? 'none' : textDecorationStyle };
      });
  // A block gets its numbers when it is near the viewport.
  await expect.poll(async () => (await look('.s:not(.n-logprob):not(.z-logprob)')).boxShadow).not.toBe('none');
  const value = await look('.s:not(.n-logprob):not(.z-logprob)');
  expect(value.backgroundColor).not.toBe('rgba(0, 0, 0, 0)');
  const masked = await look('.m');
  expect(masked.boxShadow).toBe('none');
  expect(masked.color).not.toBe(value.color);
  await page.evaluate(() =>
    document
      .querySelectorAll('[data-part=tokens] .s')
      .forEach((element, i) => i < 2 && element.classList.add(i === 0 ? 'n-logprob' : 'z-logprob')),
  );
  expect((await look('.n-logprob')).decoration).toBe('dashed');
  expect((await look('.z-logprob')).decoration).toBe('solid');
  // All speakers have the same background. The zero of the scale has no colour.
  const papers = await page.evaluate(() => {
    const paper = (element: Element): string => {
      const { backgroundColor } = getComputedStyle(element);
      return backgroundColor === 'rgba(0, 0, 0, 0)' ? paper(element.parentElement!) : backgroundColor;
    };
    return ['assistant', 'user', 'tool', 'system'].map((role) => paper(document.querySelector(`li.${role} [data-part=tokens]`)!));
  });
  expect(new Set(papers).size).toBe(1);
  const scale = page.locator('[data-part=scale]');
  const colors = await scale.locator('.t').evaluateAll((all) => all.map((element) => getComputedStyle(element).backgroundColor));
  expect(colors[0]).toBe('rgba(0, 0, 0, 0)');
  expect(new Set(colors).size).toBe(colors.length);
  await expect(scale.locator('.t').first()).toHaveText('0');
  await page.getByLabel('Scale').selectOption('group');
  await expect(page.locator('[data-part=legend]')).toContainText(/over \d+ rollouts of the group|smallest scale/);
});

test('of a token in an inspected group: what else was likely, and what the update did to it', async ({ page }) => {
  const { trajectories } = await readRunBundle(new Uint8Array(readFileSync('public/recorded/run.mua.zip')));
  const known = ({ nodes }: Trajectory) => nodes.find(({ annotations }) => annotations?.top_5_id && annotations.delta_p);
  const trajectory = trajectories.find(known);
  expect(trajectory, 'a rollout of the recorded run whose alternatives are kept').toBeDefined();
  const position = flatten(trajectory!).lossMask.indexOf(1);
  await page.goto(address(trajectory!, `view=rendered&tok=${position}`));
  const panel = tokenPanel(page);
  await expect(panel.getByRole('heading', { name: 'Likeliest here' })).toBeVisible();
  const { annotations, tokens } = known(trajectory!)!;
  await expect(panel.getByRole('listitem')).toHaveCount(5);
  const rank = [1, 2, 3, 4, 5].findIndex((place) => annotations![`top_${place}_id`]![0] === tokens[0]);
  await expect(panel.getByText('✓ sampled')).toHaveCount(rank < 0 ? 0 : 1);
  const delta = panel.locator('[data-channel=delta_p]');
  await expect(delta).toContainText('Δp');
  await expect(delta.locator('dd')).toHaveText(/^[−-]?\d/);

  // For the token under the mouse, the values are in a box next to the token, not on it.
  const first = page.locator('.t.on');
  await first.hover();
  const tip = page.locator('[data-part=token-tip]');
  await expect(tip).toContainText(/probability\s*\d/);
  const [token, box] = [(await first.boundingBox())!, (await tip.boundingBox())!];
  expect(box.y + box.height <= token.y || box.y >= token.y + token.height).toBe(true);
  await page.mouse.move(0, 0);
  await expect(tip).toHaveCount(0);

  // The highlights are in a list and marked in the strip. A link and keys select them.
  await page.keyboard.press('Escape');
  const highlights = page.getByRole('region', { name: 'Highlights' });
  await expect(page.locator('[data-part=highlight-mark]').first()).toBeAttached();
  await highlights.scrollIntoViewIfNeeded();
  await inspect(page, 'rollout-highlights', { fullPage: false });
  const link = highlights.getByRole('list', { name: 'Most uncertain choices' }).getByRole('link').first();
  const sentence = await link.innerText();
  expect(sentence).toMatch(/^“.+” was sampled with probability .+ %, entropy .+ nats\./);
  await link.focus();
  await page.keyboard.press('Enter');
  await expect(panel.locator('[data-part=highlight]')).toContainText(sentence);
  await expect(page.locator('.t.on')).toBeInViewport();
  await expect(tip).toContainText('uncertain choice');
  await inspect(page, 'rollout-highlight', { fullPage: false });
  const chosen = field(page, 'tok');
  await page.keyboard.press('n');
  await expect.poll(() => field(page, 'tok')).not.toBe(chosen);
  await page.keyboard.press('p');
  await expect.poll(() => field(page, 'tok')).toBe(chosen);

  // A click on another likely token opens Play, which continues inside the agent's turn.
  const other = panel.getByRole('listitem').getByRole('link').first();
  const words = await other.innerText();
  await other.click();
  await expect.poll(() => decodeURIComponent(page.url())).toMatch(/#\/play\/.*from=recorded\/.+@\d+&token=\d+:\d+/);
  await expect(page.locator('[data-part=begun]')).toContainText(words);
});

test('of a recorded run whose model is not in the browser: its bundle has the words', async ({ page }) => {
  const { trajectories } = await readRunBundle(new Uint8Array(readFileSync('public/recorded/smollm2.mua.zip')));
  const trajectory = trajectories.find(({ nodes }) => nodes.some(({ annotations }) => annotations?.top_5_id))!;
  const { tokens, lossMask } = flatten(trajectory);
  await page.goto('/#/models');
  await page.getByRole('article', { name: SMOLLM2_135M.title, exact: true }).getByRole('link', { name: 'A recorded run' }).click();
  await expect(page.getByRole('heading', { level: 1 })).toBeVisible();
  await inspect(page, 'run-smollm2', { fullPage: false });
  await page.goto(`/#/runs/recorded-smollm2/rollouts/${encodeURIComponent(trajectory.id)}?view=rendered&tok=${lossMask.indexOf(1)}`);
  await expect(page.locator('.t')).toHaveCount(tokens.length);
  await expect(page.getByText('Tokens are shown by their ids')).toHaveCount(0);
  // An agent's node has the decoded sampled tokens as its text. The page draws spaces as ▁ and line ends as ⏎.
  const drawn = (await page.locator('.t.s').allTextContents()).join('').replaceAll('\u200b', '');
  const said = path(trajectory).map(({ role, text }) => (role === 'assistant' ? text : ''));
  expect(drawn.replaceAll('▁', ' ').replaceAll('⏎\n', '\n')).toBe(said.join(''));
  await expect(tokenPanel(page).getByRole('listitem')).toHaveCount(5);
  await expect(tokenPanel(page)).not.toContainText('⟨');
  await inspect(page, 'rollout-smollm2', { fullPage: false });
});

test('a tool call leads to the database at that call and back', async ({ page }) => {
  const { trajectory } = await recorded();
  const result = path(trajectory).find(({ toolResult }) => toolResult)!;
  await page.goto(address(trajectory));
  await page.locator(`[data-node="${result.id}"]`).getByRole('link', { name: 'database at this call' }).click();
  await expect.poll(() => field(page, 'call')).toBe(String(result.toolResult!.index));
  await expect(page.locator('[data-part=world-moment]')).toBeVisible();
  await inspect(page, 'rollout-call', { fullPage: false });
  await page.getByRole('button', { name: 'Close the database' }).click();
  await expect(page.getByRole('region', { name: 'Outcome' })).toBeVisible();
});

test('other weights score the tokens again: those that sampled them agree, those of before or after the training do not', async ({
  page,
}) => {
  test.setTimeout(120_000);
  const problems = watch(page);
  const { trajectories, trials } = await readRunBundle(new Uint8Array(readFileSync('public/recorded/run.mua.zip')));
  const first = trajectories.find(({ id }) => id.startsWith('1-'))!;
  const last = trials.find(({ evaluation, index }) => evaluation === 'recorded-after' && index === 0)!;
  /** Δp of every sampled token. */
  const changes = async () => {
    await expect(page.locator('[data-part=scoring]')).toBeEmpty({ timeout: 60_000 });
    // A token gets its numbers when it is near the viewport.
    await expect(page.locator('[data-part=tokens] .t.s:not([style*=by_delta_p])')).toHaveCount(0);
    return page
      .locator('[data-part=tokens] .t.s')
      .evaluateAll((tokens) => tokens.map((token) => Number((token as HTMLElement).style.getPropertyValue('--by_delta_p'))));
  };

  await page.setViewportSize({ width: 1280, height: 6000 });
  await page.goto(address(first, 'view=rendered'));
  await expect(page.getByLabel('Colour').getByRole('option', { name: 'other weights' })).toHaveCount(0);
  await page.getByLabel('Scored by').selectOption('nano-retail');
  await expect.poll(() => [field(page, 'by'), field(page, 'ch')]).toEqual(['nano-retail', 'by_delta_p']);
  const before = await changes();
  expect(before).toHaveLength(flatten(first).lossMask.filter(Boolean).length);
  // The same weights sampled the first step. So only the rounding of another GPU makes a difference.
  expect(Math.max(...before.map(Math.abs))).toBeLessThan(1e-3);
  await page.keyboard.press('l');
  await expect(tokenPanel(page)).toContainText('Likeliest by nano-retail');
  await expect(tokenPanel(page).locator('[data-channel=by_logprob]')).toContainText('p ');
  await page.setViewportSize({ width: 1280, height: 900 });
  await inspect(page, 'rollout-scored-by', { fullPage: false });
  await page.setViewportSize({ width: 1280, height: 6000 });

  // The address alone is enough, also for a trial, and the next trial keeps view and colour.
  await load(page, `/#/evals/recorded-after/trials/${last.id}?view=rendered&by=nano-retail-grpo&ch=by_delta_p`);
  expect(Math.max(...(await changes()).map(Math.abs))).toBeLessThan(1e-3);
  await page.getByLabel('Scored by').selectOption('nano-retail');
  // The message about scoring may disappear too fast for a test. So wait for numbers of the other weights.
  await expect.poll(async () => Math.max(...(await changes()).map(Math.abs)), { timeout: 60_000 }).toBeGreaterThan(0.05);
  await page.keyboard.press(']');
  await expect.poll(() => decodeURIComponent(page.url())).not.toContain(`/${last.id}?`);
  expect(field(page, 'by')).toBe('nano-retail');
  await changes();
  await page.getByLabel('Scored by').selectOption('');
  await expect.poll(() => [field(page, 'by'), field(page, 'ch')]).toEqual([null, null]);

  // Weights that cannot score give a message.
  await page.goto(address(first, 'by=nowhere'));
  await expect(page.locator('[data-part=scoring]')).toHaveText('These weights are not in this browser, or they use another tokenizer.');
  expect(problems).toEqual([]);
});
