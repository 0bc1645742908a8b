/**
 * @file Reads how a model's conversations are written from its own chat template. The template renders a few conversations with
 * known words, and the texts around these words are the format.
 */
import { InputError, parserReason } from '../base/input-error.ts';
import { IM_END, IM_START, QWEN, THINK_START, TOOL_CALL_END, TOOL_CALL_START } from './chat-template.ts';
import { fixedDate } from './fixed-date.ts';
import { isOwnTemplate } from './jinja-template.ts';
import type { ChatFormat, Frame, Tokenizer } from './types.ts';

/** Words that no template contains. */
const WORDS = { system: 'Zqsystem', user: 'Zquser', assistant: 'Zqassistant', later: 'Zqlater', again: 'Zqagain', answer: 'Zqanswer' };

type Message = { role: 'system' | 'user' | 'assistant'; content: string };
type Words = Pick<Tokenizer, 'encode' | 'decode' | 'has'> & { control: ReadonlySet<string> };

/** The library that renders templates. Only models with a foreign template need it, so it is loaded apart. */
export type Jinja = new (template: string) => { render(variables: Record<string, unknown>): string };

/** Whether `readFormat` must render a template. */
export const needsJinja = (template: string, tokenizer: Pick<Words, 'has'>): boolean =>
  template !== '' && (!isOwnTemplate(template) || missingToken(tokenizer) !== undefined);

const missingToken = (tokenizer: Pick<Words, 'has'>): string | undefined =>
  [IM_START, IM_END, TOOL_CALL_START, TOOL_CALL_END].find((token) => !tokenizer.has(token));

/**
 * A model with the tool tags of Qwen as tokens has Qwen's format. The format of another model comes from its template.
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
      `tokenizer.json has no token ${JSON.stringify(missing)}, and the folder has no chat_template: expected a tokenizer with Qwen's control tokens, or a chat template`,
    );
  if (!jinja) throw new Error('a chat template must be rendered: expected the library jinja, as openTokenizer loads it');
  const render = renderer(jinja, template, tokens);
  return missing === undefined ? { ...QWEN, thinks: opensThoughts(render) } : derived(render, tokenizer);
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

/** Whether the text before a turn has a think block that is empty. A template that cannot be rendered says nothing: Qwen3 has the block. */
function opensThoughts(render: Render): boolean {
  const user: Message = { role: 'user', content: WORDS.user };
  try {
    return render([user], true)
      .slice(render([user]).length)
      .includes(THINK_START);
  } catch {
    return true;
  }
}

function derived(render: Render, tokenizer: Words): ChatFormat {
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
  const told = added(render([system, user]), render([system, user, later]), 'a later system message');
  const prompt = added(render([system, user]), render([system, user], true), 'add_generation_prompt');
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
  const end = tokenizer.decode(tokenizer.encode(after[1]).slice(0, 1));
  const format: ChatFormat = {
    first,
    bare,
    system: around(told, WORDS.later, 'a later system message'),
    user: userFrame,
    agent: [prompt, after[1]],
    end,
    thinks: false,
    trims: !render([say('system', ` ${WORDS.system} `)]).includes(` ${WORDS.system}`),
    compact: true,
    control: [],
  };
  if (end === '' || !tokenizer.control.has(end) || !after[1].startsWith(end))
    fail(`a turn of the assistant ends with ${JSON.stringify(after[1])}`, 'a control token of tokenizer.json that ends the turn');

  // A longer conversation must have the same texts, and tokens that do not depend on the messages around.
  const pieces = [
    first[0] + WORDS.system + first[1],
    ...[user, assistant, again, answer].map(({ role, content }) => {
      const [before, behind] = role === 'user' ? format.user : format.agent;
      return before + content + behind;
    }),
  ];
  const whole = render([system, user, assistant, again, answer]);
  if (whole !== pieces.join(''))
    fail(`a conversation is ${JSON.stringify(whole.slice(0, 200))}`, `${JSON.stringify(pieces.join('').slice(0, 200))}`);
  if (bare + asked !== bareText)
    fail(`a conversation without a system message is ${JSON.stringify(bareText.slice(0, 200))}`, `to end with ${JSON.stringify(asked)}`);
  if (tokenizer.encode(whole).join() !== pieces.flatMap((piece) => tokenizer.encode(piece)).join())
    fail('a message changes the tokens of the message before it', 'messages that begin with a control token');
  return format;
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
