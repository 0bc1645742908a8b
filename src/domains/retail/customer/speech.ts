/** @file The sentences of the scripted customer, in simple English. For each sentence, the seed chooses one of a few wordings. */
import { Dice } from '../../../base/dice.ts';
import type { UserScenario } from '../../../records/task.ts';
import type { Intent, ShopRequest } from '../schema.ts';
import { STOP } from '../../../users/types.ts';

/** A fact of a request that an agent can ask for. */
export type Fact = 'order' | 'items' | 'new_items' | 'reason' | 'payment' | 'address';

/** How a customer words what the rules of the scripted customer decide. Each function uses the dice to choose its words. */
export interface Wording<Request = ShopRequest> {
  greeting(dice: Dice): string;
  /** States a request for the first time. If `whole` is true, the sentence contains all of its facts, otherwise none. */
  state(request: Request, whole: boolean, dice: Dice): string;
  also(request: Request, whole: boolean, dice: Dice): string;
  change(request: Request, dice: Dice): string;
  rectify(request: Request, dice: Dice): string;
  correct(request: Request, dice: Dice): string;
  /** The facts that the agent asked for, in one sentence. '' if the request has none of these facts. */
  answerFacts(request: Request, asked: ReadonlySet<string>, dice: Dice): string;
  nameAndZip(scenario: UserScenario, dice: Dice): string;
  /**
   * `email` is the answer when the agent asks for the email. `ownEmail` is for a first message in which the customer tells it
   * without being asked.
   */
  email(scenario: UserScenario, dice: Dice): string;
  ownEmail(scenario: UserScenario, dice: Dice): string;
  noEmail(dice: Dice): string;
  unknown(dice: Dice): string;
  yes(dice: Dice): string;
  insist(dice: Dice): string;
  goodbye(dice: Dice): string;
  giveUp(dice: Dice): string;
}

const and = (parts: string[]) => parts.join(' and ');

/** Names the order or address of a request: `order #W1234567`, `my friend's order #W1234567`, `my default address`. */
export function orderOf({ slots, words }: ShopRequest): string {
  if (slots.order_id) return `${words.owner ? `${words.owner[0]} ` : ''}order ${String(slots.order_id)}`;
  return words.order?.[0] ?? 'my default address';
}

export function itemsOf({ words }: ShopRequest): string {
  return and((words.items ?? []).map((item) => `the ${item}`));
}

export function swapsOf({ words }: ShopRequest): string {
  return and((words.items ?? []).map((item, i) => `the ${item} for one with ${words.new_items?.[i] ?? 'other options'}`));
}

export function paymentOf({ words }: ShopRequest): string {
  const name = words.payment?.[0] ?? 'original payment method';
  return name.startsWith('original') ? `the ${name}` : `my ${name}`;
}

/** The request with all its facts, as a clause that follows "I want to". */
export function wholeRequest(request: ShopRequest, dice: Dice): string {
  const order = orderOf(request);
  switch (request.intent) {
    case 'cancel':
      return `cancel ${order}, ${dice.pick(request.slots.reason === 'ordered by mistake' ? ['ordered by mistake', 'I ordered it by mistake'] : ['no longer needed', 'it is no longer needed'])}`;
    case 'return':
      return `return ${itemsOf(request)} ${dice.pick(['of', 'from'])} ${order}, refund to ${paymentOf(request)}`;
    case 'modify_payment':
      return dice.pick([`pay ${order} with ${paymentOf(request)}`, `change the payment of ${order} to ${paymentOf(request)}`]);
    case 'exchange':
      return `exchange ${swapsOf(request)} in ${order}, price difference on ${paymentOf(request)}`;
    case 'modify_items':
      return `change ${swapsOf(request)} in ${order}, price difference on ${paymentOf(request)}`;
    case 'modify_address':
      return `change ${request.slots.order_id ? `the address of ${order}` : order} to ${request.words.address?.[0] ?? 'another one'}`;
  }
}

/** The request without its facts, as a clause that follows "I want to". */
export function bareRequest({ intent, slots, words }: ShopRequest): string {
  const order = words.owner ? `${words.owner[0]} order` : 'an order';
  switch (intent) {
    case 'cancel':
      return `cancel ${order}`;
    case 'return':
      return `return items of ${order}`;
    case 'modify_payment':
      return `change the payment of ${order}`;
    case 'exchange':
      return `exchange items of ${order}`;
    case 'modify_items':
      return `change items of ${order}`;
    case 'modify_address':
      return slots.order_id ? `change the address of ${order}` : 'change my default address';
  }
}

const FACTS: Record<Intent, Fact[]> = {
  cancel: ['order', 'reason'],
  return: ['order', 'items', 'payment'],
  modify_payment: ['order', 'payment'],
  exchange: ['order', 'items', 'new_items', 'payment'],
  modify_items: ['order', 'items', 'new_items', 'payment'],
  modify_address: ['order', 'address'],
};

function answerFacts(request: ShopRequest, asked: ReadonlySet<string>, dice: Dice): string {
  const parts = FACTS[request.intent].flatMap((fact): string[] => {
    if (!asked.has(fact)) return [];
    switch (fact) {
      case 'order':
        return [orderOf(request)];
      case 'reason':
        return [
          dice.pick(
            request.slots.reason === 'ordered by mistake'
              ? ['ordered by mistake', 'I ordered it by mistake']
              : ['no longer needed', 'it is no longer needed'],
          ),
        ];
      case 'items':
        return request.words.new_items ? [swapsOf(request)] : [itemsOf(request)];
      case 'new_items':
        return asked.has('items') ? [] : [swapsOf(request)];
      case 'payment':
        return [request.intent === 'return' && asked.size > 1 ? `refund to ${paymentOf(request)}` : paymentOf(request)];
      case 'address':
        return [request.words.address?.[0] ?? ''];
    }
  });
  return parts.length ? sentence(parts.filter(Boolean).join(', ')) : '';
}

function nameAndZip({ identity }: Pick<UserScenario, 'identity'>, dice: Dice): string {
  const { first_name, last_name, zip } = identity;
  return dice.pick([`I am ${first_name} ${last_name}, zip ${zip}.`, `My name is ${first_name} ${last_name}, zip ${zip}.`]);
}

const email = ({ identity }: UserScenario, dice: Dice) => dice.pick([`My email is ${identity.email}.`, `It is ${identity.email}.`]);

const greeting = (dice: Dice) => dice.pick(['Hi.', 'Hello.']);
const yes = (dice: Dice) => dice.pick(['Yes.', 'Yes, please.']);
const insist = (dice: Dice) => dice.pick(['Please make an exception.', 'Please, just this once.']);
const goodbye = (dice: Dice) => `${dice.pick(['No, thanks.', 'Thanks, bye.'])} ${STOP}`;
const giveUp = (dice: Dice) => `${dice.pick(['This does not help me. Bye.', 'I give up. Bye.'])} ${STOP}`;
const unknown = (dice: Dice) => dice.pick(["I don't know.", "I don't know that."]);
const noEmail = (dice: Dice) => dice.pick(["I don't remember my email.", "I don't know my email."]);

/** The clauses of a domain's requests. `whole` and `bare` follow "I want to". */
interface Clauses<R> extends Pick<Wording<R>, 'answerFacts'> {
  /** The request with all its facts. */
  whole(request: R, dice: Dice): string;
  /** The request without its facts. */
  bare(request: R): string;
}

/** The plain wording of a domain's customers. */
export const plainWording = <R>({ whole, bare, answerFacts }: Clauses<R>): Wording<R> => ({
  greeting,
  state(request, all, dice) {
    const clause = all ? whole(request, dice) : bare(request);
    return dice.pick([`I want to ${clause}.`, `Please ${clause}.`]);
  },
  also: (request, all, dice) => `${dice.pick(['Yes', 'Thanks'])}, I also want to ${all ? whole(request, dice) : bare(request)}.`,
  change: (request, dice) => `${dice.pick(['Actually', 'Wait'])}, I want to ${whole(request, dice)} instead.`,
  rectify: (request, dice) => `${dice.pick(['Sorry, I mixed that up', 'Sorry, wrong number'])}. I want to ${whole(request, dice)}.`,
  correct: (request, dice) => `No, I want to ${whole(request, dice)}.`,
  answerFacts,
  nameAndZip,
  email,
  ownEmail: ({ identity }) => `My email is ${identity.email}.`,
  noEmail,
  unknown,
  yes,
  insist,
  goodbye,
  giveUp,
});

/** The wording with which the models of this project were trained. */
export const PLAIN: Wording = plainWording({ whole: wholeRequest, bare: bareRequest, answerFacts });

/** Suggestions for what a customer of this task may say. */
export function suggestions<R>({ identity, wishes }: Pick<UserScenario, 'identity' | 'wishes'>, wording: Wording<R>): string[] {
  const dice = new Dice('suggestions', 0);
  const [first, ...more] = wishes as unknown as (R & { insteadOf?: R })[];
  if (!first) return [];
  const who =
    identity.email !== undefined ? `My email is ${identity.email}.` : identity.zip !== undefined ? nameAndZip({ identity }, dice) : '';
  const asked = first.insteadOf ?? first;
  return [
    [wording.greeting(dice), who, wording.state(asked, true, dice)].filter(Boolean).join(' '),
    wording.yes(dice),
    ...(first.insteadOf ? [wording.change(first, dice)] : []),
    ...more.map((wish) => wording.also(wish, true, dice)),
    wording.correct(first, dice),
    wording.unknown(dice),
  ];
}

/** Makes a sentence: adds a capital letter and a full stop. */
export function sentence(text: string): string {
  return `${text[0]!.toUpperCase()}${text.slice(1)}.`;
}
