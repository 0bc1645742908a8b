/**
 * @file Faults and habits of servers, and what the client must do with each. The test plays each one with a real HTTP server, and
 * `npm run docs` writes the table of docs/endpoints.md from this list.
 */

export type Sent = Record<string, unknown>;

export interface Reply {
  status?: number;
  headers?: Record<string, string>;
  /** A text is sent as it is, and other values as JSON. */
  body: unknown;
  /** The connection stays open after the body. */
  staysOpen?: true;
}

/** What the client does, and how the test can see it. */
export type Behaviour =
  | 'reads the answer'
  | 'asks again with another seed'
  | 'asks again with twice the tokens'
  | 'asks again with the same seed'
  | 'waits as long as the server says, then asks again'
  | 'renames the field, and remembers it'
  | 'leaves the field out, and remembers it'
  | 'fails with the server’s words'
  | 'fails after retries with the server’s words';

export interface EndpointFault {
  fault: string;
  does: Behaviour;
  /** The answer to each request; `before` is the number of earlier requests. */
  answer: (sent: Sent, before: number) => Reply;
  /** The words that the customer must say, or that the error must contain. Default: `Hi.` */
  words?: string;
  /** The fields of the last request. Undefined: the field must be absent. */
  last?: Sent;
  /** The shortest wait before the second request, in milliseconds. */
  wait?: number;
}

export const choice = (message: object, finish_reason: unknown = 'stop', more: object = {}): Reply => ({
  body: { choices: [{ index: 0, message: { role: 'assistant', ...message }, finish_reason, ...more }] },
});
export const GOOD = choice({ content: 'Hi.' });
const error = (status: number, body: unknown, headers?: Record<string, string>): Reply => ({ status, body, ...(headers && { headers }) });
const once = (reply: Reply) => (_: Sent, before: number) => (before === 0 ? reply : GOOD);
const always = (reply: Reply) => () => reply;
const reads = (fault: string, reply: Reply): EndpointFault => ({ fault, does: 'reads the answer', answer: always(reply) });
const again = (fault: string, reply: Reply): EndpointFault => ({ fault, does: 'asks again with another seed', answer: once(reply) });
const says = (fault: string, content: unknown) => reads(fault, choice({ content }));
const unusable = (fault: string, content: unknown) => again(fault, choice({ content }));
const longer = (fault: string, reply: Reply): EndpointFault => ({ fault, does: 'asks again with twice the tokens', answer: once(reply) });
const same = (fault: string, reply: Reply): EndpointFault => ({ fault, does: 'asks again with the same seed', answer: once(reply) });
const fails = (fault: string, reply: Reply, words: string): EndpointFault => ({
  fault,
  does: 'fails with the server’s words',
  answer: always(reply),
  words,
});
const failsLate = (fault: string, reply: Reply, words: string): EndpointFault => ({
  ...fails(fault, reply, words),
  does: 'fails after retries with the server’s words',
});
const waits = (fault: string, reply: Reply, wait: number): EndpointFault => ({
  fault,
  does: 'waits as long as the server says, then asks again',
  answer: once(reply),
  wait,
});
const waitsUntil = (fault: string, header: string, write: (time: number) => string): EndpointFault => ({
  ...waits(fault, GOOD, 300),
  answer: (_, before) => (before === 0 ? error(429, '', { [header]: write(Date.now() + 400) }) : GOOD),
});
const refuses = (fault: string, field: string, reply: Reply, last: Sent): EndpointFault => ({
  fault,
  does: Object.values(last).some((value) => value !== undefined)
    ? 'renames the field, and remembers it'
    : 'leaves the field out, and remembers it',
  answer: (sent) => (field in sent ? reply : GOOD),
  last,
});

const event = (value: unknown) => `data: ${JSON.stringify(value)}\n\n`;
const delta = (part: object, finish_reason: string | null = null) => event({ choices: [{ index: 0, delta: part, finish_reason }] });
const stream = (body: string, more: Partial<Reply> = {}): Reply => ({ body, headers: { 'content-type': 'text/event-stream' }, ...more });
const STREAM = delta({ role: 'assistant', content: '' }) + delta({ content: 'H' }) + delta({ content: 'i.' }) + delta({}, 'stop');
const openAi = (message: string, param: string | null, code: string | null) => ({
  error: { message, type: 'invalid_request_error', param, code },
});

export const ENDPOINT_FAULTS: readonly EndpointFault[] = [
  // Endings
  reads('no ending', { body: { choices: [{ message: { content: 'Hi.' } }] } }),
  reads('ending `STOP`', choice({ content: 'Hi.' }, 'STOP')),
  reads('ending `eos_token`', choice({ content: 'Hi.' }, 'eos_token')),
  ...[
    'error',
    'model_length',
    'abort',
    'content_filter',
    'SAFETY',
    'MALFORMED_FUNCTION_CALL',
    'insufficient_system_resource',
    'unknown',
  ].map((ending) => again(`ending \`${ending}\``, choice({ content: 'I want to cancel or' }, ending))),
  longer('ending `length`', choice({ content: 'I want to cancel or' }, 'length')),
  longer('ending `MAX_TOKENS`', choice({ content: 'I want to cancel or' }, 'MAX_TOKENS')),
  longer('thoughts that do not end', choice({ content: '<think>They greet me, so I' })),
  longer('`[THINK]` that does not end', choice({ content: '[THINK]They greet me ###STOP###' })),
  longer('another closing mark in thoughts that do not end', choice({ content: '<think>I could write [/THINK] ###STOP###' })),
  longer('harmony without a final channel', choice({ content: '<|channel|>analysis<|message|>They greet me ###STOP###' })),
  same('an error inside the choice', {
    body: { choices: [{ message: { content: 'I want to' }, finish_reason: 'error', error: { code: 502, message: 'Upstream error' } }] },
  }),
  again('an empty answer', choice({ content: '' })),
  again('`content: null`', choice({ content: null })),
  again('a refusal', choice({ content: null, refusal: 'I cannot do this.' })),
  again('thoughts and nothing else', choice({ content: '<think>They greet me.</think>' })),

  // Thoughts
  says('thoughts in `<think>`', '<think>They greet me ###STOP###</think>Hi.'),
  says('`<think>` opened by the chat template', 'They greet me ###STOP###</think>\n\nHi.'),
  says('`<thought>`', '<thought>They greet me ###STOP###</thought>Hi.'),
  says('`<reasoning>`', '<reasoning effort="low">They greet me ###STOP###</reasoning>\nHi.'),
  says('`<seed:think>`', '<seed:think>They greet me ###STOP###</seed:think>Hi.'),
  says('`[THINK]`', '[THINK]They greet me ###STOP###[/THINK]Hi.'),
  says('`◁think▷`', '◁think▷They greet me ###STOP###◁/think▷Hi.'),
  says('Cohere’s `<|START_THINKING|>`', '<|START_THINKING|>They greet me ###STOP###<|END_THINKING|><|START_RESPONSE|>Hi.<|END_RESPONSE|>'),
  says('Gemma’s `<|channel>thought`', '<|channel>thought\nThey greet me ###STOP###\n<channel|>Hi.'),
  says('`<answer>` after thoughts', '<think>They greet me</think>\n<answer>\nHi.\n</answer>'),
  says(
    'channels of harmony',
    '<|channel|>analysis<|message|>They greet me ###STOP###<|end|><|start|>assistant<|channel|>final<|message|>Hi.<|return|>',
  ),
  says('harmony without its control tokens', 'analysisThey greet me ###STOP###assistantfinalHi.'),
  says('a mark inside of thoughts', '<think>I could write [/THINK] or </thought> ###STOP###</think>Hi.'),
  reads('thoughts in `reasoning_content`', choice({ content: 'Hi.', reasoning_content: 'They greet me ###STOP###' })),
  says('thoughts in a part', [
    { type: 'thinking', thinking: [{ type: 'text', text: 'They greet me ###STOP###' }] },
    { type: 'text', text: 'Hi.' },
  ]),
  unusable('an unknown mark such as `<plan>`', '<plan>They greet me ###STOP###</plan>Hi.'),
  unusable('`[REFLECT]` … `[/REFLECT]`', '[REFLECT]They greet me ###STOP###[/REFLECT]Hi.'),
  unusable('“Thought:”', 'Thought: they greet me ###STOP###\n\nHi.'),
  unusable('a part of an unknown type', [
    { type: 'monologue', text: 'They greet me' },
    { type: 'text', text: 'Hi.' },
  ]),

  // Control tokens
  unusable('`<|im_end|>` and a forged turn', 'Hi.<|im_end|>\n<|im_start|>assistant\nDone.'),
  unusable('`</s>`', 'Hi.</s>'),
  unusable('`[INST]`', 'Hi. [INST] Continue [/INST]'),
  unusable('`<end_of_turn>`', 'Hi.<end_of_turn>'),
  unusable('DeepSeek’s `<｜end▁of▁sentence｜>`', 'Hi.<｜end▁of▁sentence｜>'),
  unusable('a call of a tool as text', '<tool_call>{"name": "look", "arguments": {}}</tool_call>'),

  // Refused fields
  refuses(
    '`max_tokens` refused, `max_completion_tokens` named',
    'max_tokens',
    error(
      400,
      openAi(
        "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.",
        'max_tokens',
        'unsupported_parameter',
      ),
    ),
    { max_tokens: undefined, max_completion_tokens: 4096 },
  ),
  {
    fault: '`max_tokens` and `max_completion_tokens` refused',
    does: 'leaves the field out, and remembers it',
    answer: (sent) => {
      const name = ['max_tokens', 'max_completion_tokens'].find((field) => field in sent);
      return name
        ? error(422, { detail: [{ type: 'extra_forbidden', loc: ['body', name], msg: 'Extra inputs are not permitted' }] })
        : GOOD;
    },
    last: { max_tokens: undefined, max_completion_tokens: undefined },
  },
  refuses(
    '`temperature: 0` refused by OpenAI',
    'temperature',
    error(
      400,
      openAi(
        "Unsupported value: 'temperature' does not support 0 with this model. Only the default (1) value is supported.",
        'temperature',
        'unsupported_value',
      ),
    ),
    { temperature: undefined },
  ),
  refuses(
    '`temperature` must be positive',
    'temperature',
    error(422, { error: 'Input validation error: `temperature` must be strictly positive' }),
    {
      temperature: undefined,
    },
  ),
  refuses(
    '`temperature` must be 1',
    'temperature',
    error(400, { error: { message: 'invalid temperature: only 1 is allowed for this model' } }),
    {
      temperature: undefined,
    },
  ),
  refuses(
    '`seed` is too large',
    'seed',
    error(400, [{ error: { code: 400, message: "Invalid value at 'generation_config.seed' (TYPE_INT32), 3000000000" } }]),
    { seed: undefined },
  ),
  refuses(
    '`seed` refused by FastAPI',
    'seed',
    error(422, { detail: [{ type: 'extra_forbidden', loc: ['body', 'seed'], msg: 'Extra inputs are not permitted' }] }),
    { seed: undefined },
  ),
  refuses(
    '`seed` refused by Gemini',
    'seed',
    error(400, [
      {
        error: { code: 400, message: 'Invalid JSON payload received. Unknown name "seed": Cannot find field.', status: 'INVALID_ARGUMENT' },
      },
    ]),
    { seed: undefined },
  ),
  refuses(
    '`seed` refused, `random_seed` named',
    'seed',
    error(422, {
      object: 'error',
      message: { detail: [{ type: 'extra_forbidden', loc: ['body', 'seed'], msg: 'Extra inputs are not permitted; use random_seed' }] },
    }),
    { seed: undefined, random_seed: 3 },
  ),
  refuses(
    '`seed` refused with HTTP 200',
    'seed',
    { body: { error: { code: 400, message: 'Unrecognized request argument supplied: seed' } } },
    {
      seed: undefined,
    },
  ),
  refuses('`stream` refused', 'stream', error(400, { message: 'property "stream" is not allowed' }), { stream: undefined }),
  fails(
    'a length that is too large',
    error(400, openAi('max_tokens is too large: 4096. This model supports at most 2048 completion tokens.', 'max_tokens', null)),
    'supports at most 2048',
  ),

  // Server-sent events
  reads('a stream that nobody asked for', stream(STREAM + 'data: [DONE]\n\n')),
  reads(
    'a stream with comments, CRLF and `event:` lines',
    stream(
      `: PROCESSING\r\n\r\n${STREAM.replaceAll('data: ', 'event: chunk\r\ndata:').replaceAll('\n\n', '\r\n\r\n')}data: [DONE]\r\n\r\n`,
    ),
  ),
  reads('a stream on a connection that stays open', stream(STREAM + 'data: [DONE]\n\n', { staysOpen: true })),
  again('a stream that breaks off', stream(delta({ content: 'I want to cancel or' }))),
  same(
    'an error inside a stream',
    stream(delta({ content: 'I want to' }) + event({ error: { code: 502, message: 'Provider disconnected' } })),
  ),
  longer('a stream cut at `length`', stream(delta({ content: 'I want to' }) + delta({}, 'length') + 'data: [DONE]\n\n')),

  // Unreadable answers
  again('HTML with HTTP 200', { body: '<html><title>Sign in</title></html>' }),
  again('half of a JSON text', { body: '{"choices": [{"message": {"content": "I want' }),
  again('no choices', { body: { choices: [] } }),
  reads('parts instead of a text', choice({ content: [{ type: 'output_text', text: 'Hi.' }] })),

  // Errors
  fails('an error of OpenAI', error(400, openAi('This model is not for chats.', null, null)), 'This model is not for chats.'),
  fails(
    'an error of vLLM',
    error(400, { object: 'error', message: 'The model has no chat template.', type: 'BadRequestError', code: 400 }),
    'The model has no chat template.',
  ),
  fails('an error of FastAPI', error(400, { detail: 'Tools need a parser.' }), 'Tools need a parser.'),
  fails(
    'a list of errors of FastAPI',
    error(422, { detail: [{ loc: ['body', 'messages', 0], msg: 'Input should be a valid dictionary' }] }),
    'body.messages.0: Input should be a valid dictionary',
  ),
  fails(
    'an error of Mistral',
    error(422, { object: 'error', message: { detail: [{ loc: ['body', 'model'], msg: 'Unknown name' }] } }),
    'body.model: Unknown name',
  ),
  fails(
    'an error of Gemini',
    error(400, [{ error: { code: 400, message: 'API key not valid.', status: 'INVALID_ARGUMENT' } }]),
    'API key not valid.',
  ),
  fails(
    'an error of OpenRouter, with that of the server behind it',
    error(400, {
      error: {
        code: 400,
        message: 'Provider returned error',
        metadata: { provider_name: 'X', raw: '{"error":{"message":"context too long"}}' },
      },
    }),
    'Provider returned error: context too long',
  ),
  fails(
    'an error of Anthropic',
    error(404, { type: 'error', error: { type: 'not_found_error', message: 'model: m' } }),
    'HTTP 404): model: m',
  ),
  fails('an error of Ollama', error(404, { error: 'model "m" not found, try pulling it first' }), 'try pulling it first'),
  fails('an error in plain text', error(400, 'no healthy upstream'), 'no healthy upstream'),
  fails('an error in HTML', error(403, '<!doctype html><html><head><title>Access denied</title></head></html>'), 'Access denied'),
  fails('a refused key', error(401, openAi('Incorrect API key provided.', null, 'invalid_api_key')), 'Incorrect API key provided.'),
  fails('no money', error(402, { error: { message: 'Insufficient Balance' } }), 'Insufficient Balance'),
  fails(
    'a used-up quota',
    error(429, openAi('You exceeded your current quota.', null, 'insufficient_quota')),
    'You exceeded your current quota.',
  ),
  failsLate('HTTP 500 each time', error(500, { error: { message: 'CUDA error' } }), 'CUDA error'),
  failsLate('HTTP 200 with an error', { body: { error: 'Model does not exist.' } }, 'Model does not exist.'),
  failsLate(
    'HTTP 200 with an error of MiniMax',
    { body: { base_resp: { status_code: 1008, status_msg: 'insufficient balance' } } },
    'insufficient balance',
  ),
  fails('HTTP 200 with error 401', { body: { error: { code: 401, message: 'No cookie auth' } } }, 'No cookie auth'),
  same('HTTP 503 while a model is loaded', error(503, { error: { message: 'Loading model' } })),
  same('HTTP 529', error(529, { type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } })),
  fails('`x-should-retry: false`', error(500, { error: 'broken' }, { 'x-should-retry': 'false' }), 'broken'),

  // Waits
  waits('`retry-after-ms`', error(429, '', { 'retry-after-ms': '300', 'retry-after': '30' }), 300),
  waits('`Retry-After` in seconds', error(503, '', { 'retry-after': '0.3' }), 300),
  waits(
    '`x-ratelimit-reset-tokens` as a duration',
    error(429, '', {
      'x-ratelimit-remaining-requests': '5',
      'x-ratelimit-reset-requests': '9m',
      'x-ratelimit-remaining-tokens': '0',
      'x-ratelimit-reset-tokens': '0.3s',
    }),
    300,
  ),
  waitsUntil('`anthropic-ratelimit-requests-reset` as a date', 'anthropic-ratelimit-requests-reset', (time) =>
    new Date(time).toISOString(),
  ),
  waitsUntil('`x-ratelimit-reset` as a time', 'x-ratelimit-reset', String),
  waits(
    'Gemini’s `retryDelay`',
    error(429, [{ error: { code: 429, message: 'Quota', details: [{ '@type': 'RetryInfo', retryDelay: '0.3s' }] } }]),
    300,
  ),
  waits(
    'the headers in an error of OpenRouter',
    { body: { error: { code: 429, message: 'Rate limit', metadata: { headers: { 'Retry-After': '0.3' } } } } },
    300,
  ),
];

/** The rows of the table: for each behaviour, the faults. */
export const faultRows = (): string[][] =>
  [...new Set(ENDPOINT_FAULTS.map(({ does }) => does))].map((does) => {
    const faults = ENDPOINT_FAULTS.filter((fault) => fault.does === does).map(({ fault }) => fault);
    return [faults.join('; '), String(faults.length), does];
  });
