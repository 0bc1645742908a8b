/** Lessons: the panel never covers the shown place, predictions, the next lesson, the stored progress, and the teacher's page. */
import { expect, type Page } from '@playwright/test';
import { LESSONS, type LessonId } from '../../src/app/lessons/titles.ts';
import { lessonOf } from '../../src/app/learn/content.ts';
import { EXERCISES, PLAN } from '../../src/app/learn/plan.ts';
import { inspect, load } from './page-checks.ts';
import { test } from './test.ts';

const panelOf = (page: Page) => page.locator('[data-part=lesson]');

async function begin(page: Page, id: string, step = 1): Promise<void> {
  await page.goto(`/#/learn/${id}?step=${step}`);
  await page.getByRole('button', { name: /^(Begin|Continue)/ }).click();
  await expect(panelOf(page).getByRole('heading')).toBeFocused();
}

/** The subject of a step: the selected token, the selected message, or the spot. */
const subjectOf = (page: Page, address: string) =>
  page
    .locator(address.includes('tok=') ? '.t.on' : address.includes('turn=') ? '[data-part=message][aria-current]' : '[data-focus]')
    .first();

/** Expects that the subject, or its beginning if it is tall, is in the window and not covered by the lesson's panel. */
async function expectInView(page: Page, address: string): Promise<void> {
  const subject = subjectOf(page, address);
  await expect(subject, address).toBeVisible();
  await expect(async () => {
    const [box, panel] = [await subject.boundingBox(), await panelOf(page).boundingBox()];
    const { height } = page.viewportSize()!;
    const sheet = panel!.y > 0;
    expect(box!.y, address).toBeGreaterThanOrEqual(-1);
    expect(Math.min(box!.y + box!.height, box!.y + 40), address).toBeLessThanOrEqual((sheet ? panel!.y : height) + 1);
    if (!sheet) expect(box!.x, address).toBeLessThan(panel!.x);
  }).toPass({ timeout: 15_000 });
}

/**
 * For each question, in the order of the lesson: words of the page from which a visitor could read the answer. They are hidden until the
 * choice, and shown after it.
 */
const TELLING: Record<LessonId, readonly RegExp[]> = {
  episode: [/What is your email/, /sampled, (115 of 646|in the loss)|115 sampled/],
  reward: [/✗ wrong/, /✓ correct/, /✓ correct/],
  group: [/become more likely/, /Yes or no/, /−2\.47/, /has no gradient/],
  update: [/−0\.469/, /↑ likelier/, /↑ likelier/, /ratio/i],
  wrong: [
    /The learning rate is too high/,
    /The reward pays for the wrong thing/,
    /The rollouts of a group are equal/,
    /imitates its own successes too often/,
    /update of a pretrained model is too large/,
  ],
  customer: [/pay order #W8426792 with my PayPal/, /Yes or no/],
  tools: [/Tool result/, /davidul/, /no row changed/],
  honest: [/Student’s t over the customers/, /never trained on/, /not shown/, /by chance/],
  skills: [/✗ wrong/, /Wait, I want to cancel order #W3814/, /error cancel_pending_order/, /Calls again after a timeout/, /two_guards/],
};

for (const { id, title } of LESSONS) {
  test(`${title}: each step opens its place in view, and the answer too`, async ({ page }) => {
    test.slow();
    await begin(page, id);
    const panel = panelOf(page);
    const { steps } = lessonOf(id);
    const telling = [...TELLING[id]];
    for (const [i, { open, predict }] of steps.entries()) {
      await expect(panel.getByText(`Step ${i + 1} of ${steps.length}`)).toBeVisible();
      await expect.poll(() => new URL(page.url()).hash.split('?')[0]).toBe(open.split('?')[0]);
      const blank = predict?.show.length === 0;
      if (!open.startsWith('#/play') && !blank) await expectInView(page, open);
      if (predict) {
        const told = telling.shift()!;
        await page.locator('main .page').waitFor({ state: 'attached' });
        await expect(panel.getByText(predict.why[0]!)).toHaveCount(0);
        // The text that is visible: hidden parts of the page are not in it.
        expect(await page.locator('main').innerText(), predict.question).not.toMatch(told);
        // Every second question is answered wrongly.
        const choice = i % 2 === 0 ? predict.answer : (predict.answer + 1) % predict.choices.length;
        await panel.getByRole('button', { name: predict.choices[choice]!, exact: true }).click();
        await expect(panel.getByRole('status')).toContainText(choice === predict.answer ? '✓ Right.' : '✗ Not right. The answer is: ');
        await expect(panel.getByText(predict.why[0]!)).toBeVisible();
        await expect.poll(() => page.locator('main').innerText(), predict.question).toMatch(told);
        await expectInView(page, (predict.reveal ?? { open }).open);
      }
      await panel.getByRole('button', { name: /^(Next|Finish)$/ }).click();
    }
    expect(telling).toEqual([]);
    const following = LESSONS[LESSONS.findIndex((lesson) => lesson.id === id) + 1];
    if (!following) return expect(panel.getByRole('link', { name: 'Set up a run' })).toBeVisible();
    await panel.getByRole('button', { name: 'Next lesson' }).click();
    await expect(panel.getByRole('heading')).toContainText(following.title);
  });
}

test('on a phone the panel is a sheet, and the token lies above it', async ({ page }) => {
  await page.setViewportSize({ width: 360, height: 800 });
  await begin(page, 'update');
  const [{ open, predict }] = lessonOf('update').steps as [ReturnType<typeof lessonOf>['steps'][0]];
  await expectInView(page, open!);
  await panelOf(page).getByRole('button', { name: predict!.choices[0]!, exact: true }).click();
  await expectInView(page, predict!.reveal!.open);
  // After a wrong choice, the panel shows the answer too, and another choice is possible.
  await expect(panelOf(page).getByRole('button', { name: /✓ answer/ })).toContainText(predict!.choices[predict!.answer]!);
});

test('the panel is accessible in both themes, at full width and on a phone', async ({ page }) => {
  await begin(page, 'update');
  await panelOf(page).locator('[aria-pressed]').first().click();
  await expect(page.locator('.t.on')).toBeVisible();
  await inspect(page, 'lesson-panel', { fullPage: false });
});

test('progress is kept, a link names its step, and the keyboard is enough', async ({ page }) => {
  await begin(page, 'group');
  await page.keyboard.press('Tab');
  await expect(panelOf(page).getByRole('button', { name: /Close/ })).toBeFocused();
  for (let i = 0; i < 3; i++) await page.keyboard.press('Tab');
  await page.keyboard.press('Enter');
  await expect(panelOf(page).locator('[aria-pressed=true]')).toHaveCount(1);
  await panelOf(page).getByRole('button', { name: 'Next' }).press('Enter');
  await expect(panelOf(page).getByRole('heading')).toBeFocused();
  await load(page, '/#/learn/group');
  await expect(panelOf(page)).toHaveCount(0);
  await page.getByRole('button', { name: 'Continue at step 2' }).click();
  await panelOf(page).getByRole('button', { name: /Close/ }).click();
  await expect(page.locator('[data-focus]')).toHaveCount(0);

  await begin(page, 'reward', 4);
  await panelOf(page).getByRole('button', { name: 'Finish' }).click();
  await panelOf(page).getByRole('link', { name: 'All lessons' }).click();
  await expect(page.getByRole('img', { name: 'Finished' })).toHaveCount(1);
  await page.goto('/#/learn/nothing');
  await expect(page.getByRole('heading', { level: 1, name: 'There is no such lesson' })).toBeVisible();
});

test('the teacher’s page has a plan, links that open moments, and answers that print', async ({ page }) => {
  await page.goto('/#/learn/teach');
  await expect(page.getByRole('row')).toHaveCount(PLAN.length + 1);
  const answers = page.locator('details');
  await expect(answers).toHaveCount(EXERCISES.length);
  await expect(page.getByText(EXERCISES[0]!.answer)).toBeHidden();
  await page.evaluate(() => window.dispatchEvent(new Event('beforeprint')));
  await expect(page.getByText(EXERCISES[0]!.answer)).toBeVisible();
  await page.getByRole('row').nth(4).getByRole('link').nth(1).click();
  await expect(page.locator('.t.on')).toBeVisible();
  await expect(page).toHaveURL(/ch=delta_p/);
});
