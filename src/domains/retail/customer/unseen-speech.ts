/**
 * @file The sentences of scripted customers in the split `unseen`. No other wording has them. They say the same facts by the same
 * rules, and keep the words that name a fact, such as `gift card`.
 */
import type { Dice } from '../../../base/dice.ts';
import { STOP } from '../../../users/types.ts';
import type { ShopRequest as Request } from '../schema.ts';
import { type Fact, itemsOf, orderOf, paymentOf, sentence, swapsOf, type Wording } from './speech.ts';

const reasonOf = ({ slots }: Request, dice: Dice) =>
  dice.pick(
    slots.reason === 'ordered by mistake' ? ['it was a mistake', 'I made a mistake'] : ['I no longer want it', 'it is not needed any more'],
  );

/** The request with all its facts, as a clause such as `cancel order #W1234567 …`. */
function whole(request: Request, dice: Dice): string {
  const order = orderOf(request);
  const payment = paymentOf(request);
  switch (request.intent) {
    case 'cancel':
      return dice.pick([`cancel ${order} because ${reasonOf(request, dice)}`, `cancel ${order}: ${reasonOf(request, dice)}`]);
    case 'return':
      return `return ${itemsOf(request)} that came in ${order}, refund on ${payment}`;
    case 'modify_payment':
      return dice.pick([`use ${payment} to pay ${order}`, `move the payment of ${order} to ${payment}`]);
    case 'exchange':
    case 'modify_items':
      return `${request.intent === 'exchange' ? 'exchange' : 'change'} ${swapsOf(request)}, from ${order}, any difference on ${payment}`;
    case 'modify_address': {
      const address = request.words.address?.[0] ?? 'another place';
      return request.slots.order_id ? `ship ${order} to another address: ${address}` : `make ${address} ${order}`;
    }
  }
}

/** The request without its facts, as a clause such as `cancel order #W1234567 …`. */
function bare({ intent, slots, words }: Request): string {
  const order = words.owner ? `${words.owner[0]} order for them` : 'one of my orders';
  switch (intent) {
    case 'cancel':
      return `cancel ${order}`;
    case 'return':
      return `return something from ${order}`;
    case 'modify_payment':
      return `pay ${order} another way`;
    case 'exchange':
      return `exchange something from ${order}`;
    case 'modify_items':
      return `change some items in ${order}`;
    case 'modify_address':
      return slots.order_id ? `ship ${order} to another address` : 'set a new default address';
  }
}

const clauseOf = (request: Request, isWhole: boolean, dice: Dice) => (isWhole ? whole(request, dice) : bare(request));

function answerFacts(request: Request, asked: ReadonlySet<Fact>, dice: Dice): string {
  const facts: Record<Fact, () => string> = {
    order: () => dice.pick([`I mean ${orderOf(request)}`, `that would be ${orderOf(request)}`]),
    items: () => (request.words.new_items ? `I would like ${swapsOf(request)}` : `I am talking about ${itemsOf(request)}`),
    new_items: () => `I would like ${swapsOf(request)}`,
    reason: () => `well, ${reasonOf(request, dice)}`,
    payment: () => dice.pick([`use ${paymentOf(request)}`, `${paymentOf(request)} would be best`]),
    address: () => `send it to ${request.words.address?.[0] ?? 'another place'}`,
  };
  const has: Record<Fact, boolean> = {
    order: true,
    items: request.words.items !== undefined,
    new_items: request.words.new_items !== undefined && !asked.has('items'),
    reason: request.intent === 'cancel',
    payment: request.words.payment !== undefined,
    address: request.intent === 'modify_address',
  };
  const parts = (Object.keys(facts) as Fact[]).filter((fact) => asked.has(fact) && has[fact]).map((fact) => facts[fact]());
  return parts.length > 0 ? sentence(parts.join(', ')) : '';
}

export const UNSEEN: Wording = {
  greeting: (dice) => dice.pick(['Good day.', 'Greetings.']),
  state: (request, isWhole, dice) =>
    dice.pick([`Can you ${clauseOf(request, isWhole, dice)}?`, `My wish: ${clauseOf(request, isWhole, dice)}.`]),
  also: (request, isWhole, dice) => `${dice.pick(['Something else too', 'Then this'])}: ${clauseOf(request, isWhole, dice)}.`,
  change: (request, dice) => `${dice.pick(['I changed my mind', 'Better do this instead'])}: ${whole(request, dice)}.`,
  rectify: (request, dice) => `${dice.pick(['I misread it', 'Bad number'])}. Instead, ${whole(request, dice)}.`,
  correct: (request, dice) => `Not quite. Instead, ${whole(request, dice)}.`,
  answerFacts,
  nameAndZip: ({ identity: { first_name, last_name, zip } }, dice) =>
    dice.pick([`This is ${first_name} ${last_name}, zip code ${zip}.`, `I'm ${first_name} ${last_name} and my zip is ${zip}.`]),
  email: ({ identity: { email } }, dice) => dice.pick([`It should be ${email}.`, `Look for ${email}.`]),
  ownEmail: ({ identity: { email } }) => `You know me as ${email}.`,
  noEmail: (dice) => dice.pick(['I have no email here.', 'My email is not with me.']),
  unknown: (dice) => dice.pick(['I have no idea.', "I can't tell."]),
  yes: (dice) => dice.pick(['Sure, go ahead.', 'That is right, please do.']),
  insist: (dice) => dice.pick(['Can you try it once more?', 'Please, I need this.']),
  goodbye: (dice) => `${dice.pick(['That was everything.', 'We are done here.'])} ${STOP}`,
  giveUp: (dice) => `${dice.pick(['This is useless.', 'I stop here, this is not helping.'])} ${STOP}`,
};
