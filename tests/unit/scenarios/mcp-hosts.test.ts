/** Hosts of scenarios that are wrong, fail, or answer in another way each time. The server of these tests is written for them. */
import { expect, test } from 'vitest';
import { createEnvironments } from '../../../src/environments/index.ts';
import { connect } from '../../../src/mcp/index.ts';
import type { Json } from '../../../src/records/json.ts';
import { checkScenarioTasks } from '../../../src/scenarios/check.ts';
import { hostedDomain } from '../../../src/scenarios/hosted/hosted-domain.ts';
import { checkScenario } from '../../../src/scenarios/read.ts';
import { fakeHere, type FakeServer, text, tool } from '../../support/mcp-servers.ts';
import { playIn, read } from '../../support/hosted-worlds.ts';

type Note = { id: string; words: string; tags: string[]; at: number };
type Change = (scenario: Record<string, Json> & { host: Record<string, Json> }) => void;

/** A server with notes. `more` changes what it does. */
function notes(more: (state: Map<string, Note>) => FakeServer['call'] = () => undefined): () => FakeServer {
  return () => {
    const state = new Map<string, Note>([['a', { id: 'a', words: 'one', tags: ['x', 'y'], at: 0 }]]);
    const special = more(state);
    return {
      list: () => ({ tools: [tool('put'), tool('all')] }),
      call: async (name, args) => {
        const own = await special?.(name, args);
        if (own !== undefined) return own;
        if (name === 'all') return text('all', { structuredContent: { notes: [...state.values()] } });
        const { id, words } = args as { id: string; words: string };
        state.set(id, { id, words, tags: ['y', 'x'], at: 0 });
        return text(`put ${id}`, { structuredContent: { id } });
      },
    };
  };
}

let servers = 0;

/** A scenario on the server. */
async function world(server: () => FakeServer, change: Change = () => {}) {
  const target = fakeHere(server, `notes-${++servers}`);
  const connection = await connect(target);
  const pin = connection.server.tools_sha256;
  await connection.close();
  const scenario = {
    format: 'mua-scenario',
    version: 1,
    name: 'notes',
    title: 'Notes',
    levels: ['nano'],
    policy: ['Be kind.'],
    tables: {
      note: {
        key: 'id',
        fields: {
          id: { type: 'string' },
          words: { type: 'string' },
          tags: { type: 'strings', unordered: true },
          at: { type: 'integer', volatile: true },
        },
        rows: [{ id: 'a', words: 'one', tags: ['y', 'x'], at: 0 }],
      },
    },
    host: { here: `notes-${servers}`, tools_sha256: pin, state: { all: { call: 'all', arguments: {} } }, rows: { note: 'all.notes' } },
    tools: [
      {
        name: 'put_note',
        description: 'Writes a note.',
        kind: 'write',
        parameters: { id: { type: 'string', description: 'id' }, words: { type: 'string', description: 'words' } },
        server: { tool: 'put', arguments: { id: 'args.id', words: 'args.words' } },
        says: 'write {words} as {id}',
      },
    ],
    blueprints: [
      {
        name: 'put_it',
        values: { words: { from: ['two', 'three'] } },
        identity: {},
        slots: { words: { value: 'words', says: ['write {value}'], ask: ['the words'] } },
        wish: ['Please write a note.'],
        reads: [],
        gold: [{ tool: 'put_note', arguments: { id: '"b"', words: 'words' } }],
      },
    ],
  };
  change(scenario as never);
  return scenario;
}

const oneTask = async (file: unknown) => {
  const own = read(file);
  const [task] = await hostedDomain(own).tasks({ domain: 'notes', level: 'nano', split: 'train', seed: 1, count: 1 });
  return { own, task: task! };
};
const put = (id: string, words: string) => ({ name: 'put_note', arguments: { id, words } });

test('rows that are read by a call: changes, an unordered list, and a time that may differ', async () => {
  let clock = 0;
  const file = await world(
    notes((state) => (name, args) => {
      if (name !== 'put') return undefined as never;
      state.set(args.id as string, { id: args.id as string, words: args.words as string, tags: ['y', 'x'], at: ++clock });
      return text(`put ${args.id as string}`);
    }),
  );
  const { own, task } = await oneTask(file);
  const { words } = task.actions[0]!.arguments as { words: string };
  const played = await playIn(own, task, [put('b', words)]);
  const after = { id: 'b', words, tags: ['x', 'y'], at: 1 };
  expect(played.answers).toMatchObject([{ text: 'put b', error: false }]);
  expect(played.changes).toEqual([{ table: 'note', key: 'b', before: null, after, call: 0 }]);
  const environments = createEnvironments({ domains: [hostedDomain(own)], inMemory: true });
  const reward = async (calls: { name: string; arguments: Record<string, Json> }[]) => {
    const episode = await environments.start(task);
    for (const call of calls) await environments.call(episode, call);
    const verdict = await environments.verify(episode);
    await environments.close(episode);
    return verdict.reward;
  };
  expect([await reward([put('b', words)]), await reward([]), await reward([put('b', words), put('a', 'changed')])]).toEqual([1, 0, 0]);
  expect((await checkScenarioTasks(own, 6)).findings).toEqual([]);
});

test('gold actions that end differently on two replays are refused, and those that change nothing', async () => {
  let calls = 0;
  const random = await world(
    notes((state) => (name, args) => {
      if (name !== 'put') return undefined as never;
      state.set('b', { id: 'b', words: `${args.words as string} ${++calls}`, tags: [], at: 0 });
      // A time may differ, so the row a is not named.
      state.set('a', { ...state.get('a')!, at: calls });
      return text('done');
    }),
  );
  const found = (await checkScenarioTasks(read(random), 3)).findings;
  expect(found).toMatchObject([{ check: 'gold', of: 'put_it', text: expect.stringMatching(/two different ends: the row b of note/) }]);
  const idle = await world(notes(() => (name) => (name === 'put' ? text('done') : (undefined as never))));
  expect((await checkScenarioTasks(read(idle), 3)).findings.map(({ text: words }) => words)).toContain('the gold actions change no row');
});

test('an error that only the text shows, and random names in errors', async () => {
  const file = await world(
    notes(() => (name) => (name === 'put' ? text('{"status": "error", "file": "0123456789abcdef01.tmp"}') : (undefined as never))),
    ({ host }) => void (host.failed = 'text.contains("error")'),
  );
  const { own, task } = await oneTask(file);
  const { answers } = await playIn(own, task, [put('b', 'two')]);
  expect(answers).toMatchObject([{ text: 'Error: {"status": "error", "file": "….tmp"}', error: true, changes: [] }]);
});

test('a long answer is cut with a note', async () => {
  const file = await world(
    notes(() => (name) => (name === 'put' ? text('x'.repeat(5000)) : (undefined as never))),
    ({ tools }) => void ((tools as { server: { characters?: number } }[])[0]!.server.characters = 100),
  );
  const { own, task } = await oneTask(file);
  const { answers } = await playIn(own, task, [put('b', 'two')]);
  expect(answers[0]!.text).toBe(`${'x'.repeat(100)}\n[cut: 4,900 more characters]`);
});

test('a server that fails gives no score: the call throws, and is no error of the agent', async () => {
  const deep = Array.from({ length: 100 }).reduce<Json>((inner) => ({ inner }), {});
  const file = await world(notes(() => (name) => (name === 'put' ? text('deep', { structuredContent: deep }) : (undefined as never))));
  const { own, task } = await oneTask(file);
  const environments = createEnvironments({ domains: [hostedDomain(own)], inMemory: true });
  const episode = await environments.start(task);
  await expect(environments.call(episode, put('b', 'two'))).rejects.toMatchObject({ name: 'SimulatorFault', final: false });
  await environments.close(episode);
});

test('a server with other tools, or with another start, ends the run with a message', async () => {
  const other = await oneTask(await world(notes(), ({ host }) => void (host.tools_sha256 = '0'.repeat(64))));
  await expect(hostedDomain(other.own).start(other.task)).rejects.toMatchObject({
    name: 'SimulatorFault',
    final: true,
    message: expect.stringMatching(
      /scenario.json: host.tools_sha256: the tools of fake 1 have the pin [0-9a-f]{64}: look at them/,
    ) as string,
  });
  const shifted = await oneTask(await world(notes((state) => (state.set('z', { id: 'z', words: '', tags: [], at: 0 }), undefined))));
  await expect(hostedDomain(shifted.own).start(shifted.task)).rejects.toThrow('host: the server begins with the row z of note');
});

test.each<[string, Change, string]>([
  ['no place', ({ host }) => void delete host.here, 'host: is {'],
  ['a short pin', ({ host }) => void (host.tools_sha256 = 'abc'), 'host.tools_sha256: is "abc": expected the pin'],
  ['rows of no table', ({ host }) => void ((host.rows as Record<string, Json>).nte = '[]'), 'unknown table "nte"'],
  ['a table without rows', ({ host }) => void (host.rows = { other: '[]' }), 'host.rows.other'],
  ['an unknown state', ({ host }) => void (host.rows = { note: 'al.notes' }), 'host.rows.note: "al.notes"'],
  [
    'two kinds of state',
    ({ host }) => void (host.state = { all: { files: true, jsonl: 'x' } }),
    'expected exactly one of json, jsonl, files, call',
  ],
  [
    'a write without a server',
    ({ tools }) => void delete (tools as Record<string, Json>[])[0]!.server,
    'tools[0].server: is missing: expected the tool of the server',
  ],
  [
    'an unknown argument',
    ({ tools }) => void ((tools as { server: { arguments: Json } }[])[0]!.server.arguments = { id: 'args.ident' }),
    'args.ident',
  ],
  [
    'an unordered text',
    ({ tables }) =>
      void ((tables as never as { note: { fields: { words: Json } } }).note.fields.words = { type: 'string', unordered: true }),
    'because the field is unordered',
  ],
  [
    'a server without a host',
    (scenario) => void delete (scenario as Partial<typeof scenario>).host,
    'no server, because the scenario has no host',
  ],
])('%s is named', async (_, change, message) => {
  const file = await world(notes(), change);
  expect(() => checkScenario(file, 'scenario.json')).toThrow(message);
});
