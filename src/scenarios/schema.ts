/** @file The form of a scenario file: which fields it has, and of which types. `read.ts` checks what the form cannot say. */
import * as z from 'zod/mini';
import { didYouMean } from '../base/did-you-mean.ts';
import { shown } from '../base/input-error.ts';
import { isObject } from '../base/json.ts';
import { NEAR_MISSES } from '../records/scenario.ts';

/** The fields of an object. Other fields are errors. */
const fields = <S extends Readonly<Record<string, z.ZodMiniType>>>(shape: S) =>
  z.strictObject(shape, {
    error: (issue) => {
      if (issue.code !== 'unrecognized_keys') return undefined;
      const [key = ''] = issue.keys;
      const known = Object.keys(shape);
      return `has the unknown field ${shown(key)}${didYouMean(key, known)}: expected only ${known.join(', ')}`;
    },
  });

/** Words that CEL reserves, and names that every object of JavaScript has. */
const RESERVED = new Set(
  'true false null in as break const continue else for function if import let loop package namespace return var void while constructor prototype cel'.split(
    ' ',
  ),
);
const matching = (pattern: RegExp, words: string, most = 40) =>
  z.string().check(
    z.refine((text) => pattern.test(text) && text.length <= most, `expected ${words}`),
    z.refine((text) => !RESERVED.has(text), 'expected another name, because CEL or JavaScript reserves this one'),
  );
const NAME = matching(/^[a-z][a-z0-9_]*$/, 'a name of at most 40 lower-case letters, digits and _, which begins with a letter');
const WORD = matching(/^[a-z]+(_[a-z]+)*$/, 'a name of at most 40 lower-case letters and _');
const PLAIN = matching(/^[a-z][a-z0-9]*$/, 'a name of at most 40 lower-case letters and digits, which begins with a letter');
const LEVEL = matching(/^[a-z]+$/, 'a name of at most 40 lower-case letters');

const text = (most: number) => z.string().check(z.minLength(1), z.maxLength(most));
const list = <T extends z.ZodMiniType>(type: T, least: number, most: number) => z.array(type).check(z.minLength(least), z.maxLength(most));

/** A map of names. */
const named = <T extends z.ZodMiniType>(type: T, least: number, most: number) =>
  z
    .record(NAME, type)
    .check(z.refine((map) => Object.keys(map).length >= least && Object.keys(map).length <= most, `expected ${least} to ${most} entries`));

const CEL = text(2000);
const TEMPLATE = text(400);
const WORDINGS = list(TEMPLATE, 1, 40);
const JSON_VALUE = z.json();
const WHOLE = z.int();

/** One of several forms of an object. The first field of a form tells which one it is. */
const DRAWS = ['id', 'from', 'min', 'some', 'row', 'person', 'cel'] as const;
const DRAW = fields({
  id: z.optional(NAME),
  from: z.optional(list(JSON_VALUE, 1, 500)),
  min: z.optional(WHOLE),
  max: z.optional(WHOLE),
  step: z.optional(WHOLE.check(z.minimum(1))),
  some: z.optional(list(JSON_VALUE, 1, 100)),
  least: z.optional(WHOLE.check(z.minimum(0))),
  most: z.optional(WHOLE.check(z.minimum(0))),
  row: z.optional(NAME),
  person: z.optional(z.enum(['first', 'last', 'full'])),
  cel: z.optional(CEL),
}).check(
  z.refine((draw) => DRAWS.filter((kind) => draw[kind] !== undefined).length === 1, `expected exactly one of ${DRAWS.join(', ')}`),
  z.refine((draw) => (draw.min === undefined) === (draw.max === undefined), 'expected min and max together'),
  z.refine((draw) => draw.step === undefined || draw.min !== undefined, 'expected step only beside min and max'),
  z.refine((draw) => draw.min === undefined || draw.max === undefined || draw.min <= draw.max, 'expected min to be at most max'),
  z.refine(
    ({ some, least, most }) =>
      some === undefined
        ? least === undefined && most === undefined
        : least !== undefined && most !== undefined && least <= most && most <= some.length,
    'expected some, least and most together, with least ≤ most ≤ the length of the list',
  ),
);

const TRUE = z.literal(true);
const TYPE = z.enum(['string', 'integer', 'number', 'boolean', 'strings']);
const TABLE = fields({
  key: NAME,
  fields: named(
    fields({
      type: TYPE,
      draw: z.optional(DRAW),
      ref: z.optional(NAME),
      volatile: z.optional(TRUE),
      unordered: z.optional(TRUE),
      unread: z.optional(TRUE),
    }),
    1,
    40,
  ),
  count: z.optional(z.record(z.string(), WHOLE.check(z.minimum(0), z.maximum(300)))),
  rows: z.optional(list(z.record(z.string(), JSON_VALUE), 0, 300)),
  invariants: z.optional(list(fields({ check: CEL, text: text(200) }), 0, 20)),
});

const CELS = named(CEL, 0, 40);
const WRITES = ['insert', 'update', 'delete'] as const;
const WRITE = fields({
  table: NAME,
  each: z.optional(CEL),
  insert: z.optional(CELS),
  update: z.optional(CEL),
  set: z.optional(CELS),
  delete: z.optional(CEL),
}).check(
  z.refine((write) => WRITES.filter((kind) => write[kind] !== undefined).length === 1, `expected exactly one of ${WRITES.join(', ')}`),
  z.refine((write) => (write.update === undefined) === (write.set === undefined), 'expected update and set together'),
);
const TOOL = fields({
  name: NAME,
  description: text(600),
  kind: z.enum(['read', 'write', 'transfer']),
  from: z.optional(LEVEL),
  parameters: named(
    fields({ type: TYPE, description: text(300), enum: z.optional(list(text(80), 1, 60)), optional: z.optional(z.literal(true)) }),
    0,
    12,
  ),
  requires: z.optional(list(fields({ check: CEL, error: text(300) }), 0, 30)),
  values: z.optional(CELS),
  writes: z.optional(list(WRITE, 0, 12)),
  result: z.optional(CEL),
  server: z.optional(
    fields({ tool: text(200), arguments: z.record(z.string(), CEL), characters: z.optional(WHOLE.check(z.minimum(100))) }),
  ),
  returns: z.optional(JSON_VALUE),
  says: z.optional(TEMPLATE),
});

const STATES = ['json', 'jsonl', 'files', 'call'] as const;
const STATE = fields({
  json: z.optional(text(200)),
  jsonl: z.optional(text(200)),
  files: z.optional(TRUE),
  call: z.optional(text(200)),
  arguments: z.optional(z.record(z.string(), JSON_VALUE)),
}).check(
  z.refine((state) => STATES.filter((kind) => state[kind] !== undefined).length === 1, `expected exactly one of ${STATES.join(', ')}`),
  z.refine((state) => (state.call === undefined) === (state.arguments === undefined), 'expected call and arguments together'),
);
const HOST = fields({
  here: z.optional(text(80)),
  command: z.optional(list(z.string().check(z.maxLength(1000)), 1, 40)),
  env: z.optional(z.record(z.string(), z.string())),
  url: z.optional(text(2000)),
  tools_sha256: matching(/^[0-9a-f]{64}$/, 'the pin that ./mua mcp list shows, of 64 digits', 64),
  files: z.optional(
    list(
      fields({ each: z.optional(CEL), path: CEL, text: z.optional(CEL), lines: z.optional(CEL) }).check(
        z.refine((file) => (file.text === undefined) !== (file.lines === undefined), 'expected exactly one of text, lines'),
      ),
      0,
      20,
    ),
  ),
  state: named(STATE, 1, 10),
  rows: named(CEL, 1, 12),
  failed: z.optional(CEL),
}).check(
  z.refine(
    (host) => [host.here, host.command, host.url].some((place) => place !== undefined),
    'expected at least one of here, command, url',
  ),
  z.refine((host) => host.env === undefined || host.command !== undefined, 'expected env only beside command'),
);

const CALL = { tool: NAME, arguments: CELS, if: z.optional(CEL) };
const SLOT = fields({ value: CEL, says: WORDINGS, ask: list(text(60), 1, 20) });
/** A text names a fact of the file. */
const SLOTS = named(
  z.union([z.string(), SLOT], { error: (issue) => (isObject(issue.input) ? undefined : 'expected a fact or the name of one') }),
  0,
  12,
);
const BLUEPRINT = fields({
  name: WORD,
  from: z.optional(LEVEL),
  pick: z.optional(named(fields({ table: NAME, where: z.optional(CEL) }), 0, 8)),
  values: z.optional(named(DRAW, 0, 20)),
  where: z.optional(CEL),
  identity: SLOTS,
  slots: SLOTS,
  wish: WORDINGS,
  change: z.optional(fields({ slot: NAME, first: DRAW, says: WORDINGS })),
  reads: list(fields(CALL), 0, 12),
  gold: list(fields(CALL), 0, 12),
  refuse: z.optional(TEMPLATE),
  tell: z.optional(list(CEL, 0, 6)),
  tempts: z.optional(list(fields({ ...CALL, kind: z.enum(NEAR_MISSES) }), 0, 12)),
});

export const SCENARIO = fields({
  format: z.literal('mua-scenario'),
  version: z.literal(1),
  name: PLAIN,
  title: text(80),
  licence: z.optional(text(80)),
  levels: list(LEVEL, 1, 6),
  policy: list(text(600), 1, 40),
  forbids: z.optional(list(fields({ tools: list(NAME, 1, 20), when: CEL, says: text(600) }), 0, 40)),
  tables: named(TABLE, 1, 12),
  host: z.optional(HOST),
  tools: list(TOOL, 1, 40),
  facts: z.optional(named(SLOT, 0, 40)),
  blueprints: list(BLUEPRINT, 1, 40),
});
