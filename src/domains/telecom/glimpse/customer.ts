/** @file The scripted customers of level `glimpse`. They decide like those of the shop, in their own words. */
import type { UserScenario } from '../../../records/task.ts';
import type { PlayedCustomer } from '../../../users/types.ts';
import { checkIntents, ScriptedCustomer } from '../../retail/customer/customer.ts';
import { plainWording, sentence, type Wording } from '../../retail/customer/speech.ts';
import { LINE_EARS } from './language.ts';
import { LINE_INTENTS, type LineRequest, type LineWish } from './requests.ts';

export const LINE_WORDING: Wording<LineRequest> = plainWording<LineRequest>({
  whole: ({ intent, slots: { line_id, gb_amount } }, dice) =>
    dice.pick(
      intent === 'add_data'
        ? [`add ${gb_amount} GB to line ${line_id}`, `add ${gb_amount} GB of data to line ${line_id}`]
        : [`enable roaming on line ${line_id}`, `use line ${line_id} abroad`],
    ),
  bare: ({ intent }) => (intent === 'add_data' ? 'add data to a line' : 'enable roaming on a line'),
  answerFacts({ slots: { line_id, gb_amount } }, asked) {
    const parts = [
      ...(asked.has('line') ? [`line ${line_id}`] : []),
      ...(asked.has('amount') && gb_amount !== undefined ? [`${gb_amount} GB`] : []),
    ];
    return parts.length > 0 ? sentence(parts.join(', ')) : '';
  },
});

/** @throws if a wish is none of this level's */
export function lineCustomer(scenario: UserScenario, seed: number): PlayedCustomer {
  checkIntents(scenario.wishes, LINE_INTENTS);
  const told = { ...scenario, wishes: scenario.wishes as unknown as LineWish[] };
  const customer = new ScriptedCustomer<LineRequest>(told, seed, LINE_WORDING, LINE_EARS);
  return { open: () => customer.open(), hear: (text) => ({ say: customer.reply(text) }) };
}
