/** @file The schema of an initial state, in tau2-bench's format. Tasks and cases of `mua replay` begin in such a state. */
import { z } from 'zod';

const json = z.record(z.string(), z.unknown());
export const environmentCall = z.looseObject({ env_type: z.enum(['assistant', 'user']), func_name: z.string(), arguments: json });

export const initialStateSchema = z.looseObject({
  initialization_data: z.looseObject({ agent_data: json.nullish(), user_data: json.nullish() }).nullish(),
  initialization_actions: z.array(environmentCall).nullish(),
  message_history: z.array(z.looseObject({ role: z.string() })).nullish(),
});
