/**
 * @file Reads how a model's conversations are written from its own chat template. The template renders a few conversations with
 * known words, and the texts around these words are the format.
 */
import { InputError, parserReason } from '../base/input-error.ts';
import { IM_END, IM_START, NO_THOUGHTS, QWEN, renderPieces, THINK_START, TOOL_CALL_END, TOOL_CALL_START } from './chat-template.ts';
import { fixedDate } from './fixed-date.ts';
import { isOwnTemplate } from './jinja-template.ts';
import { withoutEnd } from './tool-call.ts';
import type { ChatFormat, Frame, Tokenizer } from './types.ts';

/** Words that no template contains. */
const WORDS = { system: 'Zqsystem', user: 'Zquser', assistant: 'Zqassistant', later: 'Zqlater', again: 'Zqagain', answer: 'Zqanswer' };

type Message = { role: 'system' | 'user' | 'assistant'; content: string };
/** `added`: the contents of all added tokens. */
type Words = Pick<Tokenizer, 'encode' | 'decode'> & { added: ReadonlySet<string> };

/** The library that renders templates. Only models with a foreign template need it, so it is loaded apart. */
export type Jinja = new (template: string) => { render(variables: Record<string, unknown>): string };

/** Whether `readFormat` must render a template. */
export const needsJinja = (template: string, tokenizer: Pick<Words, 'added'>): boolean =>
  template !== '' && (!isOwnTemplate(template) || missingToken(tokenizer) !== undefined);

/** A token that is in the vocabulary, but is no added token, is never found in a text. */
const missingToken = ({ added }: Pick<Words, 'added'>): string | undefined =>
  [IM_START, IM_END, TOOL_CALL_START, TOOL_CALL_END].find((token) => !added.has(token));

/**
 * The frames of messages come from the template. A model with the tool tags of Qwen as tokens gets tools, calls, results and think blocks
 * as Qwen3 has them, and another model gets the compact format.
 * @param template the Jinja template of the model's folder; empty if there is none
 * @param tokens the special tokens of tokenizer_config.json that a template may use: bos_token, eos_token …
 * @param jinja must be given if the template needs it (`needsJinja`)
 * @throws InputError if the template cannot be rendered, or does not write one message after another
 */
export function readFormat(template: string, tokenizer: Words, tokens: Record<string, string>, jinja?: Jinja): ChatFormat {
  const missing = missingToken(tokenizer);
  // Earlier versions of our own template had no thoughts.
  if (missing === undefined && !needsJinja(template, tokenizer))
    return { ...QWEN, thinks: template === '' || template.includes(THINK_START) };
  if (template === '')
    throw new InputError(
      `tokenizer.json has no added token ${JSON.stringify(missing)}, and the folder has no chat_template: expected a tokenizer with Qwen's control tokens, or a chat template`,
    );
  if (!jinja) throw new Error('a chat template must be rendered: expected the library jinja, as openTokenizer loads it');
  return derived(renderer(jinja, template, tokens), tokenizer, missing !== undefined);
}

type Render = (messages: Message[], prompt?: boolean) => string;

function renderer(jinja: Jinja, template: string, tokens: Record<string, string>): Render {
  const fixed = { ...tokens, enable_thinking: false, date_string: fixedDate('%d %b %Y') };
  let parsed: InstanceType<Jinja> | undefined;
  return (messages, prompt = false) => {
    try {
      parsed ??= new jinja(template);
      return parsed.render({ ...fixed, messages, add_generation_prompt: prompt });
    } catch (error) {
      throw new InputError(`chat_template cannot be rendered: ${parserReason(error)}`);
    }
  };
}

/** Empty think blocks belong to no frame: `thinks` stands for them. @param compact whether the model lacks the tags of Qwen */
function derived(whole: Render, tokenizer: Words, compact: boolean): ChatFormat {
  const render: Render = (messages, prompt) => whole(messages, prompt).replaceAll(NO_THOUGHTS, '');
  const say = (role: Message['role'], content: string): Message => ({ role, content });
  const system = say('system', WORDS.system);
  const user = say('user', WORDS.user);
  const assistant = say('assistant', WORDS.assistant);
  const later = say('system', WORDS.later);
  const again = say('user', WORDS.again);
  const answer = say('assistant', WORDS.answer);

  const opened = render([system]);
  const first = around(opened, WORDS.system, 'the system message');
  const asked = added(opened, render([system, user]), 'a user message');
  const begun = added(render([system, user]), render([system, user], true), 'add_generation_prompt');
  // Some models always think. Their own turn then begins with the tag.
  const prompt = begun.replace(/<think>\n$/, '');
  const said = added(render([system, user]), render([system, user, assistant]), 'a message of the assistant');
  if (!said.startsWith(prompt))
    fail(
      `a message of the assistant begins with ${JSON.stringify(said.slice(0, 60))}`,
      `${JSON.stringify(prompt)}, as in add_generation_prompt`,
    );
  const after = around(said.slice(prompt.length), WORDS.assistant, 'a message of the assistant');
  if (after[0] !== '')
    fail(`a message of the assistant has ${JSON.stringify(after[0])} before its words`, 'nothing after the generation prompt');
  const userFrame = around(asked, WORDS.user, 'a user message');
  const bareText = render([user]);
  const bare = bareText.slice(0, Math.max(0, bareText.length - asked.length));
  const thinks = whole([system, user], true)
    .slice(whole([system, user]).length)
    .includes(THINK_START);
  const end = tokenizer.decode(tokenizer.encode(after[1]).slice(0, 1));
  const format: ChatFormat = {
    first,
    bare,
    system: laterSystem(render, [system, user], later),
    user: userFrame,
    agent: [prompt, after[1]],
    end,
    thinks,
    trims: trims(render, [system]),
    compact,
    control: [],
  };
  if (end === '' || withoutEnd(end) !== '' || !tokenizer.added.has(end) || !after[1].startsWith(end))
    fail(
      `a turn of the assistant ends with ${JSON.stringify(after[1])}`,
      'an added token of tokenizer.json that ends the turn, such as <|im_end|> or </s>',
    );

  const asking = trims(render, [system, user]);
  // Qwen3 treats the newest turn in another way than those before.
  const saying = trims(render, [system, user, assistant], [again]);
  if (asking !== format.trims || saying !== format.trims) fail('only some messages lose the white space around them', 'all or none');
  if (bare + asked !== bareText)
    fail(`a conversation without a system message is ${JSON.stringify(bareText.slice(0, 200))}`, `to end with ${JSON.stringify(asked)}`);
  // A longer conversation must have the same texts, and tokens that do not depend on the messages around.
  const messages = [system, user, assistant, again, answer];
  const pieces = renderPieces(format, { messages }).map(({ text }) => text);
  const expected = pieces.join('').replaceAll(NO_THOUGHTS, '');
  const found = render(messages);
  if (found !== expected) fail(`a conversation is ${JSON.stringify(found.slice(0, 200))}`, JSON.stringify(expected.slice(0, 200)));
  if (tokenizer.encode(pieces.join('')).join() !== pieces.flatMap((piece) => tokenizer.encode(piece)).join())
    fail('the tokens of a message depend on the text before it', 'byte-level tokens, and messages that begin with a control token');
  return format;
}

/** Around a system message after others. Null if the template has none. */
function laterSystem(render: Render, before: Message[], later: Message): Frame | null {
  try {
    return around(added(render(before), render([...before, later]), 'a later system message'), WORDS.later, 'a later system message');
  } catch {
    return null;
  }
}

/** Whether the template removes white space around the last of `messages`, if `behind` follow. */
function trims(render: Render, messages: readonly Message[], behind: readonly Message[] = []): boolean {
  const { role, content } = messages.at(-1)!;
  const plain = render([...messages, ...behind]);
  const padded = render([...messages.slice(0, -1), { role, content: ` ${content} ` }, ...behind]);
  if (padded !== plain && padded !== plain.replace(content, ` ${content} `))
    fail(`a message of role "${role}" loses a part of the white space around it`, 'that it keeps or loses it');
  return padded === plain;
}

/** The text that a message adds at the end. */
function added(before: string, longer: string, what: string): string {
  if (!longer.startsWith(before)) fail(`${what} changes the text before it`, 'a conversation that only grows');
  return longer.slice(before.length);
}

function around(text: string, word: string, what: string): Frame {
  const [before, after, ...more] = text.split(word);
  if (after === undefined || more.length > 0) fail(`${what} stands ${more.length > 0 ? 'more than once' : 'nowhere'} in the text`, 'once');
  return [before!, after!];
}

function fail(found: string, expected: string): never {
  throw new InputError(`chat_template does not fit: ${found}: expected ${expected}`);
}
