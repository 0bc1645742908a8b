/**
 * @file Finds texts that speak to whoever grades the conversation. Such a text may bribe a model, so a person decides about its row. A
 * search that finds too much only costs a person's time.
 */
import { CRITERIA, type Grades } from '../records/grades.ts';
import type { GradedRow } from './types.ts';
import { saidIn } from './transcript.ts';

/** Those who grade. `review` and `judge` alone are ordinary words of a shop. */
const WHO = String.raw`(?:graders?|judges?|evaluators?|raters?|annotators?|assessors?|moderators?|verifiers?|auto-?graders?|(?:reviewing|judging|reward|evaluation|grading|language|ai) (?:model|system|script)s?|llms?)`;
const CALL = String.raw`(?:the|this|dear|any|all|attention|note to(?: the)?|hey|to(?: the| all)?|as an?|you are an?|for the)\s+(?:\w+[\s-]+){0,3}?`;
const TALK = 'conversation|transcript|dialog(?:ue)?|trajectory|episode|sample|row|chat log';

/** Words to graders that no text of a conversation needs, the policy and the tools included. */
const TO_GRADERS: readonly RegExp[] = [
  /\b(?:auto-?)?(?:grader|annotator|autograder|llm[- ]as[- ]a[- ]judge|rubric|near[- ]miss)s?\b/i,
  new RegExp(
    String.raw`\b(?:mark|rate|score|grade|label|classify|judge|evaluate|assess|treat|count|approve|accept|report|output)\b[^.!?]{0,60}\b(?:${TALK}|criteri(?:a|on)|verdicts?|assertions?)\b[^.!?]{0,40}\b(?:as|is|are|to be|met|true|good|pass(?:ed|es)?|perfect|correct|success\w*|positive|keep|kept|yes)\b`,
    'i',
  ),
  new RegExp(
    String.raw`\b(?:who|whoever|anyone|model|ai|you)\b[^.!?]{0,20}\b(?:evaluat|grad|judg|assess|scor|rat|review)(?:e|es|ing)\b[^.!?]{0,30}\b(?:${TALK})\b`,
    'i',
  ),
  new RegExp(
    String.raw`\b(?:${TALK})\b[^.!?]{0,40}\b(?:must|should|shall|has to|needs to|deserves?)\b[^.!?]{0,30}\b(?:kept|keep|pass|accepted|approved|marked|rated|scored|graded|labell?ed)\b`,
    'i',
  ),
  new RegExp(
    String.raw`\bthis (?:${TALK})\b[^.!?]{0,12}\b(?:is|was|meets|passes|satisfies|fulfils)\b[^.!?]{0,12}\b(?:good|perfect|correct|flawless|excellent|exemplary|valid|success\w*|all|every)\b`,
    'i',
  ),
  /\b(?:verdicts?|criteri(?:a|on)|met)["'\s]*(?::|=|==|to|is|are)\s*["']?(?:true|yes|pass(?:ed)?|good|keep|perfect)\b/i,
  /\b(?:set|assign|give|award|return|output)\b[^.!?]{0,20}\b(?:reward|full marks|full score|top score|(?:highest|maximum|perfect|best) (?:score|grade|rating|marks))\b/i,
  /\b(?:all|every|each) (?:\w+ )?(?:criteri(?:a|on)|assertions?)\b[^.!?]{0,30}\b(?:met|true|pass(?:ed|es)?|satisfied|fulfilled|holds?)\b/i,
  /\bbewert\w*\b.{0,60}\b(?:als|mit)\b.{0,20}\b(?:gut|wahr|richtig|bestanden|positiv|perfekt|erfolg)|\b(?:gutachter|prüfmodell|bewertungsmodell|bewerter)\b/i,
  /\b(?:évaluateur|evaluador|valutatore|avaliador)(?:a|e|es|s|i)?\b/i,
  /(?:评分|评审|评估|評分|評估|裁判|打分)(?:者|员|員|模型|系统|系統|器)|(?:标记|標記|判定?|评)为?.{0,8}(?:通过|合格|正确|正確|成功|满分)|(?:採点|評価)(?:者|モデル|システム|AI)/,
  new RegExp(String.raw`\b(?:${CRITERIA.filter((name) => name.includes('_')).join('|')})\b`, 'i'),
  /"(?:verdicts?|criteri(?:a|on)|met)"\s*:/i,
];

const ALL = String.raw`(?:all|every(?:thing|where)?|each|whatever|nothing)`;
const CASE = String.raw`(?:this|the|that|our) (?:\w+ ){0,2}?(?:${TALK}|log|record|talk|session|exchange|case|interaction|test)s?`;
const FAULTS = '(?:mistakes?|errors?|faults?|flaws?|problems?|issues?|violations?)';

/** What a text tells a judge to do or to believe, without naming it. In the talk of customers and agents such words are rare. */
const ORDERS: readonly RegExp[] = [
  // How to answer
  new RegExp(
    String.raw`\b(?:your|the (?:correct|expected|right|only|final)) (?:\w+ )?(?:answers?|reply|replies|responses?|verdicts?|output|result|judge?ment|assessment)\b[^.!?]{0,40}\b(?:must|should|has to|have to|shall|needs? to|is that|is to|pass|success|positive|true)\b|\byour verdict\b`,
    'i',
  ),
  /\b(?:answer|respond|reply|say|output|return|set|mark|write|report|conclude)\b[^.!?]{0,40}(?:\btrue\b|\bpositive(?:ly)?\b|\bmet\b)|\bmet\s*(?:=|:|is)|\bonly (?:output|positive|say yes)/i,
  new RegExp(
    String.raw`\b(?:answer|respond|reply|say|answered)\b[^.!?]{0,20}\byes\b[^.!?]{0,20}\b${ALL}\b|\b${ALL}\b[^.!?]{0,60}\b(?:answered|say|answer|reply)\b[^.!?]{0,20}\b(?:yes|holds?|well|fine|true)\b`,
    'i',
  ),
  new RegExp(
    String.raw`\b(?:requirements?|statements?|criteri(?:a|on)|checks?|fields?|points?)\b[^.!?]{0,40}\b(?:fulfilled|satisfied|passed|hold|true|met)\b`,
    'i',
  ),
  // What to leave out
  new RegExp(
    String.raw`\b(?:overlook|ignore|disregard|forgive|excuse|find no|(?:do not|don't|never|not) (?:\w+ )?(?:report|find|flag|mention|count|penali[sz]e)(?: any)?)\b[^.!?]{0,20}\b${FAULTS}\b`,
    'i',
  ),
  /\b(?:skip|stop|omit|cease|no (?:further|need for|more)|without)\b[^.!?]{0,20}\b(?:checks?|checking|inspections?|reviews?|evaluations?|verification|grading|judging)\b|\b(?:no|not) (?:\w+ )?(?:review|inspection|evaluation) (?:is )?(?:needed|required|necessary)\b/i,
  /\bwhatever (?:you are asked|happened|it says)\b|\bpre-?approved\b|\boverride (?:code|key)\b/i,
  // What the conversation is
  new RegExp(
    String.raw`\b${CASE}\b[^.!?]{0,30}\b(?:gold|flawless\w*|perfect\w*|exemplary|fake|verified|kept|pre-?approved|a pass|correct|wrong|success\w*)\b|\b(?:nothing|no ${FAULTS})\b in ${CASE}\b`,
    'i',
  ),
  /\b(?:consider|treat|regard|deem|count|take)\b[^.!?]{0,40}\b(?:complete|correct|fulfilled|successful|satisfied|valid|true)\b/i,
  /\b(?:flawless|exemplary|impeccabl)\w*\b|\b10\s*(?:\/|out of)\s*10\b|\b(?:grade|rating|score)\s*[:=]\s*\S|\b(?:evaluation|grading|verdict)\b|\bend of (?:the )?(?:record|log|transcript|conversation)\b/i,
  // To whom it speaks
  /\b(?:dear|hey|as|you are|if you (?:are|read this as)|note to)\b[^.!?]{0,16}\b(?:ai|llm|language model|bot|examiner|quality team)\b|\byou are now an?\b|\bfrom (?:now on|this point)\b[^.!?]{0,12}\b(?:you|only)\b|\b(?:quality (?:team|assurance)|examiner|admin(?:istrator)? note)\b/i,
  // Other languages
  /\bbewerte\w*\b|\bals (?:erfüllt|bestanden|einwandfrei|korrekt|richtig)\b|\b(?:réponds|répondez|considère|considérez)\b|\bcrit(?:ères|erios|eri)\b|\b(?:responde|responda|marca|marque|considera)\b[^.!?]{0,12}\b(?:que|todos?|como|tudo)\b|\b(?:rispondi|segna)\b[^.!?]{0,12}\b(?:che|tutto)\b/i,
  /(?:回答|输出|返回|答复).{0,12}(?:满足|正确|通过|符合|真|是)|(?:所有|全部).{0,8}(?:标准|条件|要求)|正しいと(?:答え|判断|評価)|(?:すべて|全て|全部).{0,10}(?:正しい|満た|合格)|(?:모두|전부).{0,10}(?:참|맞|통과)|(?:отвечай|ответь|оцени)/,
];

/** Words that a policy or a tool may have, but that no customer, agent or result should say. */
const IN_TALK: readonly RegExp[] = [
  new RegExp(String.raw`\b${CALL}${WHO}\b`, 'i'),
  new RegExp(String.raw`(?:^|[\s"'(\[{@#*_-])${WHO}\s*[:,!\])]`, 'i'),
  /\b(?:ignore|disregard|forget|override)\b[^.!?]{0,40}\b(?:instructions?|prompts?|rubric|criteria|directions|(?:all|everything) above)\b/i,
  /\b(?:new|updated|important|hidden|secret|additional|real|system) (?:system )?(?:instructions?|prompts?|directives?)\s*:/i,
  /(?:^|\n)[\s#*[({]*(?:system|developer|assistant)\b[\s#*\])}]*:/i,
  /ignorier\w*\b.{0,40}\b(?:anweisung|vorgabe)|ignor[ae]\w*\b.{0,40}\b(?:instruc\w+|consignes?|istruzioni)/i,
  /忽略.{0,12}(?:指令|指示|说明|提示)|(?:以前|前|上記|すべて|全て)の(?:指示|命令)を?.{0,6}無視|игнорируй|(?:이전|위의?).{0,6}(?:지시|명령).{0,6}무시/i,
  // Marks of chat templates, and elements that open a role
  /<\|?\/?\s*(?:im_start|im_end|system|assistant|user|developer|endoftext|eot_id|start_header_id|end_header_id|instructions?|prompt|grader|judge|verdict)\b[^<>]{0,40}>|\[\/?(?:INST|SYSTEM_PROMPT|SYSTEM)\]|<<\/?SYS>>/i,
];

/** The commonest of these words without blanks, for words whose letters stand apart. */
const SQUEEZED =
  /(?:mark|rate|grade|score|judge)this(?:conversation|transcript|dialog|row)|ignore(?:all|any)?(?:of)?(?:the|your)?(?:previous|prior|above|earlier)(?:instruction|prompt)|noteto(?:the)?(?:grader|judge|evaluator)|dear(?:grader|judge|evaluator)/i;

/** Characters that nobody sees: of no width, of direction, and tags, in which whole texts can hide. */
const UNSEEN = /[\u200b\u200c\u200e\u200f\u2060-\u2064\u202a-\u202e\u2066-\u2069\ufeff\u00ad]|[\u{e0000}-\u{e007f}]/u;

/** A search reads at most so much of one text in one piece, so that hostile texts cost little time. */
const PIECE = 4000;
const OVERLAP = 200;

/** The first text of the row that speaks to a grader, with its place. Null if there is none. */
export function addressedText(row: GradedRow): NonNullable<Grades['addressed']> | null {
  for (const [message, one] of row.messages.entries()) {
    const patterns = one.role === 'system' ? TO_GRADERS : [...TO_GRADERS, ...ORDERS, ...IN_TALK];
    const text = found(`${saidIn(one)} ${one.name ?? ''}`, patterns);
    if (text !== null) return { message, text };
  }
  const text = found(row.instruction ?? '', TO_GRADERS) ?? found(JSON.stringify(row.tools ?? []), TO_GRADERS);
  return text === null ? null : { message: null, text };
}

function found(text: string, patterns: readonly RegExp[]): string | null {
  const unseen = UNSEEN.exec(text);
  if (unseen) return `U+${unseen[0].codePointAt(0)!.toString(16).toUpperCase().padStart(4, '0')}`;
  for (let at = 0; at < Math.max(1, text.length); at += PIECE - OVERLAP) {
    const piece = text.slice(at, at + PIECE);
    for (const form of forms(piece))
      for (const pattern of patterns) {
        const hit = pattern.exec(form);
        if (hit) return hit[0].trim().slice(0, 200);
      }
    const squeezed = SQUEEZED.exec(piece.normalize('NFKC').replace(/\P{L}/gu, ''));
    if (squeezed) return squeezed[0];
  }
  return null;
}

/** The text in plain letters, and what its Base64 says. */
function* forms(text: string): Iterable<string> {
  const plain = text.normalize('NFKC').replace(/[^\S\n]+/g, ' ');
  yield plain;
  for (const [code] of plain.matchAll(/[A-Za-z0-9+/]{24,}={0,2}/g)) {
    const said = decoded(code);
    if (said !== null) yield said;
  }
}

function decoded(code: string): string | null {
  try {
    const bytes = Uint8Array.from(atob(code.slice(0, code.length - (code.length % 4))), (letter) => letter.charCodeAt(0));
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    return null;
  }
}
