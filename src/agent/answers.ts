/** @file What a customer's answer to a request for a yes means. */
import { agrees, ASKS_TO_GO_ON } from './agreement.ts';
import { readable, sentences } from './sentences.ts';

/** - `changed`: the customer wants it otherwise, under a condition, or takes the yes back; `unclear`: neither a yes nor a no */
export type Answer = 'yes' | 'no' | 'changed' | 'unclear';

const NO = /^\W*(no|nope|nah|negative|never)\b/;
const ANY_NO = /\b(no|nope|not|never|none|neither)\b/;
/** Asks for more wishes or items: “no” says that there are none. */
const MORE_ASKED =
  /\b(any|anything|something|nothing|no|all|only)\b[^.?!]{0,60}\b(else|more|others?|changes?|change|questions?|items?|things?)\b|\bonly\b/;
const REFUSES = /\b(i|we) (won't|can't|wouldn't|couldn't)\b/;
const UNDECIDED =
  /\b(maybe|perhaps|not sure|unsure|let me (think|check|see|ask|talk|look|get back|find|confirm with)|(need|want|like|give me|have) (to think|a moment|a minute|a second|some time|more time|time to)|think (about|it over|on) it|thinking about|have (a|one|another|some|a few) (quick |other |more )?questions? (first|before)|(one|quick) (question|thing) first|^\W*(yes|sure|okay|ok|go (ahead|on))[,\s]+(and )?(please )?((i have |i've got )?(a|one|another) (quick )?question|tell|explain|i'm listening|i('d| would)? (like|want) to (know|hear|ask|learn)|i (know|remember)\b|(what|how|why|which|where)\b)|before (we|you|i|that|going|proceeding|confirming|doing|deciding|anything|it)|first,? (tell|can|could|what|how|let|i (want|need|would))|(decide|do (it|this|that)|get back( to you)?|tell you) later|(do (?:it|that|this|so)|proceed|go ahead|submit it) (tomorrow|next (week|month))|some other time|another time)\b/;
/** Words after which the customer wants something else. `asked`: such a word is harmless if the question has it too. */
const CHANGES: readonly { word: RegExp; asked?: RegExp }[] = [
  {
    word: /\b(however|unless|except|wait|hold on|hang on|hold up|stop|actually|chang(ed|e|ing) my mind|second thoughts?|never ?mind|forget (it|that|about)|scratch that|wrong|incorrect|(as|so) long as|assuming|provided (that|it)|on (the |one )?condition|only if|(once|after|until|as soon as) (you|i|we)('ve)? (tell|told|confirm|explain|show|give|gave|know|have|check|look|see|saw|get|got|find|found|hear|send|sent)\w*|depend(s|ing) on|(isn't|aren't) (right|correct|what|the|my|it|true|acceptable|ok|okay|fine|alright|all right))\b/,
  },
  {
    word: /\bdon't (do|cancel|return|exchange|change|modify|process|charge|refund|proceed|go|touch|send|ship|use|want|update|switch|make|put|submit|include|wish|think)\b/,
  },
  { word: /\b(instead|rather)\b/, asked: /\b(instead|rather)\b/ },
  {
    word: /\b(just|only) (the|those|this|that|these|one|for|with|to (?:the|my|a|this|that|#|paypal|gift)|return|cancel|exchange|keep|change|use|#|w?\d)|\bonly\s*[.!]?$/,
    asked: /\b(just|only)\b/,
  },
  { word: /\bcancel that\b/, asked: /\bcancel/ },
  { word: /\b(add|include)\b/, asked: /\b(add|include|including)\b/ },
  {
    word: /\b(remove|leave (out|it|them|this|that|everything|things|the \w+)|skip|exclude|keep (it|them|this|that|everything|the order))\b/,
    asked: /\b(remov|leave|skip|exclud|keep|remain|stay)/,
  },
];
/** `Yes, but …` asks for something else, unless only a question, a wish or a word of thanks follows. */
const BUT =
  /\b(?:but|al?though|though)\b(?!,? (thanks|thank|please (hurry|be quick|make sure (it|this|that|you)|let me know|do it (fast|quickly|soon))|(can|could|would|will) (you )?(also )?(please )?(tell|explain|let me know|remind|help|give me|show|check)|(how|when|what(?! (?:about|are|else|other))|where|why|who|will|is|does|do)\b|i (also|have (another|one more|a few|some|a)|still (have|want|need))|also\b|before i go|while i))/;
/** A condition, which the same sentence sets on the yes. */
const CONDITION = /(?<!\beven )\bif\b|(?<!\b(?:know|me|us|ready) )\b(?:when|once|after|until|as soon as) (?:i|we|you|my)\b/;
/** What a customer says who only takes note. */
const INFORMED =
  /\b(good to (know|hear)|interesting|that helps|(thanks|thank you) for (the|letting|telling|explaining|your)|(didn't|don't) know)\b/;

/** Words that are harmless, although a part of them would say no or change something. */
const HARMLESS: readonly RegExp[] = [
  /\bdon't want to keep\b|\bnot (as|like) (described|expected|advertised|pictured|i expected)\b|\bnever (really )?(liked|used|wore|opened|worked)\b|\bfor not \w+/g,
  /\band no,?(?= i| that)|\bchanged my mind about (it|the (order|purchase)|this order|buying)\b/g,
  /\b(it's |it is |is |are |they're |they are )?no longer( \w+)?( (it|them|that|this|these|the (order|item|items)))?/g,
  /\b(i |we )?(really |just |simply |honestly )?(don't|doesn't|didn't|won't) (really |actually )?(be needing|need|require|intend|mean|like|care|love|fit|work|know|remember|recall|believe)\b[^.,;!?]*/g,
  /\b(i |we )(really |just |simply )?don't (really |actually )?(want|use) (it|them|this|that|this order|that order|the order|these|those)\b( any ?more| any longer| now)?/g,
  /\b(not|isn't|aren't) (really )?(needed|required|wanted|necessary)( any ?more| any longer| now)?/g,
  /\b(it|they|these|those|quality|size|colou?r|fit|product|item)('s|'re| is| are| was| were)? (really |just )?not (?!right|correct|what|it\b|the\b|my\b|quite|exactly|ok|fine|true|yet|this|that)\w+/g,
  /\bno,? (that's|that is|that'll be|that will be) (all|it|everything)\b|\bno,? thanks?( you)?\b/g,
  /\b(that's|that is|this is|it's|it is|the|my) (the )?only\b/g,
  /\bno (problem|problems|worries|rush|hurry|issue|issues|change|changes|question|questions|concern|concerns|other|others|more|further|need|doubts?|objection|objections|additional)\b[^.!?,;]*/g,
  /\b(nothing( (else|more))?( to \w+)?|not a problem|not at all|why not|not only|not a big deal|whether or not|or not)\b/g,
  /\b(i )?don't (mind( the)?( \w+)?|worry|forget|have (any|other|further|more)[^.,;!?]*|think (there|i (need|have))[^.,;!?]*|see (any|a|why)[^.,;!?]*)/g,
  /\b(it|this|that|they|the order|the items?) (can't|won't) be \w+/g,
  /\b(can't|cannot|can not|won't|i'll|i will|will|to|happy to) wait\b|\bwait (for|until) (the|my|your) (email|refund|confirmation|package|new|replacement)/g,
  /\bif (that's|that is|this is|it's|it is|that|it|this)? ?(possible|ok|okay|fine|alright|all right|works|you (can|could|would|please|don't mind|may|need)|i (have|need) (any|more|further)[^.,;!?]*|there (is|are|'s)[^.,;!?]*|anything[^.,;!?]*|needed|necessary)\b[^.,;!?]*/g,
  /\b(see|check|know|tell me|wondering|ask|sure|confirm) (if|whether)\b[^.,;!?]*/g,
  /,? actually(?=\W*$)/g,
  /\bbefore (?:i|we) (?:change|lose|forget|regret)\b[^.,;!?]*|\bbefore (?:it's|it is|it gets) (?:too late|gone|sold out)\b|\bbefore (?:it|they|the \w+|prices) (?:sells?|goes|go|runs?|rises?|increases?|ends?|expires?|leaves?)\b[^.,;!?]*/g,
  /\b(grateful|glad|happy|great|good|nice|helpful|perfect|appreciate it|appreciate) if (you|we)\b/g,
  /\bactually,? (?=(?:yes|yeah|yep|sure|please (?:do|go|proceed)|go ahead|proceed|perfect|great|fine|good|right|correct|exactly|wonderful|excellent|even better|ideal|ok|okay|that's|that is|that (?:sounds|works|looks)|(?:a |pretty |very |quite |really |just ){0,3}(?:perfect|great|fine|good|what i|helpful|nice|better|convenient|works))\b)/g,
  /\b(ordered|bought|got|picked|chose|selected|received|placed|entered|clicked) (on )?(the |a )?wrong\b[^.,;!?]*/g,
];

/** `only the kettle`, `the kettle only`. The words are harmless if the question has the thing too. */
const ONLY_THIS = /\b(?:just|only) (?:the|this|that|these|those) (\w+)|\b(\w+) only\b/g;

/** The text with short forms of “not”, so that a bare “not” speaks against the question. */
const contracted = (said: string): string =>
  said
    .replace(/\b(do|does|did|is|are|was|were|would|could|should|has|have) not\b/g, "$1n't")
    .replace(/\bwill not\b/g, "won't")
    .replace(/\bcan ?not\b/g, "can't")
    .replace(/\bdont\b/g, "don't");

/** The answer's part about another wish: “and also …”. */
const MORE =
  /(?:[,.;!?]|\band\b|\s-)\s*(?:and )?(?:i |please |(?:can|could) you )?(also|additionally|in addition|one more thing|another thing|next|after that|afterwards?|once (?:that's|that is|it's|you're|you are|this is) (?:done|through|finished)|then|by the way|while (?:you're|we're|i'm) at it|besides)\b/;

/** Cuts an answer where the customer goes on to another wish. */
export function splitAnswer(answer: string): { answer: string; more: string } {
  const said = readable(answer);
  const at = said.toLowerCase().search(MORE);
  return at > 0 ? { answer: said.slice(0, at + 1), more: said.slice(at + 1) } : { answer: said, more: '' };
}

/** @param question the agent's message that the answer answers. Some words are harmless if the question has them too */
export function meaningOf(answer: string, question = ''): Answer {
  let said = contracted(readable(answer).toLowerCase().trim());
  const asked = readable(question).toLowerCase();
  for (const harmless of HARMLESS) said = said.replace(harmless, ' ');
  said = said.replace(ONLY_THIS, (own, after?: string, before?: string) => (asked.includes(after ?? before ?? own) ? ' ' : own));
  const told = sentences(said);
  const statements = told.filter((sentence) => !sentence.endsWith('?') || ASKS_TO_GO_ON.test(sentence));
  const informed = statements.length < told.length || INFORMED.test(said);
  const yes = statements.find((sentence) => agrees(sentence, informed));
  if (CHANGES.some(({ word, asked: harmless }) => word.test(said) && !harmless?.test(asked)))
    return NO.test(said) && !yes ? 'no' : 'changed';
  if (statements.some((sentence) => BUT.test(sentence))) return 'changed';
  if (NO.test(said)) return yes && !ANY_NO.test(yes.replace(NO, '')) && MORE_ASKED.test(asked) ? 'yes' : 'no';
  if (UNDECIDED.test(said)) return 'unclear';
  if (yes === undefined) return ANY_NO.test(said) ? 'no' : 'unclear';
  return CONDITION.test(yes) || ANY_NO.test(said) || REFUSES.test(yes) ? 'changed' : 'yes';
}

/** Whether a customer's answer is an explicit yes. “yes, no longer needed” is a yes; “yes, but not that one” is not. */
export const isConfirmation = (text: string): boolean => meaningOf(text) === 'yes';

/** Whether a message takes back what the customer agreed to before. */
export const takesBack = (text: string): boolean => meaningOf(text.replace(/^\W*no\b\W*/i, '')) === 'changed';
