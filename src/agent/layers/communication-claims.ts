/** @file Statements of an agent: that something is done, that something cannot be done and why, and that a call failed. */
import type { Json } from '../../records/json.ts';
import { sentences } from '../sentences.ts';
import { textsIn } from './readings.ts';

/** A write of a domain, in the words of agents and customers. */
export interface ActWords {
  /** `cancelling an order`. */
  says: string;
  tools: readonly string[];
  /** Names the act in a request, an offer or a summary. */
  named: RegExp;
  /** Names the act in a sentence that says that something is done. Default: `named`. */
  claimed?: RegExp;
  /** The argument that holds the thing, such as an order. */
  thing?: string;
}

/** What is said to be done, in the form that follows “has been” or “I have”. */
const DONE_WORD =
  'cancell?ed|returned|exchanged|modified|changed|updated|switched|replaced|swapped|processed|submitted|initiated|requested|completed|placed|issued|refunded|credited|booked|rebooked|added|upgraded|downgraded|removed|sent|enabled|activated|disabled|deactivated|resumed|restored|reactivated|refueled|topped up|lifted|suspended|unsuspended|set up|filed|arranged|finali[sz]ed|applied|made|charged|paid|done|saved|moved';
const ADVERB = '(?:now|already|just|also|successfully|both|all|fully|officially|been|being|indeed)';
const CLAIM = new RegExp(
  String.raw`\b(?:has|have|was|were|'s|'ve)(?: ${ADVERB}){0,3} (?:${DONE_WORD})\b|\b(?:is|are)(?: all)? (?:now|successfully|already|officially) (?:${DONE_WORD})\b|\b(?:i|we)(?:'ve| have)?(?: ${ADVERB}){0,3} (?:${DONE_WORD})\b|\bsuccessfully (?:${DONE_WORD})\b|\b(?:address|payment method|cabin)\b.{0,60}\b(?:is|are) now\b|\b(?:cancellation|return|exchange|booking|upgrade|update|change|modification|refund|refuel|request|payment request) (?:is|was) (?:now )?(?:complete|successful|confirmed|done)\b|\b(?:cancellation|return|exchange|booking|upgrade|update|change|modification) (?:was |went |has gone )(?:successful|through)\b`,
  'i',
);
/** A sentence with these words is no claim that something is done. */
const HEDGED =
  /\?|\b(once|after|when|whenever|if|unless|until|before|will|would|could|can|should|shall|may|might|must|want(s|ed)? to|going to|to be|yet|were you|let me|i'll|cannot|can't|not|never|no|nothing|unable|wasn't|isn't|aren't|weren't|hasn't|haven't|doesn't|didn't|don't|won't|only|any|originally|previously|fail\w*|sorry|unfortunately|error|which|that was|ago|since|last \d+|none|appears?|seems?|by the airline|that were|that has|that is|currently)\b/i;

/** The parts of a message that can be true or false for themselves. */
const clauses = (text: string): string[] =>
  sentences(text).flatMap((sentence) =>
    sentence.split(
      /;\s+|,? but |, (?:and|so) (?=(?:i|you|we|the|your|it|once|if|please|reservation|order|booking|line|bill|#?[A-Z]?\d{4,})\b)|, which |, (?=once|after|if|please)/i,
    ),
  );

/** The parts of a message that say that something is done. */
export const claimsIn = (text: string): string[] => clauses(text).filter((clause) => CLAIM.test(clause) && !HEDGED.test(clause));

/** Says that everything is done, and names nothing: `Done. Anything else?` */
export const saysDone = (text: string): boolean =>
  /^\W*(?:(?:ok|okay|great|perfect|thanks?(?: you)?|alright|good news)\W+)?(?:all done|done|it(?:'s| is) done|that(?:'s| is) (?:now )?done|all set|you(?:'re| are) all set|completed)\b(?! (?:by|with|when|once))/i.test(
    text,
  );

/** What tells a customer that a write was done: a claim, a done word, or the new state of things. */
const REPORTS = new RegExp(
  String.raw`\b(?:${DONE_WORD}|done|complete|success|successful|successfully|confirmed|confirmation|all set|taken care|went through|in place|in effect|is now|are now|now (?:on|has|have|set|active)|(?:is|are) (?:active|back|live|ready)|works)\b`,
  'i',
);
export const reportsWrite = (text: string): boolean =>
  sentences(text).some((sentence) => REPORTS.test(sentence) && !/\b(?:would you|shall i|should i|do you want)\b/i.test(sentence));

/** A part of a message that states something: no question, no thanks, nothing that is still to come. */
const NO_STATEMENT = /\?|\b(?:let me|one moment|i'll|i will|i can|i could|i would|shall i|going to|please confirm|anything else|sorry)\b/i;

/**
 * Whether a message states how things are after a write: it names the act, one of its values, or what is new. `Your bag count is 3.`,
 * `B29SM9 is in business now.`
 */
export const statesResult = (text: string, act: ActWords, args: Record<string, Json>): boolean => {
  const values = [...textsIn(args)].flatMap(({ text: value }) => [value, ...value.split(/[\s_]+/)]).filter((value) => value.length > 2);
  return sentences(text).some(
    (sentence) =>
      !NO_STATEMENT.test(sentence) &&
      (/\bnow\b/i.test(sentence) ||
        act.named.test(sentence) ||
        values.some((value) => sentence.toLowerCase().includes(value.toLowerCase().replace(/^#/, '')))),
  );
};

/** Words of a state: `Roaming is enabled`, `your line can roam now`. */
const STATE = new RegExp(
  String.raw`\b(?:is|are|was|were|has|have|been|'s) .*\b(?:${DONE_WORD}|on|off|active|live|ready|in place|through)\b|\bnow\b`,
  'i',
);
/** `It is on now.`, `I switched it on.` */
const STATED_OF_IT = new RegExp(
  String.raw`^\W*(?:it|that|this)(?:'s| is| has been) (?:now |already |all )*(?:${DONE_WORD}|on|off|active)\b|^\W*(?:i|we)(?:'ve| have)? (?:just |now )*(?:${DONE_WORD}|switched|turned)\b`,
  'i',
);
const NOT_YET =
  /\?|\b(?:once|after|if|when|until|before|will|would|could|should|may|please|not|never|no|cannot|unable|sorry|fail\w*|let me|one moment|going to|(?:can|to) be|ready to)\b|n't\b|'ll\b/i;

/** A sentence that states the act as done, without the form of a claim. */
export const statedDone = (text: string, { named }: ActWords): string | undefined =>
  sentences(text).find(
    (sentence) => ((named.test(sentence) && STATE.test(sentence)) || STATED_OF_IT.test(sentence)) && !NOT_YET.test(sentence),
  );

/** A refusal that names nothing: `No, sorry.`, `I'm afraid not.` */
export const refusesBarely = (text: string): boolean =>
  sentences(text).some((sentence) =>
    /^\W*(?:(?:no|nope|sorry|apologies|unfortunately|i'm sorry|i am sorry|i'm afraid|i am afraid|that's a no|that is a no|not possible|no can do|no way|no chance)\b[\s,.!;-]*(?:but )?)+(?:no|not|we don't do that|i won't)?\W*$/i.test(
      sentence,
    ),
  );

const HELP =
  'help|assist|do|process|cancel|modif|chang|return|exchang|refund|updat|add|remov|provid|offer|issu|mak|book|waiv|grant|approv|shar|access|serv|accommodat|fulfill?|complet|proceed|upgrad|downgrad|reopen|resum|lift|reactivat|enabl|refuel|extend|compensat|reimburs|give|disclos|discuss|allow|apply|accept|honou?r|transfer|handle|perform|carry|split|combine|use|send|tell|look at|show|mov|switch|swap|replac|reschedul|rebook|postpon|shift|alter|edit|adjust|amend|rais|lower|reduc|increas|unlock|undo|revers|merg|redirect|reroute|speed|expedit|stop|paus|drop|grant|touch|let you|get you|put you';
const REFUSAL = new RegExp(
  String.raw`\b(?:can ?not|can't|unable to|not able to|won't be able to|will not be able to|(?:am|are|'m|'re) not (?:allowed|permitted|authori[sz]ed) to|(?:must|have to) (?:decline|deny|refuse)|(?:don't|do not) have the (?:ability|authority|option) to)(?: \w+){0,3}? (?:${HELP})\w*|\b(?:must|have to|need to) (?:decline|deny|refuse)\b|\b(?:is|are|it's|that's|isn't|aren't|won't be|will not be) ?(?:just |simply |unfortunately )?(?:not |n't )?(?:im)?(?:possible|permitted|allowed|eligible)\b|\b(?:can ?not|can't) be (?:\w+ )?(?:cancell?ed|modified|changed|returned|exchanged|refunded|updated|upgraded|removed|added|resumed|lifted|done|waived|processed)\b|\bineligible\b|\b(?:not|isn't) something (?:i|we) can\b|\brequest (?:is|was|has been|must be) (?:denied|declined|refused|rejected)\b|\b(?:have|need) to say no\b|\banswer is no\b|\bnot an option\b|\b(?:no|not) (?:an )?(?:exceptions?|refund is possible)\b|\bno way (?:to|of|for|that)\b|\bout of the question\b|\bnothing (?:\w+ )?(?:i|we) can do\b|\b(?:has|have|needs?) to (?:stay|remain)\b|\bmust (?:stay|remain)\b|^\W*(?:no|sorry|unfortunately|i'm afraid|i am afraid|regrettably)\b[^.?!]{0,60}\b(?:stays?|remains?|won't|will not|can't|cannot|doesn't work|does not work|is final)\b(?! (?:find|locate|see))|\b(?:i|we) (?:can't|cannot|can not|won't)\W*$`,
  'i',
);
const NEGATIVE =
  /\b(?:not|can't|cannot|unable|n't|isn't|aren't|impossible|ineligible|declined?|deny|denied|refused?|rejected|won't|don't|no|nothing|unfortunately|regrettably|sorry|afraid)\b|n't\b|\b(?:has|have|needs?|must)(?: to)? (?:stay|remain)\b|\bout of the question\b/i;
/** No refusal: the agent needs more, says what cannot be done afterwards, or asks. */
const NO_REFUSAL =
  /\?|\b(?:find|locate|without|until|verify|identify|look(?:ing)? up|retrieve|unless|afterwards?|any ?more|anymore|again|later|note|keep in mind|be aware|remember|remind|once|in case|undone|reversed|worry)\b|^\W*(?:if|when|after|before|to (?:proceed|help|cancel|change))\b/i;

/** The sentences of a message that refuse a request. */
export const refusalsIn = (text: string): string[] =>
  sentences(text).filter((sentence) => REFUSAL.test(sentence) && NEGATIVE.test(sentence) && !NO_REFUSAL.test(sentence));

const REASON =
  /\b(?:because|since|as (?:it|the|your|this|they|you|we|i|per)\b|due to|given|reasons?|polic(?:y|ies)|rules?|only|must|requires?|required|already|has been|have been|have (?:a|an|no)\b|(?:is|are|was|were|isn't|aren't|it's|has|have) (?:not |currently |in |already |still |a |an )?(?:pending|process(?:ed|ing)|delivered|cancell?ed|shipped|suspended|active|overdue|paid|expired|basic|yours?|available|outside|beyond|past|final|non-?refundable|different|associated|linked|flown|used|listed|registered|original|requested|modified|exchanged|returned|regular)\b|non-?refundable|within|more than|exceed\w*|maximum|limit\w*|not enough|insufficient|no longer|too late|(?:has |already )?left|on (?:its|the) way|delivered|shipped|processed|doesn't|does not|(?:do not|don't) (?:have (?!the (?:ability|option))|match|belong|own|cover|allow|support|include|permit|meet|qualify)|belongs?|basic economy|insurance|hours|contract|overdue|balance|beyond|outside|ended|locked|another|someone else|somebody else|not (?:under|in|on|from|part of|linked to) (?:your|this|the)|other (?:customers?|users?|people)|privacy|private|internal|confidential|security|authori[sz]ed|never|tools?|system|scope|capabilit\w+|same|different|status|standing|in stock|unavailable|sold out|seats?)\b|: (?:the|it|this|your|that)\b|\b(?:possible|allowed|permitted|eligible|available) for\b|\bcan(?:not|'t) be used\b/i;

/** Whether a message gives a reason for what it refuses. */
export const givesReason = (text: string): boolean =>
  sentences(text).some(
    (sentence) =>
      REASON.test(
        sentence.replace(
          /\b(?:is|are|it's|that's) not (?:possible|permitted|allowed)\b|\b(?:must|required to|have to|has to|needs? to) (?:decline|deny|refuse|stay|remain)\b/gi,
          ' ',
        ),
      ) && !/^\W*(?:is there|anything|if you have|let me know|please let)\b/i.test(sentence),
  );

/** Words that end a conversation. */
export const FAREWELL =
  /\b(?:good ?bye|bye|farewell|take care|have a (?:\w+ )?(?:nice|good|great|lovely|pleasant|wonderful|one)\b|(?:happy|glad) (?:to help|(?:that )?(?:i|we) could (?:help|assist|be of))|(?:thank you|thanks) for (?:calling|contacting|getting in touch|reaching out|shopping|choosing|your (?:time|patience|call|understanding))|(?:you are|you're) (?:very )?welcome|any ?time\b(?=[!.])|see you)\b/i;
/** Asks whether the customer has another wish. */
export const ASKS_MORE =
  /\b(?:anything|something|what|nothing) (?:else|more|further)\b|\b(?:any|other|further|more) (?:other |further |more )?(?:questions?|requests?|wish(?:es)?|concerns?)\b/i;

/** What a refused customer can still do. */
const ALTERNATIVE =
  /\?|\b(?:however|instead|alternativ\w*|options?|you (?:can|could|may|might)|let me know|if you|feel free|(?:i|we) (?:can|could|will)\b(?!not|'t)|transfer\w*|human|anything else|happy to|glad to|recommend|suggest|contact|reach out|please (?:provide|choose|tell|call|visit|use))\b/i;
export const givesAlternative = (text: string): boolean => ALTERNATIVE.test(text.replace(/\bi (?:can|will) (?:not|only)\b/gi, ' '));

/** Says that something went wrong, or asks for what is needed to go on. */
const TROUBLE =
  /\b(?:errors?|unable|could ?n't|could not|can ?not|can't|not (?:found|enough|available|possible|valid|eligible|able|find|match|work|in|pending|delivered|yet|go|been|supported|allowed|registered)|isn't|wasn't|didn't|doesn't|hasn't|won't|unfortunately|issues?|problems?|fail\w*|no (?:record|account|order|such|user|customer|match|reservation|flight|direct|available|longer)|try again|retry|timed? ?out|trouble|difficult\w*|sorry|apologi[sz]e|double[- ]check|incorrect|invalid|wrong|unavailable|down|busy|insufficient|exceed\w*|discrepanc\w*|mismatch|misunderst\w+|only|instead|correct(?:ed|ion)?|seems|unsuccessful|delay\w*|actually|oversight|adjust\w*|(?:does|do|did|is|was|has|have|were|are) not|unchanged|nothing|technical|as (?:it|they) (?:is|was|are|were)|stays? the same)\b/i;
export const tellsTrouble = (text: string): boolean => TROUBLE.test(text);
