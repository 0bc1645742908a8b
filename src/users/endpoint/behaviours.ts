/**
 * @file What the client does with what servers send: one table for each kind of difference between servers. The other files of
 * this folder read these tables.
 */

/** The endings of a complete answer (`finish_reason`), in lower case. Every other ending makes a failed request. */
export const CLEAN_ENDINGS: ReadonlySet<string> = new Set([
  'stop',
  'tool_calls',
  'function_call',
  'tool_use',
  'end_turn',
  'stop_sequence',
  'eos',
  'eos_token',
  'complete',
]);

/** The endings of an answer that reached `max_tokens`, in lower case. The request is repeated with twice the tokens. */
export const CUT_ENDINGS: ReadonlySet<string> = new Set(['length', 'max_tokens', 'max_output_tokens']);

/** The parts of a message's content that are words, and those that are thoughts. Another part makes a failed request. */
export const WORD_PARTS: ReadonlySet<unknown> = new Set(['text', 'output_text']);
export const THOUGHT_PARTS: ReadonlySet<unknown> = new Set([
  'thinking',
  'reasoning',
  'redacted_thinking',
  'reasoning_text',
  'summary_text',
]);

const element = (names: string): [RegExp, RegExp] => [
  new RegExp(`<(?:${names})(?:\\s[^<>]*)?>`, 'i'),
  new RegExp(`</(?:${names})\\s*>`, 'i'),
];

/** The marks around thoughts: where they open, and where they close. */
export const THOUGHTS: readonly (readonly [open: RegExp, close: RegExp])[] = [
  element('think|thinking'),
  element('thought|thoughts'),
  element('reasoning|reason'),
  element('reflection'),
  element('analysis'),
  element('scratchpad'),
  element('inner_monologue|internal_monologue|monologue'),
  element('seed:think'),
  element('mm:think'),
  element('antml:thinking|ant_thinking|antthinking'),
  element('longcat_think'),
  [/\[think\]/i, /\[\/think\]/i],
  [/\[thinking\]/i, /\[\/thinking\]/i],
  [/<\|START_THINKING\|>/, /<\|END_THINKING\|>/],
  [/<\|begin_of_thought\|>/, /<\|end_of_thought\|>/],
  [/<\|think\|>/, /<\|\/think\|>/],
  [/<\|thinking\|>/, /<\|\/thinking\|>/],
  [/◁think▷/, /◁\/think▷/],
  // Gemma 4
  [/<\|channel>\s*\w*/, /<channel\|>/],
  // MedGemma
  [/<unused94>/, /<unused95>/],
];

/** Marks around the words that follow thoughts. The words stay. */
export const WRAPPERS =
  /<\/?(?:answer|response|final|final_answer)>|<\|(?:START|END)_RESPONSE\|>|<\|(?:begin|end)_of_solution\|>|\[\/?(?:answer|response)\]/gi;

/** Elements of HTML and MathML that people write in messages. */
const HTML =
  'a|abbr|b|big|blockquote|br|code|del|div|em|font|h[1-6]|hr|i|img|ins|kbd|li|mark|ol|p|pre|q|small|span|strike|strong|sub|sup|table|tbody|td|th|thead|tr|u|ul';

/** Marks that no person writes: control tokens, calls of tools as text, and elements that are not HTML. */
export const UNKNOWN_MARKS: readonly RegExp[] = [
  // Control tokens of chat templates, such as <|im_end|>, <|turn>, <turn|> and DeepSeek's with full-width bars
  /<[|｜][^<>\n]{0,40}>|<[^<>\n|｜]{1,40}[|｜]>/,
  /<<\/?SYS>>|\[\/?(?:INST|SYSTEM_PROMPT|TOOL_CALLS|TOOL_RESULTS|TOOL_CONTENT|AVAILABLE_TOOLS|CALL_ID|ARGS|MODEL_SETTINGS|gMASK|sop|BOS|EOS|PAD|UNK|CLS|SEP|MASK)\]/,
  // Elements such as <plan>, and tokens such as </s>, <bos>, <0x0A> and <tool_call>
  new RegExp(`<\\/?(?!(?:${HTML})[\\s/>])[a-z_][\\w:.-]*(?:=[\\w.-]+)?(?:\\s+[\\w:-]+=(?:"[^"]*"|'[^']*'|[^\\s<>]+))*\\s*\\/?>`, 'i'),
  /<0x[\dA-F]{2}>/i,
  /&lt;\/?[a-z][\w:-]*&gt;/i,
  // [REASONING] … [/REASONING]
  /\[\/[a-z][\w-]*\]/i,
  /^\s*\[[A-Z][A-Z_]{2,}\]/,
  /[◁⟨⟦]\/?[\w:]+[▷⟩⟧]/,
  /^[ \t]*(?:```|~~~)[ \t]*(?:think|thinking|thoughts?|reasoning|analysis)\b/im,
  /^[\s*_#]*(?:thoughts?|thinking(?: process)?|reasoning|chain of thought|internal monologue|analysis)[*_]*\s*:/i,
  /\bassistant(?:final|analysis|commentary)/,
];

/**
 * The fields of a request that a server may refuse, with the names that the client tries next. After the last name the field is
 * left out.
 */
export const REFUSABLE: Readonly<Record<string, readonly string[]>> = {
  max_tokens: ['max_completion_tokens'],
  temperature: [],
  seed: [],
  stream: [],
  response_format: [],
};

/** Names that a refusable field gets only if the server's words contain the name. */
export const NAMED_ALTERNATIVES: Readonly<Record<string, readonly string[]>> = {
  max_tokens: ['max_output_tokens', 'max_new_tokens'],
  seed: ['random_seed'],
};

/** The words with which servers refuse a field. */
export const REFUSES =
  /unsupported|not[\s_]support|n[o']t support|only supports|unknown|unrecogni[sz]ed|unexpected|not (?:be )?(?:permitted|allowed|accepted|recogni[sz]ed|implemented|available|used|set|specified)|extra[\s_](?:inputs|fields|forbidden)|cannot find field|deprecated|invalid (?:parameter|field|argument|name|key)|no such (?:field|parameter)|is not a (?:valid|known)|only the default|only [\d.]+ is|additional propert/i;

/** What an error inside an answer with HTTP 200 means as an HTTP status. The first pattern that fits its type or code counts. */
export const ERROR_TYPES: readonly (readonly [RegExp, number])[] = [
  [/rate.?limit|resource.?exhausted|too.?many/i, 429],
  [/auth|api.?key|permission|forbidden/i, 401],
  [/not.?found/i, 404],
  [/overloaded|unavailable|timeout|internal|server/i, 503],
  [/invalid|bad.?request|unprocessable|unsupported/i, 400],
];

/** Codes of HTTP 429 that waiting does not change. */
export const QUOTA = /insufficient_quota|billing|insufficient.?balance/i;

/** Names of models that are no chat models. */
export const NO_CHAT_MODEL =
  /(?:^|[-_/.:@ ])(?:text-?)?(?:embed(?:der|ding|dings)?|embeddinggemma|paraphrase|babbage|davinci|e5|bge|gte|minilm|mpnet|colbert|sbert|splade|arctic-embed|rerank(?:er)?|cross-encoder|whisper|tts|stt|asr|transcribe|moderation|guard|dall-e|gpt-image|imagen|stable-diffusion|sdxl|flux|sora|veo|clip|siglip|kokoro|parakeet)(?=$|[-_/.:@ \d])/i;
