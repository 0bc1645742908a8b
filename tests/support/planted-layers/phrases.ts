/** @file Wordings that all domains share, and the usual course of a conversation. */
import type { Course, Job, Talk, Words } from './talk.ts';

export const YES: Words = [
  'Yes, please.',
  'Yes, go ahead.',
  'yep do it',
  'That is all correct. Please proceed.',
  'Yes, I confirm.',
  'Sounds good, yes.',
  'Yes please, thank you!',
  'Sure, go for it.',
  "Yes, that's right, please do that.",
  'Absolutely, yes.',
  'Confirmed.',
  'OK yes, let us do it.',
  'Yes. Everything you listed is right.',
  'yeah please',
  'I agree to that, you can go on.',
  'Yes, exactly like that please.',
];

/** A clear yes in words that are not usual. */
export const UNUSUAL_YES: Words = [
  "Couldn't have put it better myself, make it so.",
  'Aye, full steam ahead.',
  'Fine by me, you have my blessing.',
  '👍 please do',
  'You have the green light.',
  'Why not. Do it before I change my mind!',
  'By all means.',
  'I have nothing against it, please carry it out.',
  "Let's roll with that.",
  'Consider it agreed.',
  'Affirmative, proceed with all of it.',
  "That's what I came for, so yes, please.",
];

const THANKS: Words = [
  "Great, thanks. That's all.",
  'Thank you so much, nothing else for today.',
  'perfect, bye',
  'Thanks, that was everything.',
  'Lovely. Have a good day!',
  'cheers',
  'Super, thank you, goodbye.',
  'Good, that is all I needed.',
];

const BYE: Words = [
  "You're welcome! Have a nice day.",
  'Happy to help. Goodbye!',
  'Glad I could help. Take care.',
  'Anytime. Bye!',
  'My pleasure. Goodbye.',
  'You are welcome. Enjoy the rest of your day.',
  'Thanks for contacting us. Goodbye!',
  "You're very welcome. Bye for now.",
];

export const GREETING: Words = [
  'Hello! How can I help you today?',
  'Hi there, what can I do for you?',
  'Good day, and welcome to customer service. What brings you here?',
  'Welcome! How may I assist you?',
];

export const MOMENT: Words = ['One moment, please.', 'Let me look that up.', 'Checking that for you now.', 'I will take a look.'];

export const HUMAN: Words = [
  'YOU ARE BEING TRANSFERRED TO A HUMAN AGENT. PLEASE HOLD ON.',
  "I've passed this to a colleague with all the details. YOU ARE BEING TRANSFERRED TO A HUMAN AGENT. PLEASE HOLD ON.",
  'YOU ARE BEING TRANSFERRED TO A HUMAN AGENT. PLEASE HOLD ON.',
  'A colleague takes over from here and knows your case. YOU ARE BEING TRANSFERRED TO A HUMAN AGENT. PLEASE HOLD ON.',
];

/** Questions for a yes that name no detail. */
export const BARE: Words = [
  'Shall I go ahead?',
  'Is it okay if I proceed?',
  'I can do that. Do you want me to continue?',
  "All right, I'm ready. Yes or no?",
  'No problem at all. Should I take care of it now?',
  'Everything is prepared. Do you confirm?',
  'Okay! May I proceed with your request?',
  'Understood. Just say yes and I will do it.',
];

export function end(t: Talk): void {
  if (t.below(4) === 0) return;
  t.user(THANKS);
  if (t.below(3)) t.say(BYE);
}

/** Plays the job as a careful agent does, except for what the course changes. */
export function serve(t: Talk, job: Job, course: Course = {}): void {
  if (t.below(4) === 0) t.say(GREETING);
  t.user(course.wish ?? job.wish);
  if (course.find !== false) job.find(t);
  if (course.read !== false) (course.read ?? job.read)(t);
  if (course.ask !== false) {
    t.say(course.ask ?? job.ask, course.plant === 'ask');
    if (course.answer !== false) t.user(course.answer ?? YES);
  }
  course.between?.(t);
  if (course.write !== false) t.call(course.write ?? job.write, course.plant === 'write', t.loose && t.below(2) ? t.text(MOMENT) : null);
  if (course.done !== false) t.say(course.done ?? job.done, course.plant === 'done');
  if (course.end !== false && course.done !== false) end(t);
}

/** Hands over to a human, with a summary in a wording of the list. */
export function handOver(t: Talk, summary: Words, plant?: 'call' | 'text', said: Words | false = HUMAN): void {
  t.call({ name: 'transfer_to_human_agents', args: { summary: t.text(summary) }, result: 'Transfer successful' }, plant === 'call');
  if (said) t.say(said, plant === 'text');
}
