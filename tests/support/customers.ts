/** Wishes and scenarios for the tests of the simulated customers. */
import type { Persona } from '../../src/records/conditions.ts';
import type { UserScenario, Wish } from '../../src/records/task.ts';

export const returnLamp: Wish = {
  intent: 'return',
  slots: { order_id: '#W1234567', item_ids: ['1111111111'], payment_method_id: 'gift_card_1111111' },
  words: { items: ['lamp'], payment: ['gift card'] },
  impossible: false,
};
export const cancelOrder: Wish = {
  intent: 'cancel',
  slots: { order_id: '#W7654321', reason: 'no longer needed' },
  words: {},
  impossible: false,
};

export const byEmail = { email: 'mia.garcia1@example.com' };
export const byName = { first_name: 'Mia', last_name: 'Garcia', zip: '78712' };

export function customer(persona: Persona, wishes: Wish[], identity: Record<string, string> = { ...byEmail, ...byName }): UserScenario {
  return {
    persona,
    identity,
    wishes,
    instruction: 'You are Mia Garcia and live in zip code 78712. You want to cancel order #W7654321 because it is no longer needed.',
  };
}
