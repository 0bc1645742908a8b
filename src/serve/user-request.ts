/** @file Checks a chat request to `mua user-server`, and gives the scripted customer's answer. */
import { PERSONAS } from '../records/conditions.ts';
import * as z from 'zod';
import type { ToolSchema } from '../records/task.ts';
import { customerScripts } from '../domains/registry.ts';
import type { Move, ToldScenario } from '../users/types.ts';

const words = z.array(z.string().max(500)).max(32);
const request = z.object({
  intent: z.string().max(100),
  slots: z.record(z.string(), z.union([z.string().max(500), words])),
  words: z.record(z.string(), words),
});
/** Facts of any form, because each domain checks its own facts. */
const facts = z.record(z.string().max(100), z.json());
const scenario: z.ZodType<ToldScenario> = z.object({
  domain: z.string().max(100).optional(),
  persona: z.enum(PERSONAS),
  identity: z.record(z.string(), z.string().max(500)),
  wishes: z.array(request.extend({ impossible: z.boolean(), insteadOf: request.optional() })).max(32),
  tellsAll: z.boolean().optional(),
  instruction: z.string(),
  benchmark: z.string().max(100).optional(),
  facts: facts.optional(),
  phone: facts.optional(),
});
const parameters = z.object({
  type: z.literal('object').default('object'),
  properties: z.record(z.string(), z.json()).default({}),
  required: z.array(z.string()).max(32).default([]),
});
const tool: z.ZodType<ToolSchema> = z.object({
  type: z.literal('function'),
  function: z.object({
    name: z.string().regex(/^[\w-]{1,64}$/, 'expected up to 64 letters, digits, _ and -'),
    description: z.string().default(''),
    parameters: parameters.default({ type: 'object', properties: {}, required: [] }),
  }),
});
const message = z.union(
  [
    z.object({ role: z.string(), content: z.string() }),
    z.object({ role: z.string(), content: z.null().optional(), tool_calls: z.array(z.unknown()) }),
  ],
  'expected a role and a content, both strings',
);
/** A chat request. At most 128 tools are allowed, as in OpenAI's API. */
const chatRequest = z.object(
  {
    messages: z.array(message).min(1, 'expected at least one message').max(1000),
    seed: z.number().nullish(),
    tools: z.array(tool).max(128).nullish(),
    scenario: scenario.optional(),
  },
  'expected a JSON object with messages',
);

/**
 * Returns the customer's next message or tool call. The first message with role `user` is the agent's greeting. The customer answers it
 * with the opening message.
 * @throws Error that names the field that is wrong
 */
export async function answer(body: unknown, fallbackSeed: number): Promise<Move> {
  const { messages, seed, tools, scenario } = read(body);
  const prompt = messages
    .filter(({ role }) => role === 'system' || role === 'developer')
    .map(({ content }) => content ?? '')
    .join('\n\n');
  const scripts = await customerScripts(scenario?.domain, Boolean(tools?.length));
  const customer = scripts.customer(scenario ?? scripts.read(prompt), seed ?? fallbackSeed, { tools: tools ?? [] });
  const [, ...heard] = messages.filter(({ role }) => role === 'user' || role === 'tool');
  let move: Move = { say: customer.open() };
  for (const { role, content } of heard)
    move = role === 'tool' && customer.result ? customer.result(content ?? '') : customer.hear(content ?? '');
  return move;
}

function read(body: unknown): z.infer<typeof chatRequest> {
  const result = chatRequest.safeParse(body);
  if (result.success) return result.data;
  const { path, message } = result.error.issues[0]!;
  throw new Error(`${path.join('.') || 'the request'}: ${message}`);
}
