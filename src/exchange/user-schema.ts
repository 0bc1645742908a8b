/** @file The schema of customers that need no server, for run bundles and experiments. */
import * as z from 'zod/mini';
import { type LocalConfig, ONNX_DTYPES } from '../records/user.ts';
import { type Fields, name, number, oneOf } from './schema-fields.ts';

const SOURCES: Record<LocalConfig['source'], true> = { hub: true, folder: true, bundled: true };
const DEVICES: Record<LocalConfig['device'], true> = { webgpu: true, wasm: true };
export const local = z.object({
  mode: z.literal('local'),
  source: oneOf(SOURCES),
  model: name,
  precision: z.enum(ONNX_DTYPES),
  hub: z.optional(name),
  device: oneOf(DEVICES),
  temperature: z.optional(number),
  maxTokens: z.optional(number),
  timeoutMs: z.optional(number),
} satisfies Fields<LocalConfig> & { mode: unknown });
export const scripted = z.object({ mode: z.literal('scripted') });
