/** How many of the customers' utterances occur in training. */
import { expect, test } from 'vitest';
import { GENERATED_DOMAINS } from '../../../src/domains/registry.ts';
import { createEnvironments } from '../../../src/environments/index.ts';
import { masked, overlapOf, spoken } from '../../../src/training/utterance-overlap.ts';

test('ids and addresses are masked, words and names are not', () => {
  expect(masked('Hi. My email is mia.diaz12@example.com. Please cancel order #W1234567, no longer needed.')).toBe(
    'Hi. My email is <email>. Please cancel order <id>, no longer needed.',
  );
  expect(masked('I am Mia Diaz, zip 78701.')).toBe('I am Mia Diaz, zip <id>.');
  expect(masked(' 12 Oak Street, Suite 300, Austin, TX 78701 ')).toBe('<id> Oak Street, Suite <id>, Austin, TX <id>');
});

test('utterances count once each, with their ids masked in both lists', () => {
  const train = ['Yes.', 'Cancel order #W1.', 'Hello.'];
  expect(overlapOf(train, ['Yes.', 'Yes.', 'Cancel order #W22.', 'Cancel it.', 'No.'])).toEqual({ seen: 3, of: 5 });
  expect(overlapOf(train, [])).toEqual({ seen: 0, of: 0 });
});

test.each(['glimpse', 'small'])(
  'at %s: most utterances of held-out customers occur in training, few of unseen customers do',
  async (level) => {
    const environments = createEnvironments({ domains: GENERATED_DOMAINS, inMemory: true });
    const options = { domain: 'retail', level, seed: 7 };
    const train = await spoken(environments, options, 'train', 300);
    const sentences = (texts: readonly string[]) => texts.flatMap((text) => text.replace('###STOP###', '').split(/(?<=[.?!:])\s+/)).filter(Boolean); // prettier-ignore
    for (const [split, low, high] of [
      ['heldout', 0.6, 1],
      ['unseen', 0, 0.05],
    ] as const) {
      // prettier-ignore
      const test = await spoken(environments, options, split, 60);
      expect(test.length).toBeGreaterThan(150);
      for (const [known, asked] of [
        [train, test],
        [sentences(train), sentences(test)],
      ] as const) {
        // prettier-ignore
        const { seen, of } = overlapOf(known, asked);
        expect(seen / of).toBeGreaterThanOrEqual(low);
        expect(seen / of).toBeLessThanOrEqual(high);
      }
    }
  },
);
