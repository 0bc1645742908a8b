/**
 * @file Chat templates in Jinja, for `tokenizer_config.json`. With them, vLLM, TRL and other tools render conversations as in training. The
 * tags `generation` are around the texts that the model writes: transformers makes the mask for supervised training from them.
 */
import { COMPACT_HEAD, COMPACT_TAIL } from './compact-tools.ts';
import {
  generationPrompt,
  NO_THOUGHTS,
  QWEN,
  THINK_END,
  THINK_START,
  TOOL_CALL_END,
  TOOL_CALL_START,
  TOOLS_HEAD,
  TOOLS_TAIL,
} from './chat-template.ts';
import { escapeRegExp } from '../base/escape-reg-exp.ts';
import type { ChatFormat, Frame } from './types.ts';

/** The template of our own models. Unlike in Qwen3's template, `enable_thinking` is off by default. */
export const CHAT_TEMPLATE = `
{%- set thinking = enable_thinking is defined and enable_thinking %}
{%- set no_thoughts = '${escape(NO_THOUGHTS)}' %}
{%- set assistant = '${escape(generationPrompt(QWEN, true))}' + ('' if thinking else no_thoughts) %}
{%- if tools %}
    {{- '<|im_start|>system\\n' }}
    {%- if messages[0].role == 'system' %}
        {{- messages[0].content + '\\n\\n' }}
    {%- endif %}
    {{- '${escape(TOOLS_HEAD)}' }}
    {%- for tool in tools %}
        {{- '\\n' }}
        {{- tool | tojson }}
    {%- endfor %}
    {{- '${escape(TOOLS_TAIL)}<|im_end|>\\n' }}
{%- elif messages[0].role == 'system' %}
    {{- '<|im_start|>system\\n' + messages[0].content + '<|im_end|>\\n' }}
{%- endif %}
{%- for message in messages %}
    {%- if message.role == 'user' or (message.role == 'system' and not loop.first) %}
        {{- '<|im_start|>' + message.role + '\\n' + message.content + '<|im_end|>\\n' }}
    {%- elif message.role == 'assistant' %}
        {{- assistant }}
        {%- generation %}
        {%- if thinking and '${THINK_END}' not in (message.content or '') %}
            {%- if message.reasoning_content and message.reasoning_content.strip() %}
                {{- '${THINK_START}\\n' + message.reasoning_content.strip() + '\\n${THINK_END}\\n\\n' }}
            {%- else %}
                {{- no_thoughts }}
            {%- endif %}
        {%- endif %}
        {%- if message.content %}
            {{- message.content }}
        {%- endif %}
        {%- if message.tool_calls %}
            {%- for tool_call in message.tool_calls %}
                {%- if message.content or not loop.first %}
                    {{- '\\n' }}
                {%- endif %}
                {%- if tool_call.function %}
                    {%- set tool_call = tool_call.function %}
                {%- endif %}
                {{- '<tool_call>\\n{"name": "' + tool_call.name + '", "arguments": ' }}
                {%- if tool_call.arguments is string %}
                    {{- tool_call.arguments }}
                {%- else %}
                    {{- tool_call.arguments | tojson }}
                {%- endif %}
                {{- '}\\n</tool_call>' }}
            {%- endfor %}
        {%- endif %}
        {{- '<|im_end|>' }}
        {%- endgeneration %}
        {{- '\\n' }}
    {%- elif message.role == 'tool' %}
        {%- if loop.first or messages[loop.index0 - 1].role != 'tool' %}
            {{- '<|im_start|>user' }}
        {%- endif %}
        {{- '\\n<tool_response>\\n' + message.content + '\\n</tool_response>' }}
        {%- if loop.last or messages[loop.index0 + 1].role != 'tool' %}
            {{- '<|im_end|>\\n' }}
        {%- endif %}
    {%- endif %}
{%- endfor %}
{%- if add_generation_prompt %}
    {{- assistant }}
{%- endif %}`.trimStart();

/** `model_input_names` of tokenizer_config.json. Otherwise transformers 4 returns `token_type_ids`, which `generate` refuses. */
export const MODEL_INPUT_NAMES = ['input_ids', 'attention_mask'];

/** Earlier versions had no tags for the texts that the model writes. */
const untagged = (template: string) =>
  template.replace(/\n *\{%- (?:end)?generation %\}/g, '').replace("{{- '<|im_end|>' }}\n        {{- '\\n' }}", "{{- '<|im_end|>\\n' }}");

/** The part that all versions of this template end with. Models that were made before it knew thoughts have an earlier version. */
const OWN_END = untagged(CHAT_TEMPLATE.slice(CHAT_TEMPLATE.indexOf('{%- if message.content %}')));

/** Whether a template is a version of `CHAT_TEMPLATE`. */
export const isOwnTemplate = (template: string): boolean => untagged(template).endsWith(OWN_END);

/**
 * How transformers (from 5.13 on) parses a turn into thoughts, calls and words: the field `response_template` of `tokenizer_config.json`.
 * TRL needs it for models whose templates it does not know. Source: `qwen3_template` of `trl/chat_template_utils.py`.
 */
export const responseTemplate = ({ agent, end, thinks }: ChatFormat) => ({
  defaults: { role: 'assistant' },
  start_anchor: agent[0],
  fields: {
    ...(thinks && { reasoning_content: { open: THINK_START, close_pattern: `${THINK_END}\\s*`, content: 'text' } }),
    tool_calls: {
      open: TOOL_CALL_START,
      close_pattern: `${TOOL_CALL_END}\\s*`,
      repeats: true,
      content: 'json',
      transform: { type: 'function', function: '{content}' },
    },
    content: { close_pattern: `${escapeRegExp(end)}\\s*`, content: 'text' },
  },
});

/** The template of a model with the compact format. Without tools it writes what the model's own template writes. */
export function compactTemplate({ first, bare, system, user, agent, end, trims, thinks }: ChatFormat): string {
  const trim = trims ? ' | trim' : '';
  const around = ([before, after]: Frame, text: string) => `{{- ${quoted(before)} + ${text} + ${quoted(after)} }}`;
  const prompt = quoted(agent[0]) + (thinks ? ` + ('' if enable_thinking else ${quoted(NO_THOUGHTS)})` : '');
  const thoughts = `
        {%- if enable_thinking and '${THINK_END}' not in ns.text %}
            {%- set thoughts = (message.reasoning_content or '') | trim %}
            {%- set ns.text = (${quoted(`${THINK_START}\n`)} + thoughts + ${quoted(`\n${THINK_END}\n\n`)} if thoughts else ${quoted(NO_THOUGHTS)}) + ns.text %}
        {%- endif %}`;
  return `
{%- set ns = namespace(text='') %}
{%- if messages[0].role == 'system' %}
    {%- set ns.text = messages[0].content + ('\\n\\n' if tools else '') %}
{%- endif %}
{%- if tools %}
    {%- set ns.text = ns.text + ${quoted(COMPACT_HEAD)} %}
    {%- for tool in tools %}
        {%- if tool.function %}
            {%- set tool = tool.function %}
        {%- endif %}
        {%- set ns.text = ns.text + '\\n' + tool.name + '(' %}
        {%- for name, schema in tool.parameters.properties | items %}
            {%- set ns.text = ns.text + ('' if loop.first else ', ') + name %}
            {%- if not tool.parameters.required or name not in tool.parameters.required %}
                {%- set ns.text = ns.text + '?' %}
            {%- endif %}
            {%- if schema.enum %}
                {%- for choice in schema.enum %}
                    {%- set ns.text = ns.text + (': ' if loop.first else ' or ') + (choice | tojson) %}
                {%- endfor %}
            {%- elif schema.type in ['number', 'integer', 'boolean'] %}
                {%- set ns.text = ns.text + ': ' + schema.type %}
            {%- elif schema.type != 'string' %}
                {%- set ns.text = ns.text + ': ' + (schema | tojson) %}
            {%- endif %}
        {%- endfor %}
        {%- set ns.text = ns.text + '): ' + (tool.description or '') %}
    {%- endfor %}
    {%- set ns.text = ns.text + ${quoted(COMPACT_TAIL)} %}
{%- endif %}
{%- if tools or messages[0].role == 'system' %}
    ${around(first, `(ns.text${trim})`)}
{%- else %}
    {{- ${quoted(bare)} }}
{%- endif %}
{%- for message in messages %}
    {%- if message.role == 'system' and not loop.first %}
        ${system ? around(system, `(message.content${trim})`) : "{{- raise_exception('A system message must be at the start.') }}"}
    {%- elif message.role == 'user' %}
        ${around(user, `(message.content${trim})`)}
    {%- elif message.role == 'tool' %}
        ${around(user, `'<tool_response>' + message.content + '</tool_response>'`)}
    {%- elif message.role == 'assistant' %}
        {%- set ns.text = (message.content or '')${trim} %}
        {%- for tool_call in message.tool_calls or [] %}
            {%- if tool_call.function %}
                {%- set tool_call = tool_call.function %}
            {%- endif %}
            {%- set ns.text = ns.text + ('\\n' if ns.text else '') + '<tool_call>{"name": "' + tool_call.name + '", "arguments": ' %}
            {%- set ns.text = ns.text + (tool_call.arguments if tool_call.arguments is string else (tool_call.arguments | tojson)) + '}</tool_call>' %}
        {%- endfor %}${thinks ? thoughts : ''}
        {{- ${prompt} }}
        {%- generation %}
        {{- ns.text + ${quoted(end)} }}
        {%- endgeneration %}
        {{- ${quoted(agent[1].slice(end.length))} }}
    {%- endif %}
{%- endfor %}
{%- if add_generation_prompt %}
    {{- ${prompt} }}
{%- endif %}`.trimStart();
}

/** Whether a template is a version of `compactTemplate`. */
export const isCompactTemplate = (template: string): boolean => template.includes(quoted(COMPACT_TAIL));

const quoted = (text: string): string => `'${escape(text)}'`;

/** Escapes a string that stands between single quotes in Jinja. */
function escape(text: string): string {
  return text.replaceAll('\\', '\\\\').replaceAll('\n', '\\n').replaceAll("'", "\\'");
}
