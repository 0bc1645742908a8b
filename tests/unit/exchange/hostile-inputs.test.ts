/**
 * Hostile files: every field of every format that the playground reads gets values that break careless readers. A reader
 * either accepts the file or says in one line what is wrong, within three seconds. The test prints how many of each.
 */
import { readFileSync } from 'node:fs';
import { zipSync } from 'fflate';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { loadTokenizer } from '../../support/tokenizers.ts';
import { sha256 } from '../../../src/base/sha256.ts';
import { importBenchmark } from '../../../src/benchmarks/import/import.ts';
import { readRunBundle } from '../../../src/exchange/run-bundle.ts';
import { openFiles } from '../../../src/exchange/file-source.ts';
import { writeExperiment, readExperiment } from '../../../src/experiments/file.ts';
import { readToml } from '../../../src/experiments/read-toml.ts';
import { readForeign } from '../../../src/formats/read-foreign.ts';
import { writeRunBundle } from '../../../src/exchange/write-run-bundle.ts';
import { readOnlyRun } from '../../../src/trainer/read-only-run.ts';
import { inspectModel } from '../../../src/trainer/stored-models.ts';
import { readDataset } from '../../../src/training/dataset.ts';
import { files as folder, TAU2_RESULTS, tau1Retail, tau2Retail } from '../../support/benchmark-data.ts';
import { reportFaults } from '../../support/faults.ts';

const SECONDS = 3;
const MOST_CHARACTERS = 5000;
/** Errors that JavaScript itself throws. They mean that the reader did not check the value. */
const BUGS = /^(Type|Range|Reference|Syntax|URI)Error$/;

const encoder = new TextEncoder();
const nested = (levels: number) => `${'['.repeat(levels)}${']'.repeat(levels)}`;
/** JSON texts. The last two are values that JSON.stringify cannot write. */
const VALUES = [
  'null',
  'true',
  '-1',
  '1.5',
  '1e308',
  '9007199254740993',
  '100000',
  '4294967295',
  '""',
  JSON.stringify('x'.repeat(100_000)),
  JSON.stringify('\u202e\u0000\u001b[2J'),
  '[]',
  '[null]',
  '{}',
  '{"__proto__":{"owned":1},"constructor":null,"toString":1}',
  nested(100_000),
];

type Path = readonly (string | number)[];
const PLACE = '\u0001place\u0001';

/** The paths of all fields of a document; of a list only its first and last entries. */
function pathsOf(value: unknown, at: Path = []): Path[] {
  if (typeof value !== 'object' || value === null) return [at];
  const keys: (string | number)[] = Array.isArray(value) ? [...new Set([0, value.length - 1])].filter((i) => i >= 0) : Object.keys(value);
  const few = keys.length > 30 ? [...keys.slice(0, 3), ...keys.slice(-2)] : keys;
  return [at, ...few.flatMap((key) => pathsOf((value as Record<string | number, unknown>)[key], [...at, key]))];
}

/** The document as JSON with `text` in place of the value at the path. */
function withText(document: unknown, path: Path, text: string): string {
  if (path.length === 0) return text;
  const copy = structuredClone(document) as Record<string | number, unknown>;
  let parent = copy;
  for (const key of path.slice(0, -1)) parent = parent[key] as typeof parent;
  parent[path.at(-1)!] = PLACE;
  return JSON.stringify(copy).replace(JSON.stringify(PLACE), () => text);
}

/** Takes every n-th of the inputs, so that each value and each field has its turn. */
function spread<T>(all: readonly T[], most: number): T[] {
  const step = Math.max(1, all.length / most);
  return Array.from({ length: Math.min(most, all.length) }, (_, i) => all[Math.floor(i * step)]!);
}

/** `most` documents, each with one field replaced or left out. */
function spoilt(document: unknown, most: number): [name: string, text: string][] {
  const all = pathsOf(document).flatMap((path) => VALUES.map((text) => ({ path, text })));
  return spread(all, most).map(({ path, text }) => [`${path.join('.')} = ${text.slice(0, 30)}`, withText(document, path, text)]);
}

/** What a text file may contain instead of JSON. */
const NO_JSON = [
  '',
  '{',
  '<html>',
  '\ufeff{}',
  'version https://git-lfs.github.com/spec/v1',
  '{"a":1}{"b":2}',
  '\u0000'.repeat(1000),
  'NaN',
];

const rows: { format: string; inputs: number; refused: number; accepted: number; 'slowest, ms': number }[] = [];

/** Reads every input. @param shouldRefuse inputs that no reader may accept */
async function attack(format: string, inputs: readonly (readonly [name: string, read: () => unknown])[], shouldRefuse = false) {
  const row = { format, inputs: inputs.length, refused: 0, accepted: 0, 'slowest, ms': 0 };
  const problems: string[] = [];
  for (const [name, read] of inputs) {
    const from = performance.now();
    try {
      await read();
      row.accepted++;
      if (shouldRefuse) problems.push(`${name}: accepted`);
    } catch (error) {
      row.refused++;
      const { name: kind, message } = error as Error;
      const clear = !BUGS.test(kind) && !/\p{C}/u.test(message) && /: |expected/.test(message) && message.length < MOST_CHARACTERS;
      if (!clear) problems.push(`${name}: ${kind}: ${message.slice(0, 300)}`);
    }
    const took = performance.now() - from;
    row['slowest, ms'] = Math.max(row['slowest, ms'], Math.round(took));
    if (took > 1000 * SECONDS) problems.push(`${name}: ${Math.round(took)} ms`);
    expect(({} as { owned?: unknown }).owned, 'Object.prototype').toBeUndefined();
  }
  rows.push(row);
  expect(problems, format).toEqual([]);
}

const MODEL = ['config.json', 'model.safetensors', 'tokenizer.json', 'tokenizer_config.json'] as const;
const model = Object.fromEntries(MODEL.map((name) => [name, new Uint8Array(readFileSync(`models/nano-retail/${name}`))]));
const parsed = (name: (typeof MODEL)[number]) => JSON.parse(new TextDecoder().decode(model[name])) as Record<string, unknown>;
const inspect = (change: Record<string, Uint8Array<ArrayBuffer>>) => inspectModel({ ...model, ...change });

function safetensors(header: string, data = 0): Uint8Array<ArrayBuffer> {
  const json = encoder.encode(header);
  const file = new Uint8Array(8 + json.length + data);
  new DataView(file.buffer).setBigUint64(0, BigInt(json.length), true);
  file.set(json, 8);
  return file;
}

describe('a model folder', () => {
  for (const name of ['config.json', 'tokenizer_config.json'] as const)
    test(name, async () => {
      const texts = [...spoilt(parsed(name), 250), ...NO_JSON.map((text): [string, string] => ['no JSON', text])];
      await attack(
        name,
        texts.map(([at, text]) => [at, () => (name === 'config.json' ? inspect : loadOnly)({ [name]: encoder.encode(text) })]),
      );
    });

  const loadOnly = (change: Record<string, Uint8Array<ArrayBuffer>>) => loadTokenizer({ ...model, ...change }).encode('Hi, 12 lamps.');

  test('tokenizer.json', async () => {
    const texts = [...spoilt(parsed('tokenizer.json'), 300), ...NO_JSON.map((text): [string, string] => ['no JSON', text])];
    await attack(
      'tokenizer.json',
      texts.map(([at, text]) => [at, () => loadOnly({ 'tokenizer.json': encoder.encode(text) })]),
    );
  });

  test('regular expressions that never end', async () => {
    const patterns = ['(a+)+$', '(a|a)*$', '(?:\\s*)*x', '(.*a){20}', 'a*a*a*a*b', '([a-z]+)*\\d', '(?=(a+))\\1*$', '[', '\\p{Foo}'];
    const places = (Regex: string) => [
      { pre_tokenizer: { type: 'Split', pattern: { Regex }, behavior: 'Isolated', invert: false } },
      { normalizer: { type: 'Replace', pattern: { Regex }, content: '' } },
      { decoder: { type: 'Sequence', decoders: [{ type: 'Replace', pattern: { Regex }, content: '' }] } },
    ];
    const text = 'a'.repeat(50_000);
    await attack(
      'tokenizer.json, hostile patterns',
      patterns.flatMap(places).map((change) => [
        JSON.stringify(change),
        () => {
          const files = { ...model, 'tokenizer.json': JSON.stringify({ ...parsed('tokenizer.json'), ...change }) };
          loadTokenizer(files).encode(text);
        },
      ]),
      true,
    );
  });

  test('allowed patterns take linear time', () => {
    const { encode } = loadTokenizer(model);
    for (const piece of ['a', ' ', '\n', "'", '1', '{"', '_a', ' .', '\u202e', '\t\r', 'é']) {
      const from = performance.now();
      encode(piece.repeat(20_000));
      expect(performance.now() - from, JSON.stringify(piece)).toBeLessThan(1000 * SECONDS);
    }
  });

  test('model.safetensors', async () => {
    const whole = model['model.safetensors']!;
    const length = Number(new DataView(whole.buffer, whole.byteOffset).getBigUint64(0, true));
    const header = JSON.parse(new TextDecoder().decode(whole.subarray(8, 8 + length))) as Record<string, { shape: number[] }>;
    const first = Object.keys(header).find((name) => name !== '__metadata__')!;
    const small = { a: { dtype: 'F32', shape: [2], data_offsets: [0, 8] } };
    const texts = [
      ...spoilt(small, 200).map(([, text]) => text),
      ...NO_JSON,
      '{"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]},"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}}',
      '{"__proto__":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}}',
      JSON.stringify(
        Object.fromEntries(Array.from({ length: 50_000 }, (_, i) => [`t${i}`, { dtype: 'F32', shape: [0], data_offsets: [0, 0] }])),
      ),
    ];
    const cut = [0, 1, 7, 8, 9, 100, 8 + length - 1, 8 + length, 8 + length + 1, whole.length - 1].map((end) => whole.slice(0, end));
    const lengths = [0n, 1n, 2n ** 31n, 2n ** 53n, 2n ** 64n - 1n].map((value) => {
      const copy = whole.slice();
      new DataView(copy.buffer).setBigUint64(0, value, true);
      return copy;
    });
    const notFinite = whole.slice();
    notFinite.fill(255, whole.length - 4);
    const other = JSON.stringify({ ...header, [first]: { ...header[first], shape: header[first]!.shape.toReversed().concat(1) } });
    await attack(
      'model.safetensors',
      [...texts.map((text) => safetensors(text, 8)), ...cut, ...lengths, notFinite, safetensors(other, whole.length - 8 - length)].map(
        (bytes, i) => [`input ${i}`, () => inspect({ 'model.safetensors': bytes })],
      ),
      true,
    );
  });

  test('model.safetensors.index.json', async () => {
    const shard = 'model-00001-of-00001.safetensors';
    const rest = Object.fromEntries(Object.entries(model).filter(([name]) => name !== 'model.safetensors'));
    const index = { weight_map: { a: shard, b: shard } };
    const maps = ['__proto__', 'constructor', '../model.safetensors', '/etc/passwd', '', '.', 'x'.repeat(100_000)].map(
      (file): [string, string] => [
        file.slice(0, 30),
        JSON.stringify({ weight_map: JSON.parse(`{"a":${JSON.stringify(file)}}`) as object }),
      ],
    );
    await attack(
      'model.safetensors.index.json',
      [...spoilt(index, 80), ...maps, ...NO_JSON.map((text): [string, string] => ['no JSON', text])].map(([at, text]) => [
        at,
        () => inspectModel({ ...rest, [shard]: model['model.safetensors']!, 'model.safetensors.index.json': encoder.encode(text) }),
      ]),
      true,
    );
  });
});

test('a dataset of conversations', async () => {
  const line = {
    id: 'a',
    messages: [
      { role: 'system', content: 'Serve.' },
      { role: 'user', content: 'Hi' },
      { role: 'assistant', content: '', tool_calls: [{ type: 'function', function: { name: 'f', arguments: '{"a":1}' } }] },
      { role: 'tool', name: 'f', content: '1' },
      { role: 'assistant', content: 'Hello.' },
    ],
    tools: [{ type: 'function', function: { name: 'f', description: 'F', parameters: { type: 'object', properties: {} } } }],
  };
  await attack(
    'dataset, JSONL',
    [...spoilt(line, 300), ...NO_JSON.map((text): [string, string] => ['no JSON', text])].map(([at, text]) => [
      at,
      () => readDataset(text),
    ]),
  );
});

describe('an experiment', () => {
  test('as a file with results', async () => {
    const text = readFileSync('public/experiments/ablation.mua-experiment.json', 'utf8');
    const content = readExperiment(text, 'a');
    const small = JSON.parse(writeExperiment({ ...content, runs: content.runs.slice(0, 1) })) as unknown;
    await attack(
      '*.mua-experiment.json',
      [...spoilt(small, 300), ...NO_JSON.map((none): [string, string] => ['no JSON', none])].map(([at, own]) => [
        at,
        () => readExperiment(own, 'x.json'),
      ]),
    );
  });

  test('as TOML', async () => {
    const text = readFileSync('public/experiments/honest.toml', 'utf8');
    const lines = text.split('\n');
    const values = [
      'nan',
      '-1',
      '1e400',
      '[]',
      '""',
      '{}',
      '1979-05-27',
      '"x',
      `"${'x'.repeat(100_000)}"`,
      nested(10_000),
      '[[[[',
      '{ __proto__ = 1 }',
    ];
    const inputs = lines.flatMap((own, i) =>
      own.includes(' = ') ? values.map((value) => lines.with(i, `${own.split(' = ')[0]} = ${value}`).join('\n')) : [],
    );
    await attack(
      '*.toml',
      [...inputs, '', '= 1', '[a', '\u0000', '[[variants]]\n'.repeat(10_000)].map((own, i) => [
        `input ${i}`,
        () => readToml(own, 'x.toml'),
      ]),
    );
  });
});

describe('a run bundle', () => {
  let parts: Record<string, unknown>;
  beforeAll(async () => {
    const whole = await readRunBundle(new Uint8Array(readFileSync('public/recorded/run.mua.zip')));
    const [trajectory] = whole.trajectories;
    parts = {
      'run.json': whole.run,
      'metrics.jsonl': whole.metrics[1],
      'rollouts.jsonl': whole.rollouts.find(({ id }) => id === trajectory!.id),
      'trajectories.jsonl': trajectory,
    };
  });

  const packed = (texts: Record<string, string>, spoil: (manifest: Record<string, unknown>) => unknown = (manifest) => manifest) => {
    const files = Object.fromEntries(Object.entries(texts).map(([name, text]) => [name, encoder.encode(text)]));
    const listed = Object.fromEntries(Object.entries(files).map(([name, bytes]) => [name, { sha256: sha256(bytes), bytes: bytes.length }]));
    const manifest = { format: 'mua-run', format_version: 1, app_version: '0', created: new Date(0).toISOString(), files: listed };
    return zipSync({ 'manifest.json': encoder.encode(JSON.stringify(spoil(manifest))), ...files }, { level: 1 }) as Uint8Array<ArrayBuffer>;
  };
  const texts = () => Object.fromEntries(Object.entries(parts).map(([name, part]) => [name, `${JSON.stringify(part)}\n`]));

  test('whose parts are sound is read', async () => {
    expect((await readRunBundle(packed(texts()))).trajectories).toHaveLength(1);
  });

  for (const name of ['run.json', 'metrics.jsonl', 'rollouts.jsonl', 'trajectories.jsonl'])
    test(name, async () => {
      await attack(
        `run bundle: ${name}`,
        [...spoilt(parts[name], 150), ...NO_JSON.map((text): [string, string] => ['no JSON', text])].map(([at, text]) => [
          at,
          () => readRunBundle(packed({ ...texts(), [name]: text })),
        ]),
      );
    });

  test('the zip itself, damaged in one place', async () => {
    const zip = packed(texts());
    await attack(
      'run bundle: damaged bytes',
      Array.from({ length: 100 }, (_, i) => [
        `byte ${i}`,
        () => {
          const copy = zip.slice();
          // Bytes from the start (local headers, data) and from the end (the directory of the zip).
          const at = i % 2 ? Math.floor((i / 100) * copy.length) : copy.length - 1 - i * 4;
          copy[at] = copy[at]! ^ 0xff;
          return readRunBundle(copy);
        },
      ]),
    );
  });
});

describe('a benchmark', () => {
  const read = (data: Record<string, string>) => async () => {
    const { paths } = await openFiles(folder(data), { files: 100, fileBytes: 2 ** 24, totalBytes: 2 ** 25, rows: 1000 });
    expect(paths.length).toBeGreaterThan(0);
    await importBenchmark(folder(data));
  };
  for (const [name, data] of Object.entries({ tau1Retail, tau2Retail }))
    test(name, async () => {
      const inputs = Object.entries(data).flatMap(([file, text]): [string, () => unknown][] => {
        if (!file.endsWith('.json')) return NO_JSON.map((other) => [`${file}: other text`, read({ ...data, [file]: other })]);
        return [...spoilt(JSON.parse(text), 60), ...NO_JSON.map((other): [string, string] => ['no JSON', other])].map(([at, other]) => [
          `${file}: ${at}`,
          read({ ...data, [file]: other }),
        ]);
      });
      await attack(`benchmark: ${name}`, inputs);
    });
});

describe('conversations of other tools', () => {
  const call = { id: 'c', type: 'function', function: { name: 'f', arguments: { a: 1 } } };
  const messages = [
    { role: 'user', content: 'Hi' },
    { role: 'assistant', content: 'I look.', tool_calls: [call] },
    { role: 'tool', content: '1', tool_call_id: 'c' },
  ];
  const documents: Record<string, unknown> = {
    'rollouts of TRL': {
      step: 1,
      id: 'a',
      group: 'g',
      index: 0,
      task: 't',
      prompt: messages.slice(0, 1),
      completion: messages.slice(1),
      prompt_ids: [1, 2],
      completion_ids: [3, 4, 5],
      completion_mask: [1, 1, 0],
      logprobs: [-1, -0.5, null],
      reward: 1,
      rewards: { outcome: 1 },
      advantage: 0.5,
      termination: 'user_stop',
      num_turns: 1,
    },
    'completions of TRL': { step: 1, prompt: 'user\nHi\nassistant\n', completion: 'Yes.', a_reward: 1, advantage: 0.5 },
    'a dump of verl': {
      input: 'user\nHi\nassistant\n',
      output: '<tool_call>\n{"name": "f", "arguments": {"a": 1}}\n</tool_call>',
      gts: null,
      score: 1,
      step: 1,
      uid: 'u',
      request_id: 'r',
    },
    'chat messages': { messages, reward: 1 },
    'a log of Inspect': {
      version: 2,
      eval: {},
      samples: [
        {
          id: 1,
          epoch: 1,
          messages: [
            { role: 'user', content: [{ type: 'text', text: 'attachment://0123456789abcdef0123456789abcdef' }] },
            { role: 'assistant', content: 'I look.', tool_calls: [{ id: 'c', function: 'f', arguments: { a: 1 }, type: 'function' }] },
            { role: 'tool', content: '1', function: 'f', tool_call_id: 'c' },
          ],
          scores: { reward: { value: 1 } },
          metadata: { step: 1, group: 'g', index: 0, advantage: 0.5, termination: 'user_stop', num_turns: 1 },
          attachments: { '0123456789abcdef0123456789abcdef': 'text' },
          error: { message: 'e' },
          limit: { type: 'turn', limit: 1 },
        },
      ],
    },
    'results of tau2-bench': TAU2_RESULTS,
    'results of tau-bench': [{ task_id: 1, reward: 1, trial: 0, traj: messages, info: { task: { actions: [{ name: 'f', kwargs: {} }] } } }],
  };
  /** An accepted file must be a run that another browser can read. */
  const read = (text: string) => async () => {
    const { rollouts, source } = await readForeign('x', encoder.encode(text));
    const bundle = await writeRunBundle(readOnlyRun(rollouts, { createdAt: 1, source }), { appVersion: 'test' });
    await readRunBundle(new Uint8Array(await bundle.arrayBuffer()));
  };
  for (const [name, document] of Object.entries(documents))
    test(name, async () => {
      await attack(
        name,
        [...spoilt(document, 200), ...NO_JSON.map((text): [string, string] => ['no JSON', text])].map(([at, text]) => [at, read(text)]),
      );
    });
});

afterAll(() => {
  console.table(rows);
  const sum = (of: 'inputs' | 'refused') => rows.reduce((total, row) => total + row[of], 0);
  console.log(`${sum('inputs')} hostile inputs: ${sum('refused')} refused with one clear line, the others are valid and were read`);
  if (rows.length < 15) return;
  expect(sum('refused')).toBeGreaterThanOrEqual(500);
  reportFaults({
    fault: 'a hostile file',
    how: `values that break careless readers in every field of ${rows.length} formats`,
    times: sum('inputs'),
    lost: `nothing: ${sum('refused')} were refused with one clear line within 3 s; the others are valid and were read`,
    test: 'tests/unit/exchange/hostile-inputs.test.ts',
  });
});
