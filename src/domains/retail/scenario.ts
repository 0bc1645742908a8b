/** @file The scenario of a retail task, as facts and as instructions for a language model, and the gold actions. */
import type { Dice } from '../../base/dice.ts';
import type { Persona } from '../../records/conditions.ts';
import type { Task, ToolCall } from '../../records/task.ts';
import type { Request, ScenarioFor } from './customer/listening.ts';
import { type Level, type ShopRequest, type ShopScenario, type ShopWish as Wish, UNSEEN_WORDS } from './schema.ts';
import { TOOLS_OF } from './tool-schemas.ts';
import { type Customer, goldCall, INTENT_WEIGHTS, requestText } from './wishes.ts';

export type Draft = Pick<Task, 'scenario' | 'actions' | 'noop'>;

/** The task of a customer with these wishes: the scenario and the gold actions. */
export function draft(dice: Dice, level: Level, persona: Persona, { id, split, user }: Customer, wishes: Wish[]): Draft {
  const { first_name, last_name } = user.name;
  const { zip } = user.address;
  const byEmail = dice.chance(0.75);
  // At level `glimpse` no tool finds customers. So they have only a name, and they tell all facts at once.
  const identified = TOOLS_OF[level].includes('get_user_details');
  const identity = { ...(identified && byEmail && { email: user.email }), first_name, last_name, ...(identified && { zip }) };
  const told: Omit<ShopScenario, 'instruction'> = {
    persona,
    identity,
    wishes,
    ...(!identified && persona !== 'on_request' && { tellsAll: true }),
    ...(split === 'unseen' && { facts: UNSEEN_WORDS }),
  };
  const find: ToolCall = byEmail
    ? { name: 'find_user_id_by_email', arguments: { email: user.email } }
    : { name: 'find_user_id_by_name_zip', arguments: { first_name, last_name, zip } };
  const actions: ToolCall[] = [find, { name: 'get_user_details', arguments: { user_id: id } }];
  for (const wish of wishes) {
    const own = user.orders.includes(String(wish.slots.order_id));
    if (own) actions.push({ name: 'get_order_details', arguments: { order_id: wish.slots.order_id! } });
    if (!wish.impossible) actions.push(goldCall(wish, id));
    else if (needsTransfer(level, wish))
      actions.push({
        name: 'transfer_to_human_agents',
        arguments: { summary: `The customer wants to ${requestText(wish).replace(/\byour?\b/g, 'their')}.` },
      });
  }
  return {
    scenario: { ...told, instruction: instructionFor(told, requestText, 'order') },
    actions: actions.filter(({ name }) => TOOLS_OF[level].includes(name)),
    noop: wishes.every((wish) => wish.impossible),
  };
}

/** Whether no tool of the level can fulfil the wish. */
function needsTransfer(level: Level, wish: ShopRequest): boolean {
  return (
    INTENT_WEIGHTS[level][wish.intent] === undefined ||
    (level === 'small' && wish.intent === 'modify_address' && wish.slots.order_id === undefined)
  );
}

/**
 * A scenario as instructions for a language model that plays the customer.
 * @param textOf a request as a clause that follows "want to"
 * @param thing what a request is about: `order`
 */
export function instructionFor<R extends Request>(
  { persona, identity, wishes, tellsAll }: Omit<ScenarioFor<R>, 'instruction'>,
  textOf: (request: R) => string,
  thing: string,
): string {
  const { email, first_name, last_name, zip } = identity;
  const lines = zip
    ? [
        `You are ${first_name} ${last_name} and live in zip code ${zip}.`,
        email ? `Your email is ${email}.` : 'You do not remember your email.',
      ]
    : [`You are ${first_name} ${last_name}.`];
  for (const [i, wish] of wishes.entries()) {
    const text = textOf(wish);
    const then = persona === 'reserved' ? 'When that is settled and the agent asks whether you want anything else' : 'When that is settled';
    const also = i === 0 ? 'You want to' : `${then}, you also want to`;
    if (wish.words.owner)
      lines.push(
        `${also} ${text}. It is ${wish.words.owner[0]!.replace('my', 'your')} order, not yours; say so. If the agent refuses, insist once, then accept it and go on.`,
      );
    else if (wish.impossible && persona === 'pushy')
      lines.push(`${also} ${text}. If the agent refuses, insist once, then accept it and go on.`);
    else if (wish.insteadOf && persona === 'confused')
      lines.push(
        `You mix up your ${thing} numbers: at first you ask to ${textOf(wish.insteadOf)}. When the agent repeats this number or finds no such ${thing}, you correct yourself: you want to ${text}.`,
      );
    else if (wish.insteadOf)
      lines.push(
        `At first you ask to ${textOf(wish.insteadOf)}. When the agent asks you to confirm, you change your mind: you want to ${text}.`,
      );
    else lines.push(`${also} ${text}.${wish.impossible ? ' If that cannot be done, you accept it.' : ''}`);
  }
  if (wishes.some(({ words, insteadOf }) => words.new_items ?? insteadOf?.words.new_items))
    lines.push('All other options of these items stay the same.');
  if (tellsAll && persona !== 'reserved') lines.push('You say everything you want in your first message.');
  else if (persona === 'upfront') lines.push('You say who you are and everything you want in your first message.');
  if (persona === 'reserved') lines.push('If the agent does not ask, you say goodbye and do not mention the other wish.');
  if (persona === 'on_request') lines.push('You are brief and give a piece of information only when the agent asks for it.');
  return lines.join(' ');
}
