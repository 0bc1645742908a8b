/** Servers of other authors run in this process with files in memory as they do in processes with real files. */
import { expect, test } from 'vitest';
import { Dice } from '../../../src/base/dice.ts';
import { connect } from '../../../src/mcp/node/index.ts';
import type { McpFiles, McpTarget } from '../../../src/mcp/types.ts';
import type { Json } from '../../../src/records/json.ts';

const CALLS = 200;
type Call = { name: string; arguments: Record<string, Json> };

const command = (name: string, args: readonly string[], more: { env?: Record<string, string>; files: McpFiles }): McpTarget => ({
  kind: 'command',
  command: process.execPath,
  args: [`${process.cwd()}/node_modules/${name}/dist/index.js`, ...args],
  ...more,
});

/** The answer of each call, and the files after it. */
async function played(target: McpTarget, calls: readonly Call[]) {
  const connection = await connect(target);
  try {
    const seen: unknown[] = [connection.server.tools_sha256, await connection.files()];
    for (const call of calls) {
      const { text, structured, error } = await connection.call(call.name, call.arguments);
      // The server names its temporary file at random.
      seen.push({ call, text: text.replace(/[0-9a-f]{32}/g, 'RANDOM'), structured, error, files: await connection.files() });
    }
    return seen;
  } finally {
    await connection.close();
  }
}

const NAMES = ['Ann', 'Bo', 'Cléo', 'Dan Li', '', 'x"y'];
const FACTS = ['lives in Oslo', 'sings', 'has a dog', 'born in 1990', 'line\nbreak'];

function memoryCall(dice: Dice): Call {
  const [name, other, fact, more] = [dice.pick(NAMES), dice.pick(NAMES), dice.pick(FACTS), dice.pick(FACTS)];
  const relations = [{ from: name, to: other, relationType: dice.pick(['knows', 'sister of']) }];
  return dice.pick<Call>([
    { name: 'create_entities', arguments: { entities: [{ name, entityType: 'person', observations: [fact, more] }] } },
    { name: 'create_relations', arguments: { relations } },
    { name: 'add_observations', arguments: { observations: [{ entityName: name, contents: [fact, more] }] } },
    { name: 'delete_entities', arguments: { entityNames: [name, other] } },
    { name: 'delete_observations', arguments: { deletions: [{ entityName: name, observations: [fact] }] } },
    { name: 'delete_relations', arguments: { relations } },
    { name: 'read_graph', arguments: {} },
    { name: 'search_nodes', arguments: { query: dice.pick([name, fact, 'PERSON']) } },
    { name: 'open_nodes', arguments: { names: [name, other] } },
    { name: 'open_nodes', arguments: { names: name } },
    { name: 'no_such_tool', arguments: {} },
  ]);
}

const PATHS = [
  'a.txt',
  'inbox/a.txt',
  'inbox/b.md',
  'inbox',
  'new/deep/c.txt',
  'done',
  'inbox/a.txt/x',
  '../out.txt',
  '/etc/passwd',
  '{folder}/inbox/b.md',
  'ünï.txt',
  'inbox//./b.md',
  '~/x',
  'C:\\x',
  `${'n'.repeat(300)}.txt`,
  'nul\0byte',
  '.',
];
const TEXTS = ['one\ntwo\nthree\n', 'two', '', 'tab\there\r\nend', '```\ncode', 'ü💡'];

const USUAL = ['a.txt', 'inbox/a.txt', 'inbox/b.md', 'c.txt'];

function fileCall(dice: Dice): Call {
  const [path, other] = [dice.pick([...USUAL, ...USUAL, ...USUAL, ...PATHS]), dice.pick([...USUAL, ...PATHS])];
  const [text, more] = [dice.pick(TEXTS), dice.pick(TEXTS)];
  return dice.pick<Call>([
    { name: 'read_text_file', arguments: { path } },
    { name: 'read_text_file', arguments: { path, head: 2 } },
    { name: 'read_text_file', arguments: { path, tail: 1 } },
    { name: 'read_media_file', arguments: { path } },
    { name: 'read_multiple_files', arguments: { paths: [path, other] } },
    { name: 'write_file', arguments: { path, content: text } },
    { name: 'write_file', arguments: { path, content: more } },
    { name: 'edit_file', arguments: { path, edits: [{ oldText: text, newText: more }], dryRun: dice.pick([true, false]) } },
    { name: 'create_directory', arguments: { path } },
    { name: 'list_directory', arguments: { path } },
    { name: 'list_directory_with_sizes', arguments: { path, sortBy: dice.pick(['name', 'size']) } },
    { name: 'directory_tree', arguments: { path: '{folder}' } },
    { name: 'move_file', arguments: { source: path, destination: other } },
    { name: 'search_files', arguments: { path: dice.pick(['.', path]), pattern: dice.pick(['**/*.txt', '*.md', 'a.txt']) } },
    { name: 'list_allowed_directories', arguments: {} },
    { name: 'write_file', arguments: { path } },
  ]);
}

function planCall(dice: Dice): Call {
  const [requestId, taskId] = [dice.pick(['req-1', 'req-2', 'req-2', 'req-3', 'req-9']), `task-${dice.int(1, 9)}`];
  const tasks = [{ title: dice.pick(TEXTS), description: dice.pick(FACTS) }];
  return dice.pick<Call>([
    { name: 'request_planning', arguments: { originalRequest: dice.pick(FACTS), tasks } },
    { name: 'get_next_task', arguments: { requestId } },
    { name: 'mark_task_done', arguments: { requestId, taskId } },
    { name: 'mark_task_done', arguments: { requestId, taskId, completedDetails: dice.pick(TEXTS) } },
    { name: 'approve_task_completion', arguments: { requestId, taskId } },
    { name: 'approve_request_completion', arguments: { requestId } },
    { name: 'open_task_details', arguments: { taskId } },
    { name: 'list_requests', arguments: {} },
    { name: 'add_tasks_to_request', arguments: { requestId, tasks } },
    { name: 'update_task', arguments: { requestId, taskId, title: dice.pick(FACTS) } },
    { name: 'delete_task', arguments: { requestId, taskId } },
    { name: 'mark_task_done', arguments: { requestId } },
  ]);
}

const SEED_FILES = { 'a.txt': 'one\ntwo\n', 'inbox/a.txt': 'two\n', 'inbox/b.md': '# b\n' };
const GRAPH = {
  'memory.jsonl': [
    { type: 'entity', name: 'Ann', entityType: 'person', observations: ['sings'] },
    { type: 'entity', name: 'Bo', entityType: 'person', observations: [] },
    { type: 'relation', from: 'Ann', to: 'Bo', relationType: 'knows' },
  ]
    .map((line) => JSON.stringify(line))
    .join('\n'),
};

const PLAN = {
  'tasks.json': JSON.stringify({
    requests: [
      {
        requestId: 'req-1',
        originalRequest: 'party',
        splitDetails: 'party',
        tasks: [{ id: 'task-1', title: 'cake', description: 'order it', done: true, approved: false, completedDetails: '' }],
        completed: false,
      },
    ],
  }),
};

test.each([
  {
    server: 'memory',
    files: GRAPH,
    process: command('@modelcontextprotocol/server-memory', [], { env: { MEMORY_FILE_PATH: '{folder}/memory.jsonl' }, files: GRAPH }),
    draw: memoryCall,
  },
  {
    server: 'filesystem',
    files: SEED_FILES,
    process: command('@modelcontextprotocol/server-filesystem', ['{folder}'], { env: { HOME: '/home' }, files: SEED_FILES }),
    draw: fileCall,
  },
  {
    server: 'taskmanager',
    files: PLAN,
    process: command('@kazuph/mcp-taskmanager', [], { env: { TASK_MANAGER_FILE_PATH: '{folder}/tasks.json' }, files: PLAN }),
    draw: planCall,
  },
])('$server: 200 calls give the same answers and the same files in a process and here', async ({ server, files, process, draw }) => {
  const dice = new Dice('bundled-servers', server);
  const calls = Array.from({ length: CALLS }, () => draw(dice));
  const [there, here] = [await played(process, calls), await played({ kind: 'here', server, files }, calls)];
  for (const [i, one] of there.entries()) expect(here[i]).toEqual(one);
  expect(new Set(there.map((one) => JSON.stringify((one as { files?: object }).files))).size).toBeGreaterThan(10);
});
