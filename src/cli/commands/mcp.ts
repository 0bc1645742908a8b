/** @file `mua mcp`: looks at an MCP server, calls its tools and checks how well it suits training. It runs in Node and needs no GPU. */
import { shown } from '../../base/input-error.ts';
import { isObject } from '../../base/json.ts';
import type { McpCall } from '../../mcp/check.ts';
import type { McpServer } from '../../mcp/types.ts';
import type { Json } from '../../records/json.ts';
import { command, type CommandGroup } from '../command.ts';
import { oneLine, UsageError } from '../errors.ts';
import { readText } from '../files.ts';
import { TARGET_FLAGS, toolOf, withServer } from '../mcp-target.ts';
import { mcpServe } from './mcp-serve.ts';
import { JSON_FLAG } from './shared.ts';

const FLAGS = { ...TARGET_FLAGS, json: JSON_FLAG };

const counted = (tools: number) => `${tools} ${tools === 1 ? 'tool' : 'tools'}`;
const nameOf = ({ name, version }: Pick<McpServer, 'name' | 'version'>) => oneLine(`${name} ${version}`.trim());

const list = command({
  summary: 'list the tools of a server, with warnings',
  flags: FLAGS,
  run: (flags, progress) =>
    withServer(flags, progress, async (connect) => {
      const { name, version, protocol, era, tools, tools_sha256 } = (await connect()).server;
      return { server: { name, version }, protocol, era, tools, tools_sha256 };
    }),
  show: ({ server, protocol, tools, tools_sha256 }) => [
    `${nameOf(server)}, protocol ${protocol}, ${counted(tools.length)}, pinned as ${tools_sha256.slice(0, 16)}`,
    ...tools.flatMap(({ name, description, warnings }) => [
      `  ${oneLine(name)}: ${oneLine(description)}`,
      ...warnings.map((warning) => `    warning: ${oneLine(warning)}`),
    ]),
  ],
});

const call = command({
  summary: 'call a tool of a server; exit code 1 if it fails',
  positional: { name: 'tool', value: 'TOOL' },
  second: { name: 'given', value: '[\'{"ARGUMENT": …}\']' },
  flags: {
    ...FLAGS,
    raw: { type: 'boolean', help: 'send the arguments without checking them against the schema of the tool' },
  },
  async run({ tool, given, raw, ...flags }, progress) {
    if (!tool) throw new UsageError("TOOL is missing: expected ./mua mcp call TOOL '{…}'");
    const args = readArguments(given);
    return withServer(flags, progress, async (connect) => {
      const connection = await connect();
      if (!raw) {
        const { checkArguments } = await import('../../mcp/arguments.ts');
        checkArguments(toolOf(connection, tool), args);
      }
      progress.phase(`waiting for ${tool}`);
      return connection.call(tool, args);
    });
  },
  show: ({ text, error }) => [...(error ? ['the tool failed:'] : []), text],
  failed: ({ error }) => error,
});

const check = command({
  summary: 'check a server: its tools, limits, whether two sessions answer alike, whether a new one starts anew; exit code 1 if not',
  flags: {
    ...FLAGS,
    calls: {
      type: 'string',
      value: 'FILE.jsonl',
      help: 'calls to play, a line each: {"name": …, "arguments": {…}} (default: the read tools without arguments)',
    },
  },
  async run({ calls: path, ...flags }, progress) {
    const calls = path === undefined ? null : readCalls(path, await readText(path));
    return withServer(flags, progress, async (connect) => {
      const { checkServer } = await import('../../mcp/check.ts');
      return checkServer(connect, calls, (phase) => progress.phase(phase));
    });
  },
  show(result) {
    const { server, protocol, tools, tools_sha256, warnings, same_tools, calls, determinism, reset, limits, not_tried, seconds } = result;
    const { equal, differs } = determinism;
    return [
      `${nameOf(server)}, protocol ${protocol}, ${counted(tools)}, pinned as ${tools_sha256}`,
      `a second session lists ${same_tools ? 'the same tools' : 'other tools'}`,
      ...calls.map(({ name, failed, failure, seconds }, i) =>
        oneLine(
          `call ${i + 1}: ${name}${failed ? `, which failed${failure ? ` (${failure})` : ''}` : ''}, ${(1000 * seconds).toFixed(0)} ms`,
        ),
      ),
      equal === null
        ? 'determinism: not tried, because there was no call to play'
        : equal
          ? `determinism: two sessions answered all ${calls.length} calls alike`
          : oneLine(
              `determinism: call ${differs!.call}, ${differs!.name}, differs: ${shown(differs!.first)} and ${shown(differs!.second)}`,
            ),
      `reset: ${reset.state} (${oneLine(reset.why)})`,
      ...limits.map((limit) => `limit: ${oneLine(limit)}`),
      ...warnings.map((own) => oneLine(`warning: ${own.tool}: ${own.warnings.join('; ')}`)),
      ...(not_tried.length > 0 ? [oneLine(`not tried: ${not_tried.map(({ tool, why }) => `${tool} (${why})`).join(', ')}`)] : []),
      `${seconds.toFixed(1)} s`,
    ];
  },
  failed: ({ same_tools, determinism, reset }) => !same_tools || determinism.equal === false || reset.state === 'kept',
});

export const mcp: CommandGroup = {
  summary: 'look at an MCP server, call its tools, check it, or serve a domain as one',
  commands: { list, call, check, serve: mcpServe },
};

function readArguments(text = '{}'): Record<string, Json> {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {}
  if (isObject(value)) return value as Record<string, Json>;
  throw new UsageError(`the arguments are ${shown(value ?? text)}: expected a JSON object such as '{"name": "Ana"}'`);
}

function readCalls(path: string, text: string): McpCall[] {
  const calls = text.split('\n').flatMap((line, i) => {
    if (line.trim() === '') return [];
    let value: unknown;
    try {
      value = JSON.parse(line);
    } catch {}
    if (isObject(value) && typeof value.name === 'string' && isObject(value.arguments ?? {}))
      return [{ name: value.name, arguments: (value.arguments ?? {}) as Record<string, Json> }];
    throw new UsageError(`${path}: line ${i + 1} is ${shown(value ?? line)}: expected {"name": "TOOL", "arguments": {…}}`);
  });
  if (calls.length === 0) throw new UsageError(`${path} has no calls: expected a line for each, {"name": "TOOL", "arguments": {…}}`);
  return calls;
}
