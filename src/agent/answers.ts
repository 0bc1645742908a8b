/** @file What a customer's answer to a request for a yes means. */
import { readable, sentences } from './sentences.ts';

/** - `changed`: the customer wants it otherwise, under a condition, or takes the yes back; `unclear`: neither a yes nor a no */
export type Answer = 'yes' | 'no' | 'changed' | 'unclear';

/** Words that say yes in any position. */
const CLEAR_YES =
  /^\W*(👍|100 ?%|sí)|^\W*(y|si|oui|ja|i do|all (good|set|correct|fine))\b|^\W*((it|that|they|those|these) (is|are|does|do|will)|please)\W*$|\b(yes|yeah|yea|yep|yup|yess|sure|absolutely|definitely|certainly|indeed|affirmative|agreed|proceed|(go|move) (right )?(ahead|forward)|go for it|go on|please do|do it|do that|do so|of course|by all means|make it so|make it happen|i (do |hereby )?(confirm|agree|approve|accept|consent)|i'm (positive|certain)|confirmed|confirming|approved|(that|it|this)('d| would|'ll| will) be (great|perfect|fine|good|lovely|wonderful|awesome|fantastic|ideal|nice)|i('d| would) (like|love|appreciate) (that|it)|you (may|can|have my) (go|proceed|permission|confirmation|consent|approval|ok|okay)|sounds (good|great|right|fine|perfect|correct|like a plan)|(looks|seems) (good|great|right|fine|perfect|correct)|(all|everything|that|this|it) (is|looks|sounds|seems) (all )?(good|correct|right|fine|perfect|great|ok|okay|exactly)|(that|it)'s (all |exactly |absolutely |totally |perfectly |just )*(good|alright|all right|correct|right|fine|perfect|great|ok|okay|exactly|what i want|it)|(that|it|this) works|(that|it|this)('ll| will) (do|work)|works for me|green light|fine (by|with) me|ok(ay)? (by|with) me|i'm (ok|okay|fine|happy|good) with|let's (do|go|proceed)|good to go|all correct|that is (all )?(correct|right|fine)|lgtm)(?![\w])|^\W*(confirm|correct|right|exactly|perfect|great|excellent|wonderful|fantastic|awesome|fine|good|alright|all right|works)\s*([.,!;]|$)|^\W*(also )?(okay|ok|k)\b/;
/** A short answer to `May I …?`, `Can you confirm?`: `You may.`, `I can confirm.`, `You may continue.` */
const SHORT_YES =
  /^\W*(?:(?:then|well|so|now),? )?(?:i|you|we|it|that|this|they|those) (?:do|does|may|can|should|shall|have|is|are|will|would|must)(?: so| indeed| please)?\W*$|\bi can (?:confirm|agree|accept|approve)\b|\byou (?:may|can|should|have (?:my|the)) (?:now |please )?(?:continue|confirm|process|submit|save|do|make|place|start|cancel|return|exchange|change|update|modify|switch|go-ahead|blessing|word|green light)\b|\b(?:have|got|understood) (?:it|that|this|everything|me) (?:all )?(?:right|correct|correctly)\b|\bacceptable\b|^\W*(?:i'm )?(?:very |quite |totally )?(?:happy|fine|good|ok|okay|okey) (?:with|for|by|to)\b|^\W*(?:deal|granted|aye|roger)\b/;
/** A command that carries the offered act out: `Submit it.`, `Put it through, please.` */
const COMMAND =
  /^\W*(?:(?:so|then|now|ok|okay|well),? )?(?:please )?(?:(?:submit|file|book|save|send|place|put|process|finali[sz]e|complete|execute|perform|arrange|start|register|request|apply|set|make|run|carry)(?: (?:it|that|this|them|those|the (?:return|exchange|change|changes|cancellation|request|order|update)))(?: (?:through|in|up|out|off|away|now))?|submit|continue|carry on|go through with (?:it|that|this)|get (?:it|that|this) done)(?:,? (?:please|pls|now|thanks|thank you|then))*\W*$/;

/** Words that say yes, or only that something was heard. Beside a question they are no yes. */
const ONLY_HEARD = /^\W*(okay|ok|k|alright|all right|great|perfect|excellent|wonderful|fantastic|awesome|fine|good|right|i see)\b/;
const REQUEST_TO_GO_ON =
  /\b(can|could|would|will) you (please )?(just )?(go ahead|proceed|do (it|that|so))\b|\b(can|could|shall) we (please )?(proceed|go ahead)\b/;
/** A request for what the question offers, without the word yes: “Please cancel it.” */
const ASKS_FOR_IT =
  /^(please )?(cancel|return|exchange|change|update|modify|switch|swap|replace|process|submit|refund)\b|\bplease (cancel|return|exchange|change|update|modify|switch|swap|replace|process|submit|initiate|start|begin|complete|finali[sz]e|execute|apply)\b|\bi('d| would) like (to|you to) (proceed|go ahead|confirm)\b/;

const NO = /^\W*(no|nope|nah|negative|never)\b/;
const ANY_NO = /\b(no|nope|not|never|none|neither)\b/;
const UNDECIDED =
  /\b(maybe|perhaps|not sure|unsure|let me (think|check|see|ask|talk|look|get back|find|confirm with)|(need|want|like|give me|have) (to think|a moment|a minute|a second|some time|more time|time to)|think (about|it over|on) it|thinking about|have (a|one|another|some|a few) (quick |other |more )?questions? (first|before)|(one|quick) (question|thing) first|^\W*yes\W+(i have )?(a|one|another) (quick )?question|before (we|you|i|that|going|proceeding|confirming|doing|deciding|anything|it)|first,? (tell|can|could|what|how|let|i (want|need|would))|(decide|do (it|this|that)|get back( to you)?|tell you) later|(do it|proceed|go ahead|submit it) (tomorrow|next (week|month))|some other time|another time)\b/;
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
  /\b(?:but|al?though|though)\b(?!,? (thanks|thank|please (hurry|be quick|make sure (it|this|that|you)|let me know|do it (fast|quickly|soon))|(can|could|would|will) (you )?(also )?(please )?(tell|explain|let me know|remind|help|give me|show|check)|(how|when|what|where|why|who|will|is|does|do)\b|i (also|have (another|one more|a few|some|a)|still (have|want|need))|also\b|before i go|while i))/;
/** A condition, which the same sentence sets on the yes. */
const CONDITION = /(?<!\beven )\bif\b/;

/** Words that are harmless, although a part of them would say no or change something. */
const HARMLESS: readonly RegExp[] = [
  /\bdon't want to keep\b|\bnot (as|like) (described|expected|advertised|pictured|i expected)\b|\bnever (really )?(liked|used|wore|opened|worked)\b|\bfor not \w+/g,
  /\band no,?(?= i| that)|\bchanged my mind about (it|the (order|purchase)|this order|buying)\b/g,
  /\b(it's |it is |is |are |they're |they are )?no longer( \w+)?( (it|them|that|this|these|the (order|item|items)))?/g,
  /\b(i |we )?(really |just |simply |honestly )?(don't|doesn't|didn't|won't) (really |actually )?(need|require|intend|mean|like|care|love|fit|work|know|remember|recall|believe)\b[^.,;!?]*/g,
  /\b(i |we )(really |just |simply )?don't (really |actually )?(want|use) (it|them|this|that|this order|that order|the order|these|those)\b( any ?more| any longer| now)?/g,
  /\b(not|isn't|aren't) (really )?(needed|required|wanted|necessary)( any ?more| any longer| now)?/g,
  /\b(it|they|these|those|quality|size|colou?r|fit|product|item)('s|'re| is| are| was| were)? (really |just )?not (?!right|correct|what|it\b|the\b|my\b|quite|exactly|ok|fine|true|yet|this|that)\w+/g,
  /\bno,? (that's|that is|that'll be|that will be) (all|it|everything)\b|\bno,? thanks?( you)?\b/g,
  /\b(that's|that is|this is|it's|it is|the|my) (the )?only\b/g,
  /\bno (problem|problems|worries|rush|hurry|issue|issues|change|changes|question|questions|concern|concerns|other|others|more|further|need|doubt|objection|objections|additional)\b[^.!?,;]*/g,
  /\b(nothing (else|more)( to \w+)?|not a problem|not at all|why not|not only|not a big deal|whether or not|or not)\b/g,
  /\b(i )?don't (mind( the)?( \w+)?|worry|forget|have (any|other|further|more)[^.,;!?]*|think (there|i (need|have))[^.,;!?]*|see (any|a|why)[^.,;!?]*)/g,
  /\b(can't|cannot|can not|won't|i'll|i will|will|to|happy to) wait\b|\bwait (for|until) (the|my|your) (email|refund|confirmation|package|new|replacement)/g,
  /\bif (that's|that is|this is|it's|it is|that|it|this)? ?(possible|ok|okay|fine|alright|all right|works|you (can|could|would|please|don't mind|may|need)|i (have|need) (any|more|further)[^.,;!?]*|there (is|are|'s)[^.,;!?]*|anything[^.,;!?]*|needed|necessary)\b[^.,;!?]*/g,
  /\b(see|check|know|tell me|wondering|ask|sure|confirm) (if|whether)\b[^.,;!?]*/g,
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
  const statements = told.filter(
    (sentence) => !sentence.endsWith('?') || REQUEST_TO_GO_ON.test(sentence) || /^\W*(yes|yeah|yep|yup|sure)\b(?!\?)/.test(sentence),
  );
  const questioned = statements.length < told.length;
  const yes = statements.find((sentence) => SHORT_YES.test(sentence) || COMMAND.test(sentence) || (CLEAR_YES.test(sentence) && !(questioned && ONLY_HEARD.test(sentence) && !CLEAR_YES.test(sentence.replace(ONLY_HEARD, '')))) || REQUEST_TO_GO_ON.test(sentence) || ASKS_FOR_IT.test(sentence)); // prettier-ignore
  if (CHANGES.some(({ word, asked: harmless }) => word.test(said) && !harmless?.test(asked)))
    return NO.test(said) && !yes ? 'no' : 'changed';
  if (statements.some((sentence) => BUT.test(sentence))) return 'changed';
  if (NO.test(said)) return yes && /\b(else|more|other|changes?|questions?)\b/.test(asked) ? 'yes' : 'no';
  if (UNDECIDED.test(said)) return 'unclear';
  if (yes === undefined) return ANY_NO.test(said) ? 'no' : 'unclear';
  return CONDITION.test(yes) || ANY_NO.test(said) ? 'changed' : 'yes';
}

/** Whether a customer's answer is an explicit yes. “yes, no longer needed” is a yes; “yes, but not that one” is not. */
export const isConfirmation = (text: string): boolean => meaningOf(text) === 'yes';

/** Whether a message takes back what the customer agreed to before. */
export const takesBack = (text: string): boolean => meaningOf(text.replace(/^\W*no\b\W*/i, '')) === 'changed';
