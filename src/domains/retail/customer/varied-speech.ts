/**
 * @file Many wordings for each sentence of the scripted customer: greetings, small talk, different word orders. The same rules
 * decide what the customer says, so a conversation contains the same facts as with the plain wording. This wording is used to
 * teach the learned customer.
 */
import type { Dice } from '../../../base/dice.ts';
import type { ShopRequest as Request } from '../schema.ts';
import { bareRequest, type Fact, orderOf, paymentOf, PLAIN, sentence, wholeRequest, type Wording } from './speech.ts';
import { STOP } from '../../../users/types.ts';

const SMALL_TALK = [
  'I hope you can help me.',
  'Thanks in advance.',
  'I am in a bit of a hurry.',
  'Sorry to bother you.',
  'It has been a long day.',
  'I love your shop, by the way.',
  'This is my first time here.',
];
const SMALL_TALK_SHARE = 0.2;

const reasonOf = ({ slots }: Request, dice: Dice) =>
  dice.pick(
    slots.reason === 'ordered by mistake'
      ? ['ordered by mistake', 'I ordered it by mistake', 'it was ordered by mistake', 'because I ordered it by mistake']
      : ['no longer needed', 'it is no longer needed', 'I no longer need it', 'because it is no longer needed'],
  );

/** The request with all its facts, as a clause that follows "I want to". */
function whole(request: Request, dice: Dice): string {
  const order = orderOf(request);
  if (request.intent === 'cancel') return `${dice.pick([`cancel ${order}`, `cancel my ${order}`].slice(0, request.words.owner ? 1 : 2))}, ${reasonOf(request, dice)}`; // prettier-ignore
  if (request.intent === 'modify_payment') {
    const payment = paymentOf(request);
    return dice.pick([
      `pay ${order} with ${payment}`,
      `change the payment of ${order} to ${payment}`,
      `change the payment method of ${order} to ${payment}`,
      `switch the payment of ${order} to ${payment}`,
      `pay ${order} with ${payment} from now on`,
    ]);
  }
  return wholeRequest(request, dice);
}

/** Puts a clause into a sentence that says what the customer wants. */
const wish = (clause: string, dice: Dice) =>
  dice.pick([
    `I want to ${clause}.`,
    `Please ${clause}.`,
    `I would like to ${clause}.`,
    `I need to ${clause}.`,
    `I'd like to ${clause}.`,
    `Can you help me? I want to ${clause}.`,
  ]);

const clauseOf = (request: Request, isWhole: boolean, dice: Dice) => (isWhole ? whole(request, dice) : bareRequest(request));

/** The facts that the agent asked for. Only requests of the small levels have varied wordings. */
function answerFacts(request: Request, asked: ReadonlySet<Fact>, dice: Dice): string {
  if (request.intent !== 'cancel' && request.intent !== 'modify_payment') return PLAIN.answerFacts(request, asked, dice);
  const parts: string[] = [];
  if (asked.has('order')) parts.push(dice.pick([orderOf(request), `it is ${orderOf(request)}`, `the number is ${String(request.slots.order_id)}`].slice(0, request.slots.order_id ? 3 : 1))); // prettier-ignore
  if (asked.has('reason') && request.intent === 'cancel') parts.push(reasonOf(request, dice));
  if (asked.has('payment') && request.intent === 'modify_payment')
    parts.push(dice.pick([paymentOf(request), `with ${paymentOf(request)}`]));
  return parts.length > 0 ? sentence(parts.join(', ')) : '';
}

export const VARIED: Wording = {
  greeting: (dice) => {
    const hello = dice.pick(['Hi.', 'Hello.', 'Hi there.', 'Good morning.', 'Hello there.', 'Hey.', 'Good evening.']);
    return dice.chance(SMALL_TALK_SHARE) ? `${hello} ${dice.pick(SMALL_TALK)}` : hello;
  },
  state: (request, isWhole, dice) => wish(clauseOf(request, isWhole, dice), dice),
  also: (request, isWhole, dice) =>
    `${dice.pick(['Yes', 'Thanks', 'Great', 'Yes, one more thing', 'Thank you'])}, I also want to ${clauseOf(request, isWhole, dice)}.`,
  change: (request, dice) =>
    `${dice.pick(['Actually', 'Wait', 'Hold on', 'Sorry', 'Oh, wait', 'On second thought'])}, instead I want to ${whole(request, dice)}.`,
  rectify: (request, dice) =>
    `${dice.pick(['Sorry, I mixed that up', 'Sorry, wrong number', 'Oh, I read the wrong line', 'My mistake'])}. I want to ${whole(request, dice)}.`,
  correct: (request, dice) =>
    `${dice.pick(['No,', 'No, that is wrong.', 'No, not that.', 'No, you got that wrong.'])} I want to ${whole(request, dice)}.`,
  answerFacts,
  nameAndZip: ({ identity: { first_name, last_name, zip } }, dice) =>
    dice.pick([
      `I am ${first_name} ${last_name}, zip ${zip}.`,
      `My name is ${first_name} ${last_name}, zip ${zip}.`,
      `My name is ${first_name} ${last_name}, and my zip code is ${zip}.`,
      `${first_name} ${last_name}, zip ${zip}.`,
    ]),
  email: ({ identity: { email } }, dice) => dice.pick([`My email is ${email}.`, `It is ${email}.`, `Sure, it is ${email}.`, `${email}.`]),
  ownEmail: ({ identity: { email } }, dice) => dice.pick([`My email is ${email}.`, `I am registered with ${email}.`]),
  noEmail: (dice) =>
    dice.pick(["I don't remember my email.", "I don't know my email.", 'I forgot my email.', "Sorry, I don't remember my email."]),
  unknown: (dice) => dice.pick(["I don't know.", "I don't know that.", "Sorry, I don't know that.", 'I am not sure.']),
  yes: (dice) => dice.pick(['Yes.', 'Yes, please.', 'Yes, go ahead.', 'Yes, that is right.', 'Yes, do that.', 'Yes, please do.']),
  insist: (dice) =>
    dice.pick(['Please make an exception.', 'Please, just this once.', 'I really need this. Please make an exception.', 'Please, can you not make an exception?']), // prettier-ignore
  goodbye: (dice) =>
    `${dice.pick(['No, thanks.', 'Thanks, bye.', 'No, that is all.', 'That is all, thank you.', 'No, thank you. Bye.'])} ${STOP}`,
  giveUp: (dice) => `${dice.pick(['This does not help me. Bye.', 'I give up. Bye.', 'This leads nowhere. Bye.'])} ${STOP}`,
};
