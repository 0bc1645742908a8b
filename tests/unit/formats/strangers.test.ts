/** Files as in public bug reports of other tools, written by hand. The wanted results follow from the texts of the files. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { readForeign } from '../../../src/formats/read-foreign.ts';
import { readOnlyRun } from '../../../src/trainer/read-only-run.ts';
import { conversationLines } from '../../support/conversation-lines.ts';

const FOLDER = '../shared/data/strangers';
const present = existsSync(FOLDER);
if (!present) console.warn(`SKIPPED: the files of strangers are not at ${FOLDER} beside the repository`);

const PARCEL = ['user: Where is my parcel?', 'assistant: It arrives on Monday.'];
const HELLO = ['user: Hello', 'assistant: Hi.'];
const ORDER = ['system: You help a shop.', 'user: Cancel my order.'];
const CANCEL = ['user: Cancel my order.', 'assistant: Which one?'];
const INSPECT = ['system: You help a shop.', 'user: Where is my parcel?', 'assistant: (look it up) On Monday.'];
const PADDED = [
  'user: Cancel #W1',
  'assistant:  → get_user {"user_id":"mia_1"}',
  'tool: get_user = {}',
  'assistant:  → cancel_order {"order_id":"#W1"}',
  'tool: cancel_order = ok',
  'assistant: Done.',
];
const TRL = [
  ['1', ...CANCEL],
  ['0', ...CANCEL.slice(0, 1), 'assistant: Done.'],
];

/** File → the conversations, and words of the notes. */
const FILES: Record<string, { read: string[][]; notes?: string[] }> = {
  'b01-verifiers-toolcall-strings.jsonl': {
    read: [
      [
        '1',
        'system: You help a shop.',
        'user: Please cancel order #W1000001.',
        'assistant:  → get_order_details {"order_id":"#W1000001"}',
        'tool: get_order_details = {"status": "pending"}',
        'assistant: It is pending. Shall I cancel it?',
      ],
      ['0', 'system: You help a shop.', 'user: Please cancel order #W1000001.', 'assistant: Which order?'],
    ],
  },
  'b02-verifiers-failed-rollout.jsonl': {
    read: [
      ['1', ...PARCEL],
      ['null', 'user: Where is my refund?', '! ModelError -> ConnectionError'],
    ],
    notes: ['1 of 2 conversations failed'],
  },
  'b02b-verifiers-task-column.jsonl': {
    read: [
      ['1', ...PARCEL],
      ['0', 'user: Where is my refund?', 'assistant: Tomorrow.'],
    ],
  },
  'b02c-interrupted-write.jsonl': {
    read: [
      ['1', ...PARCEL],
      [
        'null',
        'system: {"example_id": 1, "prompt": [{"role": "user", "content": "Where is my ref',
        '! b02c-interrupted-write.jsonl: line 2: it is not JSON: it ends in the middle: expected the end of a text',
      ],
    ],
    notes: ['1 of 2 rows'],
  },
  'b03-verl-nan.jsonl': {
    read: [
      ['1', ...ORDER, 'assistant: Which order is it?'],
      ['null', ...ORDER, 'assistant: Done.'],
    ],
  },
  'b04-parallel-calls-text.jsonl': {
    read: [
      [
        '1',
        'system: You help a shop.',
        'user: Are both my orders on the way?',
        'assistant:  → get_order_details {"order_id":"#W1"} → get_order_details {"order_id":"#W2"}',
        'tool: get_order_details = {"status": "shipped"}',
        'tool: get_order_details = {"status": "pending"}',
        'assistant: The first is on the way.',
      ],
    ],
  },
  'b05-endtag-in-string.jsonl': {
    read: [
      [
        '1',
        'user: Write a note.',
        'assistant:  → write_note {"text":"the tag </tool_call> ends a call"}',
        'tool: write_note = ok',
        'assistant: Done.',
      ],
    ],
  },
  'b05b-response-tag-in-result.jsonl': {
    read: [
      [
        '1',
        'user: Read the page.',
        'assistant:  → read {}',
        'tool: read = The template has <tool_response>\nX\n</tool_response> around a result.',
        'assistant: Done.',
      ],
    ],
  },
  'b06-trl-reward-names.jsonl': {
    read: [
      ['1.5', ...HELLO],
      ['0.5', 'user: Hello', 'assistant: No.'],
    ],
    notes: ['the reward is correctness + format_ok'],
  },
  'b06b-extra-columns.jsonl': { read: [['1', ...HELLO]], notes: ['column index'] },
  'b06c-messages-extra.jsonl': {
    read: [
      ['1', ...HELLO],
      ['1', ...HELLO],
    ],
  },
  'b06d-step-as-text.jsonl': { read: [['1', ...HELLO]] },
  'b06e-reward-list.jsonl': { read: [['1.5', ...HELLO]] },
  'b06f-score-dict.jsonl': { read: [['1', ...HELLO]] },
  'b06g-score-bool.jsonl': { read: [['1', ...HELLO]] },
  'b07-null-content.jsonl': {
    read: [['1', 'user: Hi', 'assistant: (The user greets me.) ', 'user: Are you there?', 'assistant: Yes.']],
  },
  'b07b-developer.jsonl': { read: [['1', 'system: Be brief.', 'user: Hi', 'assistant: Hello.']] },
  'b07c-parts.jsonl': { read: [['1', 'user: Hi\n[image]', 'assistant: (greet) Hello.']], notes: ['image_url'] },
  'b07d-tool-null.jsonl': { read: [['1', 'user: Hi', 'assistant:  → ping {}', 'tool: ping = ', 'assistant: Hello.']] },
  'b08-arrow-null-arguments.jsonl': {
    read: [
      [
        '1',
        'user: Cancel #W1',
        'assistant:  → cancel_order {"order_id":"#W1","reason":"no longer needed"}',
        'tool: cancel_order = ok',
        'assistant: Done.',
      ],
    ],
    notes: ['nulls that pad'],
  },
  'b09-bom-crlf.jsonl': {
    read: [
      ['1', 'user: Hi', 'assistant: Hello.'],
      ['0', 'user: Bye', 'assistant: Bye.'],
    ],
  },
  'b10-inspect-nan.json': {
    read: [
      ['1', ...INSPECT],
      ['null', ...INSPECT],
    ],
  },
  'b10c-inspect-nan-metric.json': {
    read: [
      ['1', ...INSPECT],
      ['1', ...INSPECT],
    ],
  },
  'b10d-inspect-control.json': {
    read: [
      ['1', ...INSPECT],
      ['1', ...INSPECT],
    ],
  },
  'b11-inspect-parse-error.json': {
    read: [
      [
        '0',
        'user: Cancel it.',
        'assistant:  → cancel_order {} → get_user {"id":"u1"} ! bad json',
        'tool: cancel_order failed = error',
        'tool: get_user = {}',
        'assistant: Done.',
      ],
    ],
  },
  'b12-inspect-crashed-sample.json': {
    read: [
      ['1', ...INSPECT],
      ['null', 'user: Where is my parcel?', '! ConnectionError'],
    ],
    notes: ['1 of 2 conversations failed'],
  },
  'b13-inspect-dict-score.json': { read: ['null', 'null', 'null', '0.75', '1', '1'].map((reward) => [reward, ...INSPECT]) },
  ...Object.fromEntries(
    ['b14-inspect-zstd.eval', 'b14b-inspect-deflate.eval', 'b14c-inspect-store.eval'].map((file) => [
      file,
      {
        read: [
          ['1', ...INSPECT],
          ['0', ...INSPECT],
        ],
      },
    ]),
  ),
  'b15-inspect-crash-no-header.eval': {
    read: [
      ['1', ...INSPECT],
      ['0', ...INSPECT],
    ],
    notes: ['no header.json'],
  },
  ...Object.fromEntries(
    ['b16-trl-lz4raw', 'b16-trl-snappy', 'b16-trl-zstd', 'b16b-trl-plain'].map((file) => [`${file}.parquet`, { read: TRL }]),
  ),
  ...Object.fromEntries(
    ['b16c-trl-delta-bytes', 'b16c-trl-delta-length'].map((file) => [
      `${file}.parquet`,
      { read: TRL.map(([, ...said]) => ['null', ...said]) },
    ]),
  ),
  'b17-messages-structs.parquet': { read: [['1', ...PADDED]], notes: ['nulls that pad'] },
  'b17b-prompt-completion-structs.parquet': { read: [['1', ...PADDED]], notes: ['nulls that pad'] },
  'b18-bigint-null.parquet': {
    read: [
      ['null', 'user: Hi', 'assistant: Hello.'],
      ['1', 'user: Hi', 'assistant: Hey.'],
    ],
  },
  'b19-same-id.jsonl': {
    read: [
      ['1', ...HELLO],
      ['0', 'user: Hello', 'assistant: No.'],
    ],
  },
  'b20-tau2-control.json': { read: [['1', 'assistant: Hi! How can I help you today?', 'user: Hello ###STOP###']] },
  ...Object.fromEntries(
    [
      ['b20a-tau2-infrastructure.json', '! infrastructure_error'],
      ['b20b-tau2-infra-empty.json', '! infrastructure_error: litellm.RateLimitError: quota'],
    ].map(([file, error]) => [
      file,
      {
        read: [
          ['1', 'assistant: Hi! How can I help you today?', 'user: Hello ###STOP###'],
          ['null', 'system: ', error],
        ],
        notes: ['1 of 2 conversations failed'],
      },
    ]),
  ),
  'b20c-tau2-user-calls.json': {
    read: [
      [
        '1',
        'assistant: Please check your phone.',
        'user: No network, SIM active.',
        'assistant:  → cancel_pending_order {"order_id":"#W1","reason":"x"}',
        'tool: cancel_pending_order failed = Error: no such order',
        'assistant: It failed.',
        'user: ###STOP###',
      ],
    ],
  },
  'b21-tau1.json': {
    read: [
      ['null', 'system: ', '! litellm.RateLimitError'],
      ['1', 'user: Hi', 'assistant:  → x {}', 'tool: x = ok', 'assistant: Bye', 'user: ###STOP###'],
    ],
    notes: ['1 of 2 conversations failed'],
  },
};

describe.skipIf(!present)('files of strangers (skipped without the reference data)', () => {
  const read = (file: string) => readForeign(file, new Uint8Array(readFileSync(join(FOLDER, file))));

  it.each(Object.entries(FILES))('%s', async (file, { read: wanted, notes: words = [] }) => {
    const { rollouts, notes, source } = await read(file);
    expect(rollouts.map(({ trajectory }) => conversationLines(trajectory))).toEqual(wanted);
    expect(notes).toEqual(words.map((word) => expect.stringContaining(word)));
    expect(readOnlyRun(rollouts, { createdAt: 1, source, notes }).trajectories).toHaveLength(wanted.length);
  });

  it('steps, ids and groups', async () => {
    expect((await read('b06d-step-as-text.jsonl')).rollouts[0]!.step).toBe(5);
    const ids = (await read('b18-bigint-null.parquet')).rollouts.map(({ trajectory }) => trajectory.id);
    expect(ids).toEqual(['9007199254740993', '9007199254740992']);
    const tasks = (await read('b02b-verifiers-task-column.jsonl')).rollouts.map(({ trajectory }) => trajectory.task.id);
    expect(tasks).toEqual(['retail-env 0', 'retail-env 1']);
  });

  it('U+2028 and a NUL stay in the text', async () => {
    const { rollouts } = await read('b09b-unicode-lines.jsonl');
    expect(rollouts[0]!.trajectory.nodes.map(({ text }) => text)).toEqual(['Das kostet 5\u2028Euro 😀 \0', 'Ja\u2029.']);
  });

  it('the customer’s calls of tau2-bench are beside the messages', async () => {
    const { rollouts } = await read('b20c-tau2-user-calls.json');
    expect(rollouts[0]!.trajectory.userCalls!.map(({ call, text }) => [call.name, text])).toEqual([
      ['check_network_status', 'no network'],
      ['check_sim_status', 'active'],
    ]);
    expect(rollouts[0]!.trajectory).toMatchObject({ termination: 'user_stop', ending: 'user_stop' });
  });

  it('tau2-bench’s folder format says what to import', async () => {
    await expect(read('b20d-tau2-dir-format.json')).rejects.toThrow('import the files of the folder simulations/');
  });
});
