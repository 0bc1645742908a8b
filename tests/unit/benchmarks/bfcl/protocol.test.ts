/** BFCL's inference loop, prompts and decoding against those of the original handlers. */
import { expect, test } from 'vitest';
import { decodePrompt, decodeQwen, decodeTools, splitThoughts } from '../../../../src/benchmarks/bfcl/decode.ts';
import { functionsOf, openaiTools } from '../../../../src/benchmarks/bfcl/functions.ts';
import { type Answer, infer, type Kind, verdictOf } from '../../../../src/benchmarks/bfcl/inference.ts';
import { dumps } from '../../../../src/python/text.ts';
import { bfclFolder, expectedBfcl, hasBfcl, readFolder, sha256 } from '../../../support/bfcl-data.ts';

if (!hasBfcl) console.warn(`SKIPPED: BFCL's prompts against its original code: ${bfclFolder} and ../expected do not exist`);
const reference = test.skipIf(!hasBfcl);

interface Transcript {
  id: string;
  kind: Kind;
  name?: string;
  script: Answer[][];
  prompts: (string | { len: number; sha256: string })[];
  steps_per_turn?: number[];
  evaluation?: { valid: boolean; decoded?: string[][][] };
  raises?: string;
}
interface Decoded {
  kind: string;
  text?: string;
  tool_calls?: Record<string, string>[] | string;
  calls?: string[];
  error?: string;
  decoded_from_cleaned?: { calls?: string[]; error?: string };
  ends_turn: boolean;
}
interface Protocol {
  entries: {
    id: string;
    n_functions: number;
    functions_sha256: string;
    tools_openai_sha256: string;
    held_out?: Record<string, string[]>;
  }[];
  transcripts: Transcript[];
  decode: Decoded[];
}

const same = (ours: string, theirs: string | { len: number; sha256: string }) =>
  typeof theirs === 'string' ? ours === theirs : [...ours].length === theirs.len && sha256(ours) === theirs.sha256;

reference('the functions that a model is shown', async () => {
  const data = await readFolder(bfclFolder);
  for (const { id, n_functions, functions_sha256, tools_openai_sha256 } of expectedBfcl<Protocol>('protocol').entries) {
    const { first } = functionsOf(data, data.entries.get(id)!, data.prompts!.hint);
    expect(first.length, id).toBe(n_functions);
    expect(sha256(dumps(first)), id).toBe(functions_sha256);
    expect(sha256(dumps(openaiTools(first))), id).toBe(tools_openai_sha256);
  }
});

reference('266 conversations: prompts, steps and verdicts', { timeout: 60_000 }, async () => {
  const data = await readFolder(bfclFolder);
  const { transcripts } = expectedBfcl<Protocol>('protocol');
  expect(transcripts).toHaveLength(266);
  const wrong: unknown[] = [];
  for (const { id, kind, name, script, prompts, steps_per_turn, evaluation, raises } of transcripts) {
    const entry = data.entries.get(id)!;
    const played = infer(data, entry, kind, script);
    const at = prompts.findIndex((prompt, i) => played.prompts[i] === undefined || !same(played.prompts[i], prompt));
    if (at >= 0 || played.prompts.length !== prompts.length)
      wrong.push({ id, kind, name, prompt: at, ours: played.prompts[at]?.slice(-600), theirs: prompts[at] });
    expect(played.failure !== undefined, `${id} ${kind} ${name}`).toBe(raises !== undefined);
    if (raises !== undefined) continue;
    expect(played.steps, `${id} ${kind} ${name}`).toEqual(steps_per_turn);
    const { decoded, ...verdict } = evaluation!;
    if (decoded) expect(played.response).toEqual(decoded);
    const { attributes: _, missing_items: __, irrelevance_error: ___, ...ours } = verdictOf(data, entry, played);
    expect(ours, `${id} ${kind} ${name}`).toEqual(verdict);
  }
  expect(wrong.slice(0, 3)).toEqual([]);
});

reference('105 decoding cases', () => {
  const { decode } = expectedBfcl<Protocol>('protocol');
  expect(decode).toHaveLength(105);
  for (const { kind, text = '', tool_calls, calls, error, decoded_from_cleaned, ends_turn } of decode) {
    const decoded = (work: () => string[]) => {
      try {
        return { calls: work() };
      } catch {
        return { error: expect.any(String) as unknown };
      }
    };
    const wanted = calls ? { calls } : { error };
    if (kind === 'prompt')
      expect(
        decoded(() => decodePrompt(text)),
        text,
      ).toEqual(wanted);
    else if (kind === 'openai_fc') {
      const given = Array.isArray(tool_calls)
        ? tool_calls.flatMap((one) => Object.entries(one).map(([name, args]) => ({ name, arguments: args })))
        : [];
      if (Array.isArray(tool_calls))
        expect(
          decoded(() => decodeTools(given)),
          JSON.stringify(tool_calls),
        ).toEqual(wanted);
      else expect(ends_turn).toBe(true);
    } else {
      expect(
        decoded(() => decodeQwen(text)),
        text,
      ).toEqual(wanted);
      expect(
        decoded(() => decodeQwen(splitThoughts(text).text)),
        text,
      ).toEqual(decoded_from_cleaned);
    }
  }
});
