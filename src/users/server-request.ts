/** @file A chat request to `mua user-server`: its limits, and the scripted customer's answer to it. */
import { PERSONAS } from '../records/conditions.ts';
import * as z from 'zod';
import type { ToolSchema, UserScenario } from '../records/task.ts';
import { HandsOnCustomer, type Move } from '../domains/telecom/customer.ts';
import { instructionIn, readInstruction } from '../domains/retail/customer/instruction.ts';
import { scriptedCustomer } from '../domains/retail/customer/customer.ts';

const words = z.array(z.string().max(500)).max(32);
const request = z.object({
  intent: z.enum(['cancel', 'return', 'exchange', 'modify_items', 'modify_address', 'modify_payment']),
  slots: z.record(z.string(), z.union([z.string().max(500), words])),
  words: z.record(z.string(), words),
});
const scenario: z.ZodType<UserScenario> = z.object({
  persona: z.enum(PERSONAS),
  identity: z.record(z.string(), z.string().max(500)),
  wishes: z.array(request.extend({ impossible: z.boolean(), insteadOf: request.optional() })).max(32),
  tellsAll: z.boolean().optional(),
  instruction: z.string(),
  benchmark: z.string().max(100).optional(),
  phone: z
    .object({
      problem: z.enum(['service', 'data', 'mms']),
      place: z.string().max(500).nullable(),
      refuel: z.number().nullable(),
      terse: z.boolean(),
    })
    .optional(),
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
/** OpenAI allows 128 tools too. */
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
 * The customer's next words or call. The first message with role `user` is the agent's greeting, which the opening answers.
 * @throws Error that names the field that is wrong
 */
export function answer(body: unknown, fallbackSeed: number): Move {
  const { messages, seed, tools, scenario } = read(body);
  const prompt = messages
    .filter(({ role }) => role === 'system' || role === 'developer')
    .map(({ content }) => content ?? '')
    .join('\n\n');
  const ownSeed = seed ?? fallbackSeed;
  const [, ...heard] = messages.filter(({ role }) => role === 'user' || role === 'tool');
  if (tools?.length) {
    const told = scenario ?? { persona: 'on_request', identity: {}, wishes: [], instruction: instructionIn(prompt) };
    const customer = new HandsOnCustomer(told, tools, ownSeed);
    return heard.reduce<Move>((_, { role, content }) => (role === 'tool' ? customer.result(content ?? '') : customer.hear(content ?? '')), {
      say: customer.open(),
    });
  }
  const customer = scriptedCustomer(scenario ?? readInstruction(prompt), ownSeed);
  return { say: heard.reduce((_, { content }) => customer.reply(content ?? ''), customer.open()) };
}

function read(body: unknown): z.infer<typeof chatRequest> {
  const result = chatRequest.safeParse(body);
  if (result.success) return result.data;
  const { path, message } = result.error.issues[0]!;
  throw new Error(`${path.join('.') || 'the request'}: ${message}`);
}
