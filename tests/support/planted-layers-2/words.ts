/** @file Wordings that the kinds of all domains share. The first half of a list is used in the open part, the second half in the other. */
import type { DomainName, Kind, Talk, Words } from '../planted-layers/talk.ts';

export const kindOf =
  (layer: Kind['layer'], domain: DomainName) =>
  (name: string, write: Kind['write'], held = false): Kind => ({ layer, domain, name, held, write });

/** Wordings of a kind that is only in the held-back part. */
export const heldOnly = (...words: string[]): Words => [...words, ...words];

export const HELLO: Words = [
  'Hi there! What can I do for you today?',
  'Good afternoon, and welcome. How may I be of service?',
  'Hello, support here. Tell me what you need.',
  'Hey! Happy to help. What is going on?',
  'Welcome back. What brings you here today?',
  'Support desk, good day. Please describe your request.',
  'Hello hello, how can I help?',
  'Thank you for writing to us. What is it about?',
];

export const WAIT: Words = [
  'Let me pull that up.',
  'One second while I look.',
  'Looking into it now.',
  'I am opening your records.',
  'Bear with me for a moment.',
  'Fetching that for you.',
  'Let me have a look at this.',
  'Checking the system.',
];

export const YES: Words = [
  'Yes, please do that.',
  'yep, go for it',
  'That is right. Yes.',
  'Yes. Go ahead with exactly that.',
  'ok yes, all correct',
  'I confirm, yes.',
  'Sure, yes, thanks!',
  'Yes please!!',
  'Correct, please proceed. Yes.',
  'yes, do it',
  'Yes, that is what I want.',
  'Absolutely, yes, carry on.',
];

const THANKS: Words = [
  'Great, thanks. That was all.',
  'ok thx bye',
  'Thank you, nothing else from me.',
  'Perfect! Have a good one.',
  'All right, that will be all.',
  'Cheers, that is it for today.',
  'Wonderful, thank you so much. Bye!',
  'fine, no more questions',
];

const BYE: Words = [
  'You are welcome. Goodbye!',
  'Glad I could help. Take care.',
  'Thank you for getting in touch. Goodbye.',
  'Any time! Have a lovely day.',
  'My pleasure. Bye for now.',
  'Thanks for your patience, and goodbye.',
  'Happy to help. See you next time!',
  'It was nice to talk to you. Goodbye.',
];

const HOLD: Words = ['YOU ARE BEING TRANSFERRED TO A HUMAN AGENT. PLEASE HOLD ON.'];

/** The customer's last words after a refusal. */
const LETDOWN: Words = [
  'Hm, a pity. Bye then.',
  'ok, nothing to be done i guess',
  'I see. No, that was all.',
  'Too bad. Goodbye.',
  'fine.',
  'All right, then not. Bye.',
];

export function closeRefused(t: Talk): void {
  t.user(LETDOWN);
  if (t.below(2)) t.say(BYE);
}

const ASIDE: Words = [
  'Under which name is the account, by the way?',
  'just checking, whose name do you have there?',
  'Before that: is this really in my name?',
  'One question first. What name is stored with you?',
  'Which name do you see for me?',
  'wait, you have the right person, do you? which name?',
];
const ASIDE_ANSWER: Words = [
  'It is under {name}. Shall I go on as described?',
  'The account belongs to {name}. Do I have your yes for the above?',
  'Name: {name}. May I continue?',
  'I see {name} here. Is the rest fine with you as I put it?',
  '{name} is the name. Do you agree to what I described?',
  'Yes, it says {name}. So, shall I?',
];

/** The customer agrees, sometimes after a question beside the point. */
export function agree(t: Talk): void {
  if (t.below(5) === 0) {
    t.user(ASIDE);
    t.say(ASIDE_ANSWER);
  }
  t.user(YES);
}

const CHAT: Words = [
  'By the way, am I talking to a human?',
  'are you a bot?',
  'One more thing, out of curiosity: are you a machine?',
  'Is this a real person?',
];
const CHAT_ANSWER: Words = [
  'I am an automated assistant. Anything else?',
  'No, I am a virtual agent. What else may I do?',
  'A program, yes. Is there more?',
  'I am software. Do you need anything else?',
];

/** The customer's last words and the agent's. Half of the conversations end without them. */
export function close(t: Talk, always = false): void {
  if (!always && t.below(2)) return;
  if (t.below(4) === 0) {
    t.user(CHAT);
    t.say(CHAT_ANSWER);
  }
  t.user(THANKS);
  if (t.below(2)) t.say(BYE);
}

/** Hands over to a human with the summary. */
export function transfer(t: Talk, summary: Words, planted = false): void {
  t.call({ name: 'transfer_to_human_agents', args: { summary: t.text(summary) }, result: 'Transfer successful' }, planted);
  t.say(HOLD);
}

export const SYSTEM = {
  retail: `You work for an online shop. Identify the customer by email, or by name and zip code. Then cancel or change pending orders, and return or exchange delivered ones, each once.
List the details of a change and wait for a yes. A cancelled or returned amount goes back at once to a gift card, and within 5 to 7 business days otherwise. Say so.
Decline what is not possible and give the reason. Hand over only what your tools cannot do.`,
  airline: `You work for an airline. It is 15 May 2024, 3 pm EST. Ask for the user id and the reservation.
Basic economy flights cannot be changed, but their cabin can. Cancel only within 24 hours of booking, in business, if the airline cancelled, or with insurance for health or weather. Refunds arrive in 5 to 7 business days. An extra bag costs $50.
List the details of a change and wait for a yes. Decline what is not allowed and give the reason. Hand over only what your tools cannot do.`,
  telecom: `You work for a phone provider. It is 25 February 2025. Find the customer by phone number.
An overdue bill is paid by a payment request; check that it is paid before you say so. A suspended line may be resumed after all overdue bills are paid, never after its contract has ended; the customer restarts the phone then. Data costs the plan's price for each GB, at most 2 GB.
Solve technical problems step by step before you hand over. Decline what is not allowed and give the reason.`,
};

export const STRICT = 'In each turn either call one tool or write to the customer, never both.';
export const LOOSE = 'You may make several calls in a turn, and write to the customer beside them.';
