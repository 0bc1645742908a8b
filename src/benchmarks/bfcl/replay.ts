/** @file The cases of `mua replay --rules bfcl`: entries with a model's calls or answers, and calls on one class alone. */
import { z } from 'zod';
import { check, ImportError } from '../../exchange/import-error.ts';
import { jsonPath } from '../../base/schema-fault.ts';
import { sha256 } from '../../base/sha256.ts';
import { Dict, dict } from '../../python/values.ts';
import { dumps } from '../../python/text.ts';
import type { ReplayJob, ReplayOutput } from '../definition.ts';
import { parseJson } from '../import/parse.ts';
import { type BfclVerdict, type Response, settingOf } from '../../domains/multiturn/check.ts';
import { CLASSES } from '../../domains/multiturn/classes/index.ts';
import { type BfclData, type Entry, readBfcl } from './data.ts';
import { type Answer, infer, KINDS, type Kind, verdictOf } from './inference.ts';
import { Instances } from '../../domains/multiturn/instances.ts';
import { stateHash } from '../../domains/multiturn/portable.ts';
import { argumentsOf, callText, toolCallOf } from '../../domains/multiturn/tool-call.ts';

const id = z.union([z.string(), z.number()]);
const entry = z.string();
const script = <T extends z.ZodType>(answer: T) => z.array(z.array(answer));
const chatAnswer = z.looseObject({
  role: z.literal('assistant'),
  content: z.string().nullable(),
  tool_calls: z.array(z.looseObject({ id: z.string(), function: z.looseObject({ name: z.string(), arguments: z.string() }) })).optional(),
});
const fileSchema = z.strictObject({ cases: z.array(z.looseObject({})) });
const responseSchema = z.strictObject({ id, entry, response: z.array(script(z.string())) });
const scriptSchema = z.discriminatedUnion(
  'kind',
  [
    z.strictObject({ id, entry, kind: z.enum(['qwen_fc', 'qwen_prompt']), script: script(z.string()) }),
    z.strictObject({ id, entry, kind: z.enum(['openai_fc', 'openai_prompt']), script: script(chatAnswer) }),
  ],
  { error: `expected ${KINDS.join(', ')}` },
);
const classSchema = z.strictObject({
  id,
  class: z.enum(Object.keys(CLASSES)),
  config_of: z.string().nullable(),
  long_context: z.boolean().optional(),
  calls: z.array(z.string()),
});

interface ResponseCase {
  id: string | number;
  entry: string;
  response: Response;
}
interface ScriptCase {
  id: string | number;
  entry: string;
  kind: Kind;
  script: Answer[][];
}
interface ClassCase {
  id: string | number;
  class: string;
  config_of: string | null;
  long_context?: boolean;
  calls: string[];
}
type Case = ResponseCase | ScriptCase | ClassCase;

/** @throws {ImportError} that names the file, the path and the reason */
export async function replayBfcl({ paths, read, file, text, prompts, hash, onProgress }: ReplayJob): Promise<ReplayOutput> {
  const { cases } = check<{ cases: Case[] }>(fileSchema, parseJson(file, text), file);
  const data = await readBfcl(paths, read);
  for (const [i, one] of cases.entries()) {
    check('class' in one ? classSchema : 'script' in one ? scriptSchema : responseSchema, one, file, ['cases', i]);
    for (const field of ['entry', 'config_of'] as const) {
      const name = (one as Partial<Record<typeof field, string | null>>)[field];
      if (typeof name === 'string' && !data.entries.has(name))
        throw new ImportError(
          file,
          jsonPath(['cases', i, field]),
          `it is "${name}": expected one of the ${data.entries.size} entries of the data, such as "${[...data.entries.keys()][0]}"`,
        );
    }
  }
  const replayer = new Replayer(data, hash);
  function* results(): Generator<object> {
    for (const [i, one] of cases.entries()) {
      yield 'class' in one ? replayer.alone(one) : 'script' in one ? replayer.played(one, prompts) : replayer.entry(one, prompts);
      onProgress?.(i + 1, cases.length, 'cases');
    }
  }
  return { cases: results(), counts: () => ({ calls: replayer.calls, errors: replayer.errors }) };
}

class Replayer {
  calls = 0;
  errors = 0;

  constructor(
    private readonly data: BfclData,
    private readonly hash: ((text: string) => string) | undefined,
  ) {}

  alone({ id, class: className, config_of, long_context = false, calls }: ClassCase) {
    const config = config_of === null ? new Dict() : this.data.entries.get(config_of)!.config;
    const object = new Instances({ involved: [className], config, longContext: long_context }, this.data.tables);
    const results = calls.map((call) => this.#run(object, call));
    return { id, results, state_sha256_js: stateHash(object.state(), this.hash) };
  }

  entry({ id, entry: name, response }: ResponseCase, prompts: boolean) {
    const entry = this.data.entries.get(name)!;
    return {
      id,
      ...this.#turns(entry, response),
      verdict: shortened(verdictOf(this.data, entry, { response: response as string[][][] })),
      ...(prompts && {
        prompts: Object.fromEntries(KINDS.map((kind) => [kind, infer(this.data, entry, kind, scriptOf(kind, response)).prompts])),
      }),
    };
  }

  played({ id, entry: name, kind, script }: ScriptCase, prompts: boolean) {
    const entry = this.data.entries.get(name)!;
    const played = infer(this.data, entry, kind, script);
    return {
      id,
      response: played.response,
      ...this.#turns(entry, played.response),
      steps_per_turn: played.steps,
      verdict: shortened(verdictOf(this.data, entry, played)),
      ...(prompts && { prompts: { [kind]: played.prompts } }),
    };
  }

  #turns(entry: Entry, response: Response) {
    const objects = new Instances(settingOf(entry), this.data.tables);
    const turns = response.map((steps) => ({
      results: steps.flat().map((call) => this.#run(objects, call)),
      state: stateHash(objects.state(), this.hash),
    }));
    return { results: turns.map(({ results }) => results), state_sha256_js: turns.map(({ state }) => state) };
  }

  #run(objects: Instances, call: string): string {
    const { text, error } = objects.run(call);
    this.calls += 1;
    if (error) this.errors += 1;
    return text;
  }
}

/** The answers of a model that makes these calls. After the last call of a turn, it says that it is done. */
function scriptOf(kind: Kind, response: Response): Answer[][] {
  return response.map((steps, turn) => {
    const own = steps.filter((calls) => calls.length > 0);
    const end = own.length > 0 ? `Done with turn ${turn}.` : 'A needed function or value is missing, so nothing was done.';
    return [...own.map((calls) => answerOf(kind, calls)), kind.startsWith('openai') ? { role: 'assistant' as const, content: end } : end];
  });
}

/** The answer with these calls, as the kind of model writes it. A text that is no call stays a text. */
function answerOf(kind: Kind, texts: readonly string[]): Answer {
  const calls = texts.map((text) => {
    const call = toolCallOf(text);
    return { name: call?.name ?? text, args: call ? argumentsOf(call) : null };
  });
  const plain = calls.some(({ args }) => args === null);
  switch (kind) {
    case 'qwen_fc':
      return plain
        ? texts.join('\n')
        : calls.map(({ name, args }) => `<tool_call>\n${dumps(dict({ name, arguments: args }))}\n</tool_call>`).join('\n');
    case 'openai_fc':
      if (plain) return { role: 'assistant', content: texts.join('\n') };
      return {
        role: 'assistant',
        content: null,
        tool_calls: calls.map(({ name, args }, i) => ({ id: `call_${i}`, function: { name, arguments: dumps(args) } })),
      };
    default: {
      const list = `[${calls.map(({ name, args }) => (args ? callText(name, args, ', ') : name)).join(', ')}]`;
      return kind === 'qwen_prompt' ? list : { role: 'assistant', content: list };
    }
  }
}

/** The longest text of a missing result. */
const LONGEST = 300;

/** The verdict with short missing results. */
function shortened({ missing_items, ...verdict }: BfclVerdict): object {
  return missing_items ? { ...verdict, missing_items: missing_items.map((text) => shortText(text, LONGEST)) } : verdict;
}

/** A text of more than `most` characters as its length, SHA-256 and ends. */
export function shortText(text: string, most: number): unknown {
  const chars = [...text];
  if (chars.length <= most) return text;
  return { len: chars.length, sha256: sha256(text), head: chars.slice(0, 160).join(''), tail: chars.slice(-80).join('') };
}
