/** tau-bench's tasks as upstream keeps them, in Python files. Nothing is run. */
import { existsSync, readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { importBenchmark } from '../../../src/benchmarks/import/import.ts';
import { tasksOfSource } from '../../../src/benchmarks/tau1/task-source.ts';

const FOLDER = '../shared/data/tau-bench';
const present = existsSync(FOLDER);
if (!present) console.warn(`SKIPPED: the data of tau-bench is not at ${FOLDER} beside the repository`);

const SOURCE = String.raw`# Copyright Sierra
"""TASKS = [1] in a docstring is no list of tasks."""
from tau_bench.types import Task, Action

TASKS_TEST: list[Task] = [
    Task(
        annotator="0",
        user_id='mia_1',  # a comment with ] and "quotes"
        instruction="You are Mia, and you’d like "
        'a refund of "#W1".\n' r"Raw \n stays. "
        """Three
lines""",
        actions=[
            Action(name="get_order", kwargs={"order_id": "#W1"}),
            Action(
                name="refund",
                kwargs={"amount": -12.5, "items": ["a", "b",], "all": True, "note": None, "count": 1_000, "nested": {"x": (1, 2)}},
            ),
        ],
        outputs=["12.5"],
    ),
    Task(user_id="u\x32", instruction="\u00e9" if False else "plain", actions=[], outputs=[]),
]
`;

test('strings, escapes, concatenation, comments, numbers, nesting; an expression is refused with its place', () => {
  const fixed = SOURCE.replace('"\\u00e9" if False else "plain"', '"\\u00e9 \\t"');
  expect(tasksOfSource('tasks_test.py', fixed)).toEqual([
    {
      annotator: '0',
      user_id: 'mia_1',
      instruction: 'You are Mia, and you’d like a refund of "#W1".\nRaw \\n stays. Three\nlines',
      actions: [
        { name: 'get_order', kwargs: { order_id: '#W1' } },
        { name: 'refund', kwargs: { amount: -12.5, items: ['a', 'b'], all: true, note: null, count: 1000, nested: { x: [1, 2] } } },
      ],
      outputs: ['12.5'],
    },
    { user_id: 'u2', instruction: 'é \t', actions: [], outputs: [] },
  ]);
  expect(() => tasksOfSource('tasks_test.py', SOURCE)).toThrow(/^tasks_test.py: TASKS_TEST\[1\]: expected a literal/);
});

test('older files: dictionaries with arguments, without outputs', () => {
  const source = `tasks = [{"annotator": 0, "user_id": "u", "instruction": "Hi", "actions": [{"name": "x", "arguments": {"a": 1}}]}]`;
  expect(tasksOfSource('tasks.py', source)).toEqual([
    { annotator: 0, user_id: 'u', instruction: 'Hi', actions: [{ name: 'x', arguments: { a: 1 }, kwargs: { a: 1 } }], outputs: [] },
  ]);
});

test.each([
  ['import os\n', /it has no list of tasks: expected TASKS = \[Task/],
  ['TASKS = load("x")', /TASKS: it is no list/],
  ['TASKS = [Task(**x)]', /TASKS\[0\]: Task has arguments without names/],
  ['TASKS = [open("/etc/passwd")]', /TASKS\[0\]: there is a call of open: expected Task or Action/],
  ['TASKS = [Task(user_id=NAME, actions=[])]', /TASKS\[0\]: name 'NAME' is not defined/],
  ['TASKS = [Task(user_id=f"{x}", actions=[])]', /TASKS\[0\]: expected a literal/],
  ['TASKS = []\nTASKS.append(Task())', /TASKS: the list is changed by TASKS.append/],
  ['TASKS = []\nTASKS += MORE', /TASKS: the list is changed by TASKS \+=/],
  ['TASKS = [Task(user_id="a"', /TASKS: it is not Python that is read here/],
  ['TASKS = [Task(user_id="a")]', /TASKS\[0\]: expected a list of actions/],
  ['TASKS = [3]', /TASKS\[0\]: expected Task/],
])('%s', (source, words) => {
  expect(() => tasksOfSource('tasks.py', source)).toThrow(words);
});

describe.skipIf(!present)('the real data (skipped without the reference data)', () => {
  test.each(['retail', 'airline'])('%s: the Python form of all tasks imports as the JSON does', async (domain) => {
    const folder = `${FOLDER}/${domain}`;
    const tables = domain === 'retail' ? ['orders', 'products', 'users'] : ['flights', 'reservations', 'users'];
    const data = tables.map((table) => [`${domain}/data/${table}.json`, new Uint8Array(readFileSync(`${folder}/${table}.json`))] as const);
    const json = readFileSync(`${folder}/tasks_test.json`, 'utf8');
    const wiki = [`${domain}/wiki.md`, new Uint8Array(readFileSync(`${folder}/wiki.md`))] as const;
    // The texts of JSON are Python literals with the same value.
    const python = (
      JSON.parse(json) as { user_id: string; instruction: string; actions: { name: string; kwargs: object }[]; outputs: string[] }[]
    )
      .map(({ user_id, instruction, actions, outputs }) => {
        const called = actions.map(({ name, kwargs }) => `Action(name=${JSON.stringify(name)}, kwargs=${pythonOf(kwargs)})`);
        return `    Task(\n        annotator="0",\n        user_id=${JSON.stringify(user_id)},\n        instruction=${JSON.stringify(instruction)},\n        actions=[${called.join(', ')}],\n        outputs=${JSON.stringify(outputs)},\n    ),`;
      })
      .join('\n');
    const source = new TextEncoder().encode(`from tau_bench.types import Action, Task\n\nTASKS_TEST = [\n${python}\n]\n`);
    const [read, wanted] = await Promise.all([
      importBenchmark([...data, wiki, [`${domain}/tasks_test.py`, source]]),
      importBenchmark([...data, wiki, [`${domain}/tasks_test.json`, new TextEncoder().encode(json)]]),
    ]);
    expect(read.tasks.length).toBe(wanted.tasks.length);
    const known = ({ id, user_id, instruction, actions, outputs }: Record<string, unknown>) => ({
      id,
      user_id,
      instruction,
      actions,
      outputs,
    });
    expect(read.tasks.map((task) => known(task as never))).toEqual(wanted.tasks.map((task) => known(task as never)));
    expect(read.splits).toEqual(wanted.splits);
  });
});

const pythonOf = (value: object) =>
  JSON.stringify(value).replace(
    /:(true|false|null)([,}\]])/g,
    (_, word: string, end: string) => `:${{ true: 'True', false: 'False', null: 'None' }[word]}${end}`,
  );
