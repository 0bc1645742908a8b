/** @file Whether the agent knew why the customer cancels. */
import type { LayeredConversation } from '../../../agent/layers.ts';
import { heardBefore } from '../../../agent/layers/readings.ts';
import { readable, sentences } from '../../../agent/sentences.ts';

/** Why customers do not fly. */
const GIVEN =
  /\b(because|since (i|we|my|our|the|it)|due to|owing to|thanks to|as (i|we|my|our|the) \w+|reasons?|no longer|any ?more|plans?|changed (my|our) minds?|ill|illness|sick\w*|health|medical|doctor\w*|hospital\w*|surger\w+|injur\w*|broke (my|his|her|a|an)|covid|flu|fever|pregnan\w*|unwell|bad weather|weather|storm\w*|hurricane|snow\w*|blizzard|flood\w*|typhoon|tornado|emergenc\w*|died|death|dying|passed away|funeral|(family|personal|private|work) (matter|issue|reason|problem|obligation)\w*|for work|my (job|boss|employer|company|visa|passport)|visas?|passports?|meeting|conference|wedding|exams?|jury|strike|divorc\w*|broke up|conflicts?|cheaper|(another|better|other) (offer|flight|option|booking|deal|airline|way)|too (expensive|late|early|long|far)|afford|by (mistake|accident)|mistakenly|accidentally|wrong (date|day|flight|city|airport|month|time)|(booked|reserved) (it )?twice|duplicate|(can ?not|can't|could ?n[o']t|won't|will not|unable to|not able to|not going to|do not want to|don't want to) (be able to )?(make|go|travel|fly|attend|take|use|come|happen|leave|join)|not (going|travell?ing|flying|coming|needed|happening)|(do not|don't|does not|doesn't|no) need|stay(ing)? (at )?home|postpon\w*|called off|(event|trip|party|meeting|date|visit|concert|appointment)s? (was|were|is|has been|got|have been) \w+|something (came|has come) up|(airline|you|they|flights?)\b[^.\n]{0,40}\bcancell?ed|delay\w*)\b/i;
const ASKS =
  /\b(why|how come|what (happened|changed|made you|is the matter)|(?<!\b(?:no|any|without|without a|whatever|for whatever) )reasons?)\b/i;
const TELL_ME = /\?|\b(tell|give|share|provide|state|let me know|need|name|specify|explain|may i ask|confirm)\b|\breason:?\*{0,2}:? /i;

/** A clause that tells something about the customer's life: `I must attend a training`. */
const STATEMENT =
  /^\W*(?:(?:and|so|but|as) )?(?:i|we|my|our|the|he|she|they|there|something|somebody|someone|it)(?:'\w+)?(?: [\w'-]+){2,}/i;
/** Words about the request itself. */
const REQUEST =
  /\b(cancel\w*|refund\w*|money|reservation|booking|booked|trip|flights?|ticket|user|id|name|e-?mail|number|want (it|this)|like|help|please|soon|know|hope|wonder\w*|thank\w*)\b|_\d|\d{2}/i;
/** `I am Ada Brown`. */
const NAMED = /^\W*(?:I am|I'm|This is|this is|i am|i'm) [A-Z]/;

const tellsWhy = (text: string): boolean =>
  GIVEN.test(text) ||
  (/cancel/i.test(text) &&
    text.split(/[.,;:!?\n]+|\s(?=so |and |as )/).some((clause) => STATEMENT.test(clause) && !REQUEST.test(clause) && !NAMED.test(clause)));

/** Whether the customer said why, or the agent asked and the customer answered. */
export function knowsReason(conversation: LayeredConversation, place: number): boolean {
  if (heardBefore(conversation, place).some(tellsWhy)) return true;
  const before = conversation.events.slice(0, place);
  const answered = before.findLastIndex((event) => event.kind === 'user');
  return before
    .slice(0, Math.max(answered, 0))
    .some(
      (event) =>
        event.kind === 'agent' && sentences(readable(event.text)).some((sentence) => ASKS.test(sentence) && TELL_ME.test(sentence)),
    );
}
