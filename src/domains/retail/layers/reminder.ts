/** @file Whether the customer was asked if all items of a change are named. An order's items can be changed only once. */
import type { LayeredConversation } from '../../../agent/layers.ts';
import { readable } from '../../../agent/sentences.ts';

/** `Are these all the items?`, `is this everything?`, `any other item`, `the list is complete` */
const REMINDS = new RegExp(
  [
    String.raw`\b(?:all|every) (?:of )?(?:the |your |these |those |other )?(?:items?|products?|things?|changes|pieces)\b`,
    String.raw`\b(?:that|this|it|these|those|they)(?:'s| is| are)? (?:really )?(?:all|everything)\b(?! (?:is |are |was )?(?:correct|right|fine|good|ok|in order|clear))`,
    String.raw`\beverything (?:you (?:want|need|wish|would)|that|has been named|to)\b|\bthe only (?:items?|changes?|ones?)\b`,
    String.raw`\b(?:any|no) (?:other |further |more |additional |else )?(?:items?|products?|pieces?)\b`,
    String.raw`\b(?:other|another|further|additional|more) (?:items?|products?|changes?|pieces?|exchanges?|modifications?)\b`,
    String.raw`\b(?:anything|nothing|something) (?:else|more|other|further)\b`,
    String.raw`\b(?:list|selection)\b[^.?!\n]{0,20}\b(?:complete|final)\b|\b(?:complete|full|final) (?:list|selection)\b|\bmissing (?:any|an|some)`,
    String.raw`\b(?:one|single)[ -]time\b|(?<!\bat )\bonce\b(?! (?:you|i|we|it|he|the|this|that|your|\w+ed\b))|\bonly (?:one|a single) (?:change|exchange|modification|time)`,
    String.raw`\b(?:cannot|can't|can not|won't|not) be (?:able to )?(?:changed?|modif\w+|exchanged?|cancell?ed|altered?|edited|repeated)`,
    String.raw`\b(?:just|only) (?:this|these|that|the) (?:one|two|three|\w+ ?items?|items?)\b|\bno (?:second|third) \w+|\ball (?:that )?you (?:want|wish|need|would)`,
    String.raw`\b(?:cannot|can't|can not|won't|not) (?:be able to )?(?:change|modify|exchange|alter|edit|cancel) [^.?!\n]{0,30}\b(?:again|later|any ?more|afterwards?)`,
  ].join('|'),
  'i',
);
/** A question after the work: `Anything else I can help with?` */
const HELP =
  /\b(anything|something) (else|more)\b[^.?!\n]{0,20}\b(help|assist|do for you)\b|\b(help|assist)\b[^.?!\n]{0,30}\b(anything|something) (else|more)\b/gi;

/** What a customer says who names all items unasked. */
const SAYS_ALL =
  /\b(that|this|it|these|those)(?:'s| is| are)? (really )?(all|everything)\b(?! (?:is |are )?(?:correct|right|fine|good|ok))|\b(nothing|no other|none) (else|items?|more)\b|\bonly (this|that|the|these|those|one)\b|\bjust the \w+|\ball (of )?(the |my )?items\b/i;

/**
 * Whether the agent reminded the customer before a write, or the customer said it without a question.
 * @param from the write before, if any; what was said before it was about that write
 */
export const isReminded = ({ events }: LayeredConversation, from: number, place: number): boolean =>
  events.slice(from + 1, place).some((event) => {
    if (event.kind === 'tool') return false;
    const text = readable(event.text).replace(HELP, ' ');
    return event.kind === 'agent' ? REMINDS.test(text) : SAYS_ALL.test(text);
  });
