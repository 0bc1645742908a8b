/** @file Reads what `mua synthesize --json` printed. */
import { z } from 'zod';
import { InputError } from '../base/input-error.ts';
import { NEAR_MISSES } from '../records/scenario.ts';
import { STEPS } from '../records/written.ts';
import type { SynthesisReport } from './funnel.ts';

const count = z.int().min(0);
const counts = { tried: count, solved: count, kept: count };
/** It stands in the card as code, so it must have no marks. */
const sha256 = z.string().regex(/^[0-9a-f]{64}$/, 'no SHA-256');
const usage = z.object({ calls: count, retries: count, unreported: count, prompt_tokens: count, completion_tokens: count, seconds: z.number(), cost: z.number().exactOptional() }); // prettier-ignore
const who = { model: z.string(), temperature: z.number() };

const reportSchema = z.object({
  places: z.array(z.object({ domain: z.string(), level: z.string(), world_sha256: sha256.exactOptional(), ...counts })),
  ...counts,
  dropped: count.exactOptional(),
  seconds: z.number().min(0),
  near_misses: z.object({ kept: z.record(z.enum(NEAR_MISSES), count), dropped: count }).exactOptional(),
  writers: z
    .object({
      agent: z.object({ ...who, hint: z.boolean() }).exactOptional(),
      customer: z.object(who).exactOptional(),
      refused: z.record(z.enum(STEPS), count),
      reasons: z.record(z.string(), count),
      wishes: z.record(z.string(), z.object({ tried: count, solved: count })),
      spent: z.object({ agent: usage.nullable(), customer: usage.nullable() }),
    })
    .exactOptional(),
});

/** @throws InputError naming the field */
export function readSynthesis(value: unknown, where: string): SynthesisReport {
  const read = reportSchema.safeParse(value);
  if (read.success) return read.data;
  const [{ path, message } = { path: [], message: '' }] = read.error.issues;
  throw new InputError(`${where}: ${path.join('.') || 'the file'}: ${message}: expected what mua synthesize --json prints`);
}
