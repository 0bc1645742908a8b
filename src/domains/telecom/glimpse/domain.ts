/**
 * @file What the agent gets at `glimpse`: a line of policy, and two tools that change a line. A line belongs to one customer, so the
 * tools need no customer. The customer names everything that the tools need, so there is no tool that looks something up.
 */
import type { Rows } from '../../../environments/overlay.ts';
import type { Domain, ExactResult } from '../../../environments/types.ts';
import type { ToolCall } from '../../../records/task.ts';
import { takeArguments } from '../calls.ts';
import { telecom } from '../exact.ts';
import { shortSchemas } from '../nano.ts';
import { type Customer, find, type Line } from '../schema.ts';
import { TOOL_OF } from './requests.ts';

const tools = shortSchemas(new Set(Object.values(TOOL_OF)), 'customer_id');
const REQUIRED: ReadonlyMap<string, readonly string[]> = new Map(
  tools.map(({ function: { name, parameters } }) => [name, parameters.required]),
);

export const GLIMPSE_DOMAIN: Domain = {
  name: 'telecom',
  level: 'glimpse',
  policy: 'Add data to active lines or enable their roaming. Ask for a yes before each change.',
  tools,
  terminalTools: [],
};

/** Runs a call. Unlike tau2-bench's tools, these refuse a line that is not active, because the agent cannot look at a line. */
export function executeAtGlimpse(rows: Rows, { name, arguments: given }: ToolCall): ExactResult {
  const refuse = (why: string): ExactResult => ({ text: `Error: ${why}`, error: true });
  const required = REQUIRED.get(name);
  if (!required) return refuse(`Tool '${name}' not found.`);
  try {
    const args = takeArguments(name, { required }, given);
    const line = find<Line>(rows, 'lines', args.line_id!);
    if (!line) return refuse('Line not found');
    if (line.status !== 'Active') return refuse('Line must be active');
    const customer_id = rows.keys('customers').find((id) => find<Customer>(rows, 'customers', id)!.line_ids.includes(line.line_id))!;
    const { text, ...result } = telecom.execute(rows, { name, arguments: { customer_id, ...args } });
    return { text: shortened(text), ...result };
  } catch (cause) {
    return refuse((cause as Error).message);
  }
}

/** The message of a result, without the line and the price, which the agent does not need. */
const shortened = (text: string): string =>
  text.startsWith('{') ? (JSON.parse(text) as { message: string }).message.replace(/ for line .*/, '') : text;
