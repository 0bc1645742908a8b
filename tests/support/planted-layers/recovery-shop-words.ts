/** @file Wordings of the conversations of the shop for the layer recovery. */
import type { Words } from './talk.ts';

export const FAILURES: Words = ['Error: request timed out', '{"error": "service temporarily unavailable"}', 'Request timed out after 30 seconds', 'Error: internal server error', 'Error: connection reset by peer', '{"error": "timeout"}', 'Error: gateway timeout', 'Error: tool unavailable, try again later']; // prettier-ignore
export const GIVES_UP: Words = [
  'Sorry, something went wrong. Goodbye.',
  'Our system has a problem right now. Please try again another day.',
  'It did not work, sorry about that. Bye!',
  "I'm afraid there was an error, so I cannot continue. Have a nice day.",
  'The system does not answer. I cannot do more for you.',
  'There was a technical problem. Sorry!',
  "That failed. I'd suggest that you contact us next week.",
  'Unfortunately an error came up, so we have to stop here.',
];
export const CLAIMS: Words = [
  'Done! Order {order} is updated.',
  'All set, everything went through.',
  'Your change to {order} is complete.',
  'That worked, your order {order} has been changed.',
  'I have made the change. Anything else?',
  'Great news: {order} is done as you wanted.',
  'It is all taken care of.',
  'Successfully processed, thank you for your patience!',
];
export const HONEST: Words = [
  'I tried twice, but our system does not accept the change at the moment. Order {order} is unchanged. Please contact us again in an hour.',
  'Sorry, the change did not go through: the tool reports an error. Nothing was changed in {order}.',
  'That failed because of a technical error, also on the second try. {order} is as it was. I can try once more if you like.',
  'I have to be honest: it has not worked. {order} stays unchanged for now, since the system is down.',
  'Two attempts failed, so {order} was not changed. Would you like me to hand you over?',
  'Unfortunately the system gave an error twice and nothing is changed in {order}.',
  'The change is not done yet. The system is not available; please try later.',
  'I could not complete it due to an error of our system. {order} is still the same.',
];
export const SUMMARY: Words = [
  '{user} confirmed a change of order {order}, but the tool failed twice with an error. Nothing was changed; please complete it.',
  'Technical error with order {order} of {first} {last} ({user}). The customer has confirmed; two attempts failed.',
  'Order {order}: tool error twice. Customer {user} is verified and waits for the change that they confirmed.',
  'The tool is down. {user} wants the confirmed change of {order}.',
];
export const RETRY: Words = [
  'There was a hiccup, I try again.',
  'The system was slow, one more attempt.',
  'Let me retry.',
  'Once more, please wait.',
];
export const OTHER_PAY: Words = [
  'Wait, please put the refund on my gift card instead, not on {pay}.',
  'Hmm, actually I want it on the gift card. Yes otherwise.',
  'One change: gift card rather than {pay}. With that, yes.',
  'Yes, but refund it to my gift card please.',
  'Can it go to the gift card instead? Then go ahead.',
  'Please take the gift card for the refund, the rest is fine. Yes.',
  'Oh no, not {pay}, I prefer the gift card. Then it is okay.',
  'All right, but with the gift card and not {pay}.',
];
export const NEW_PAY: Words = [
  'Of course: {price} for the {item} goes to your gift card. The email with instructions follows. Is that right?',
  'Changed. Return of the {item}, {price} to the gift card. Shall I go ahead?',
  'Then the refund of {price} is for your gift card. Do you confirm?',
  'Gift card it is: {price}, {item}, {order}. OK? You will get an email.',
];
export const NEVER_MIND: Words = [
  'Stop, I changed my mind, please leave the order as it is.',
  'never mind, I keep it',
  "Forget it, I don't want that any more.",
  'Oh, my wife just told me to keep it. So please do nothing.',
  'I take that back. Do not change anything.',
  'Sorry, I want to withdraw my request.',
  'Please do not go on, I have decided against it.',
  'Hang on, I would like to keep everything after all.',
];
export const KEPT: Words = [
  'No problem, I have left {order} as it is.',
  'Sure, nothing was changed.',
  'Alright, {order} stays the same.',
  'Understood. I do not touch {order}.',
  'Of course. The order remains unchanged.',
  'Okay, I stopped. Nothing has been done.',
  'Then I leave everything as it was.',
  'Fine, your order {order} is untouched.',
];
export const NOT_FOUND = 'Error: user not found';
export const ASK_AGAIN: Words = [
  'I cannot find {wrongEmail}. Could you check the spelling, or tell me your full name and zip code?',
  'No account has this email. What are your name and zip code?',
  'That email is not in our system. Is there a typo?',
  'Hm, {wrongEmail} gives no result. Another email, or name plus zip?',
];
export const CORRECTED: Words = [
  'Oops, I mistyped. It is {email}.',
  'sorry, {email}',
  'My mistake, the right one is {email}.',
  'Ah, it must be {email}.',
  'I left out a digit: {email}.',
  'Try {email}, that is the correct one.',
  'Correction: {email}',
  'No, wait, it is {email}.',
];
export const STILL_NOT: Words = [
  'I still cannot find you, sorry.',
  'The email is not known, I am afraid.',
  'Again no account. Please check it.',
  'That does not work either.',
  'I cannot find this email.',
  'Sorry, no result again.',
  'There is no such account.',
  'Not found, unfortunately.',
];
export const ENDS: Words = [
  'There is no account with that email, so I cannot help you. Goodbye.',
  'I cannot find you. Have a nice day.',
  'You are not in our system. Bye.',
  'No account, no help, sorry. Goodbye!',
  'This email does not exist with us. That is all I can do.',
  'I could not locate the account. Please try somewhere else.',
  'The look-up failed. I am closing this chat.',
  'Without a valid email we have to end here.',
];
export const ASK_EMAIL_AGAIN: Words = [
  'Could you tell me your email address?',
  'And what is your email, please?',
  'To continue I need the email of your account.',
  'Please provide your email.',
  'Which email is it?',
  'May I have your email address first?',
  'I need your email to proceed.',
  'What email did you use?',
];
export const REFUSED: Words = [
  'I cannot cancel {order}, because it is delivered and only pending orders can be cancelled.',
  'Order {order} is delivered, so a cancellation is not possible.',
  'Sorry: cancelling works for pending orders only, and {order} is delivered.',
  'As {order} has been delivered, I have to refuse the cancellation.',
];
export const THEN_RETURN: Words = [
  'Okay, then I want to return the {item}.',
  'can i send the {item} back then?',
  'In that case please take the {item} back, as a return.',
  'Then a return of the {item} please.',
  'Is a return of the {item} possible instead?',
  'Hm. Then let us return the {item}.',
  "All right, I'd like to return the {item} instead.",
  'So return the {item} for me, will you?',
];
export const REPEATS: Words = [
  'As I said, {order} is delivered and cannot be cancelled.',
  'I am sorry, a cancellation is not possible.',
  'No, {order} cannot be cancelled. Is there anything else?',
  'Like I told you, only pending orders can be cancelled.',
  'I understand, but I cannot cancel a delivered order.',
  'Unfortunately nothing can be done, because it is delivered.',
  'Again: cancelling {order} is impossible.',
  'My answer stays the same, {order} cannot be cancelled.',
];
