/** @file The cases of `mua replay --rules acebench`: tasks with the texts of an agent, and messages put straight to the execution. */
import { z } from 'zod';
import { canonicalJson } from '../../base/json.ts';
import { sha256 } from '../../base/sha256.ts';
import { check, ImportError } from '../../exchange/import-error.ts';
import { jsonPath } from '../../base/schema-fault.ts';
import { loads } from '../../python/json.ts';
import { Dict, dict, type Value } from '../../python/values.ts';
import type { Json } from '../../records/json.ts';
import type { ReplayJob, ReplayOutput } from '../definition.ts';
import { parseJson } from '../import/parse.ts';
import { type AceVerdict, setScores, verdictOf } from './check.ts';
import { type Language, LANGUAGES } from './classes/api.ts';
import { CLASSES } from './classes/index.ts';
import { type AceData, readAce } from './data.ts';
import { decode, isForExecution } from './decode.ts';
import { infer, type Message, UNREADABLE } from './inference.ts';
import { Instances, type Kind, KINDS } from './instances.ts';
import { throughJson, toJson } from './plain.ts';
import { languagesOf, rootOf } from './source-files.ts';

const id = z.union([z.string(), z.number()]);
const lang = z.enum(LANGUAGES);
const casesSchema = z.strictObject({
  cases: z.array(
    z.union([
      z.strictObject({
        id,
        lang,
        entry: z.string(),
        agent: z.array(z.string()),
        user: z.array(z.string()).optional(),
        max_turns: z.int().min(0).optional(),
        api_agent: z.boolean().optional(),
      }),
      z.strictObject({
        id,
        lang,
        kind: z.enum(KINDS),
        involved_classes: z.array(z.enum(Object.keys(CLASSES))),
        initial_config: z.record(z.string(), z.unknown()),
        messages: z.array(z.string()),
      }),
    ]),
  ),
});

interface PlayedCase {
  id: string | number;
  lang: Language;
  entry: string;
  agent: string[];
  user?: string[];
  max_turns?: number;
  /** Whether the agent is behind an API: upstream then always uses the Chinese prompts of multi-step tasks. */
  api_agent?: boolean;
}
interface ExecutionCase {
  id: string | number;
  lang: Language;
  kind: Kind;
  involved_classes: string[];
  initial_config: Record<string, Json>;
  messages: string[];
}

/** @throws {ImportError} that names the file, the path and the reason */
export async function replayAce({ paths, read, file, text, prompts, hash, onProgress }: ReplayJob): Promise<ReplayOutput> {
  const { cases } = check<{ cases: (PlayedCase | ExecutionCase)[] }>(casesSchema, parseJson(file, text), file);
  const data = new Map<Language, AceData>();
  // Names the missing files.
  rootOf(paths);
  for (const language of languagesOf(paths)) data.set(language, await readAce(paths, language, read));
  // JSON.parse makes 5 of 5.0, so the configs are read again as Python reads them.
  const exact = (loads(text) as Dict).get('cases') as Dict[];
  for (const [i, one] of cases.entries()) {
    const own = data.get(one.lang);
    const wrong = (field: string, reason: string) => new ImportError(file, jsonPath(['cases', i, field]), reason);
    if (!own) throw wrong('lang', `it is "${one.lang}": the data has ${[...data.keys()].join(' and ') || 'no language'}`);
    if ('entry' in one && !own.entries.has(one.entry))
      throw wrong(
        'entry',
        `it is "${one.entry}": expected one of the ${own.entries.size} tasks of the data, such as "${[...own.entries.keys()][0]}"`,
      );
  }
  if (prompts && [...data.values()].some((own) => !own.prompts))
    throw new ImportError('the data', '', 'there are no prompts: expected prompts.json, or the whole repository of ACEBench');
  const replayer = new Replayer(data, hash ?? sha256);
  function* results(): Generator<object> {
    for (const [i, one] of cases.entries()) {
      yield 'entry' in one ? replayer.played(one, prompts) : replayer.executed(one, exact[i]!.get('initial_config') as Dict);
      onProgress?.(i + 1, cases.length, 'cases');
    }
  }
  return { cases: results(), counts: () => ({ calls: replayer.calls, errors: replayer.errors }) };
}

/** How the reference writes the result of a message that failed as a whole. */
const FAILED = '<32 characters>';

class Replayer {
  calls = 0;
  errors = 0;

  constructor(
    private readonly data: ReadonlyMap<Language, AceData>,
    private readonly hash: (text: string) => string,
  ) {}

  #sha256 = (value: Value) => this.hash(canonicalJson(toJson(value)));

  played({ id, lang, entry: name, agent, user, max_turns, api_agent = false }: PlayedCase, prompts: boolean) {
    const { entries, states, prompts: own } = this.data.get(lang)!;
    const entry = entries.get(name)!;
    const chinese = api_agent && entry.kind === 'multi_step' ? this.data.get('zh')?.prompts : undefined;
    const given = prompts ? { agent: chinese ?? own!, user: own! } : undefined;
    const { history, process, result, agentPrompts, userCalls, calls, errors } = infer(
      entry,
      states,
      { agent, user, maxTurns: max_turns },
      given,
    );
    this.calls += calls;
    this.errors += errors;
    return {
      id,
      senders: history.map(({ sender }) => sender[0]).join(''),
      execution: history.filter(({ sender }) => sender === 'execution').map(responseOf),
      process_list_length: process.length,
      result: result.map(toJson),
      result_sha256_js: this.#sha256(result),
      verdict: this.#shortened(verdictOf(entry, result, process)),
      ...(given && { agent_prompts: agentPrompts, user_model_calls: userCalls }),
    };
  }

  executed({ id, lang, kind, involved_classes, messages }: ExecutionCase, config: Dict) {
    const objects = new Instances({ language: lang, kind, involved: involved_classes, config }, this.data.get(lang)!.states);
    let reached = false;
    const responses = messages.map((message) => {
      let calls: string[];
      try {
        calls = decode(message, kind === 'multi_turn');
      } catch {
        return kind === 'multi_turn' ? { unreachable: true } : UNREADABLE;
      }
      const { results, failed, errors } = objects.run(calls);
      reached = true;
      this.calls += calls.length;
      this.errors += errors;
      return failed ? FAILED : results.map(toJson);
    });
    // Upstream makes the objects when the first message is executed.
    const state = Object.entries(reached ? objects.state() : {}).map(([name, own]): [Value, Value] => [name, throughJson(dict(own))]);
    return {
      id,
      responses,
      ...(kind === 'multi_turn' && { route: messages.map((message) => (isForExecution(message) ? 'execution' : 'user')) }),
      saved: reached ? objects.saved().map(toJson) : [],
      state_sha256_js: this.#sha256(new Dict(state)),
    };
  }

  /** The verdict with the score of a set of one task, and with long texts as the reference stores them. */
  #shortened({ error, ...verdict }: AceVerdict) {
    const text = (one: string) => {
      const chars = [...one];
      return chars.length <= MOST ? one : { len: chars.length, sha256: this.hash(one), head: chars.slice(0, HEAD).join('') };
    };
    return { ...verdict, process: setScores([verdict]).process_accuracy, ...(error && { error: error.map((list) => list.map(text)) }) };
  }
}

const MOST = 260;
const HEAD = 200;

const responseOf = ({ message, failed }: Message): Json => (failed ? FAILED : typeof message === 'string' ? message : message.map(toJson));
