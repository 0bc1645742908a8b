/** @file Whether a sentence of a customer agrees to what the agent asked. Sentences are in lower case. */

/** The sentence with long forms: `that's fine` is `that is fine`. */
const spelled = (sentence: string): string =>
  sentence
    .replace(/\b(that|this|it|everything|all|answer)'s\b/g, '$1 is')
    .replace(/\bthats\b/g, 'that is')
    .replace(/\blet's\b/g, 'let us')
    .replace(/'m\b/g, ' am')
    .replace(/'re\b/g, ' are')
    .replace(/'ve\b/g, ' have')
    .replace(/'d\b/g, ' would')
    .replace(/'ll\b/g, ' will')
    .replace(/\b(pls|plz)\b/g, 'please');

const GOOD =
  '(?:good(?! to (?:know|hear))|great|fine|perfect|ok|okay|okey|correct|right(?! (?:here|now|after|before|there|away))|accurate|acceptable|al(?:l ?)?right|lovely|wonderful|excellent|awesome|fantastic|super|ideal|brilliant|nice|helpful|exactly|precisely)';
/** Verbs after which the customer asks for something else than the write. */
const OTHER_WISH =
  '(?:not|never|don|wait|hold|stop|pause|abort|ignore|disregard|undo|reconsider|tell|explain|describe|clarify|repeat|check|double|verify|look|see|find|show|give|send me|let|say|ask|help|hear|listen|know|remember|note|talk|discuss|think|sleep|have|be|keep|leave|forget|drop|transfer|connect|contact|call|remove|add)';
/** Words before the word that counts. */
const VERY = '(?:(?:now|all|also|just|very|quite|so|both|still|really|totally|absolutely|completely|perfectly|exactly) ){0,3}';

const AGREES: readonly RegExp[] = [
  /\b(?:yes|yeah|yea|yep|yup|yess+|yessir|sure|absolutely|definitely|certainly|naturally|obviously|indeed|affirm(?:ative)?|agreed|granted|confirmed|confirming|approved|proceed|of course|by all means|without (?:a )?doubt|you bet|count me in|lgtm|(?:go|move) (?:right )?(?:ahead|forward)|go (?:for it|on)|good to go|green light|make (?:it|that) (?:so|happen)|do (?:it|that|this|so)|spot on|you got it|mhm|uh-?huh|on board|in agreement|a deal|done deal|full (?:steam|speed) ahead|be my guest|knock yourself out|do as (?:you|i|we) (?:said|say|suggested|proposed|like))(?!\w)/,
  /^\W*(?:👍|100 ?%|sí)|^\W*(?:y|ya|si|oui|ja|aye|roger|totally|all (?:good|set|correct|fine))\b|^\W*(?:also )?(?:okay|ok|k)\b|^\W*(?:very well|al(?:l ?)?right,? then)\b/,
  new RegExp(
    `^\\W*(?:now |then |well |so )?(?:confirm|deal|bingo|cool|works|${GOOD})(?: (?:that|this|so|it|on all \\w+))?\\s*(?:[.,!;]|$)`,
  ),
  // `That is all correct`, `these details are accurate`, `everything looks good`, `sounds perfect`
  new RegExp(
    `\\b(?:that|this|it|all|both|everything|they|these|those|details?|information|terms|address|amount|answer) (?:is|are|was|looks?|sounds?|seems?|(?:would|will) be)(?: like)? ${VERY}(?:${GOOD}|yes|it\\W*$)|\\b(?:looks|sounds|seems) (?:like a plan|${VERY}${GOOD})\\b`,
  ),
  new RegExp(`\\b\\w+ (?:is|are) ${VERY}(?:correct|accurate|right(?! (?:here|now|after|before|there|away)))\\b`),
  // `That works for me`, `it suits me well`, `I am happy with that`
  /\b(?:that|this|it|they)(?: will| would| does)? (?:works?|suits?)\b|\b(?:works for|suits) (?:me|us)\b|^\W*(?:it|that|this) (?:does|will do)\b(?! not)/,
  /\b(?:fine|okay|ok|good|alright|all right) (?:by|with|for) (?:me|us)\b|^\W*(?:i am |i would be )?(?:\w+ )?(?:happy|fine|good|okay|ok|okey|comfortable) (?:with|for|by|to (?!know|hear))\b|\bi am (?:\w+ )?(?:positive|certain)\b|\bacceptable\b/,
  /\b(?:the|a|that)(?: one)? i (?:want|need)\b|\b(?:what|as|how) i (?:would |had |have |was )?(?:like|want|wanted|need|needed|asked|meant|hoped|hoping|expected|in mind)\b/,
  /\bi would (?:\w+ ){0,2}(?:like|love|appreciate|be (?:happy|glad|grateful|pleased)) (?:that|it|if you|with that)\b|\bi would like (?:to|you to) (?:proceed|go ahead|confirm|continue)\b/,
  // `I confirm`, `you have my consent`, `this is my confirmation`
  /\b(?:i|we) (?:do |can |hereby |fully |gladly |totally ){0,2}(?:confirm|agree|approve|accept|consent|authori[sz]e)\b/,
  /\b(?:my|full|your) (?:\w+ )?(?:consent|permission|approval|confirmation|okay|ok|agreement|blessing|go-ahead|authori[sz]ation)\b/,
  /^\W*please\W*$|\bi do(?=\W*$|[,.!])/,
  /\b(?:have|got|understood) (?:it|that|this|everything|me) (?:all )?(?:right|correct|correctly)\b|\bready when you are\b/,
  // A request to go on: `Please take care of it`, `you may submit it`, `let us do that`
  new RegExp(`\\b(?:please|kindly|let us|you (?:can|may|should)) (?:now |please |then |just )?(?!${OTHER_WISH}\\b)[a-z]+`),
  /\b(?:can|could|would|will) (?:you|we) (?:please )?(?:just )?(?:go ahead|proceed|do (?:it|that|so))\b/,
  /^(?:cancel|return|exchange|change|update|modify|switch|swap|replace|process|submit|refund)\b/,
];
/** A short answer to `May I …?`, `Is it …?`: `You may.`, `It is.` */
const SHORT =
  /^\W*(?:(?:then|well|so|now),? )?(?:i|you|we|it|that|this|they|those) (?:do|does|may|can|should|shall|have|is|are|will|would|must)(?: so| indeed| please)?\W*$/;
/** A command that carries the offered act out: `Submit it.`, `Put it through, please.` */
const COMMAND =
  /^\W*(?:(?:so|then|now|ok|okay|well),? )?(?:(?:submit|file|book|save|send|place|put|process|finali[sz]e|complete|execute|perform|arrange|start|open|register|request|apply|set|make|run|carry)(?: (?:it|that|this|them|those|the (?:return|exchange|change|changes|cancellation|request|order|update)))(?: (?:through|in|up|out|off|away|now))?|submit|continue|carry on|go through with (?:it|that|this)|get (?:it|that|this) done)(?:,? (?:please|now|thanks|thank you|then))*\W*$/;

/** `okay`, `great`: words that say yes, or only that something was heard. */
const HEARD = /^\W*(?:okay|ok|k|alright|all right|great|perfect|excellent|wonderful|fantastic|awesome|fine|good|right|cool|nice|i see)\b/;

/** A request in the form of a question, or a yes before a question. */
export const ASKS_TO_GO_ON =
  /\b(?:can|could|would|will) (?:you|we) (?:please )?(?:just )?(?:go ahead|proceed|do (?:it|that|so))\b|^\W*(?:yes|yeah|yep|yup|sure)\b(?!\?)/;

/** @param informed whether the customer also asks or says what they learned: then a bare `okay` was only heard */
export function agrees(sentence: string, informed: boolean): boolean {
  const said = spelled(sentence);
  const yes = (text: string) => COMMAND.test(text) || AGREES.some((pattern) => pattern.test(text));
  return SHORT.test(sentence) || (yes(said) && !(informed && HEARD.test(said) && !yes(said.replace(HEARD, ''))));
}
