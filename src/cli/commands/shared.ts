/** @file What several commands share: flags for the model, the output and the simulated user, and formats of results. */
import { demonstrated, LEVELS, LEVELS_IN_WORDS, usualLevel } from '../../domains/registry.ts';
import type { EvaluationReport } from '../../records/evaluation.ts';
import { type BrowserUser, ONNX_DTYPES, type UserConfig } from '../../records/user.ts';
import { type Flag, type Flags, kebabCase, type Values } from '../args.ts';
import { type CustomerFolder, findCustomerFolder, FOLDER } from '../customer-folder.ts';
import { CommandError, UsageError } from '../errors.ts';
import { onInterrupt } from '../files.ts';
import { readServer, withoutSecrets } from './server.ts';
import type { UserEndpoint } from '../backend-job.ts';

export const MODEL = {
  type: 'string',
  value: 'DIR',
  help: 'model folder in Hugging Face layout, or a GGUF file',
  required: true,
} as const satisfies Flag;
export const WEIGHTS = {
  lora: { type: 'string', value: 'DIR', help: 'LoRA adapter in PEFT’s format; it is not merged into the weights' },
  precision: {
    type: 'string',
    value: 'NAME',
    help: 'format of the weight matrices: f32, bf16, int8 or int4 (with one scale for 32 values)',
    default: 'f32',
    choices: ['f32', 'bf16', 'int8', 'int4'],
  },
} as const satisfies Flags;

export const JSON_FLAG = { type: 'boolean', help: 'print one JSON document on stdout' } as const satisfies Flag;
export const SET = {
  type: 'list',
  value: 'KEY=VALUE',
  help: 'a setting under its verl (or TRL) name; may be repeated',
} as const satisfies Flag;
export const INPUT = { type: 'string', value: 'FILE.json', help: 'input file', required: true } as const satisfies Flag;
export const OUTPUT = { type: 'string', value: 'FILE.json', help: 'output file', required: true } as const satisfies Flag;
/** The domain if no flag names one. */
export const DEFAULT_DOMAIN = 'retail';
export const DOMAIN = {
  type: 'string',
  value: 'NAME',
  help: 'domain of the tasks',
  default: DEFAULT_DOMAIN,
  choices: demonstrated().map(({ name }) => name),
} as const satisfies Flag;
export const LEVEL = {
  type: 'string',
  value: 'NAME',
  help: `difficulty: ${LEVELS_IN_WORDS}`,
  default: usualLevel(DEFAULT_DOMAIN)!,
  choices: LEVELS,
} as const satisfies Flag;
export const USER_FLAGS = {
  user: {
    type: 'string',
    value: 'CUSTOMER',
    help: 'simulated customer: scripted, learned (the bundled language model), hub:OWNER/NAME@PRECISION (a model of the Hugging Face Hub, run in the browser), folder:DIR@PRECISION (a folder of mua export --format onnx, run in the browser), or the URL of any OpenAI-compatible server',
    default: 'scripted',
  },
  'user-model': {
    type: 'string',
    value: 'NAME',
    help: 'model to use on the server (default: the first chat model that it lists); set MUA_USER_KEY to the server’s API key',
  },
  'user-temperature': { type: 'number', value: 'T', help: 'sampling temperature of the server’s model (default 0)', min: 0 },
  'user-max-tokens': {
    type: 'integer',
    value: 'N',
    help: 'most tokens in one message of the server’s model, including thoughts (default 4096)',
    min: 1,
  },
  'user-body': {
    type: 'string',
    value: 'JSON',
    help: 'more fields of each request to the server, such as {"top_k": 20}; null removes a field; stored with the results',
  },
  'user-device': {
    type: 'string',
    value: 'DEVICE',
    help: 'where a model in the browser runs: wasm (default) or webgpu',
    choices: ['wasm', 'webgpu'],
  },
  'judge-model': {
    type: 'string',
    value: 'NAME',
    help: "model of the same server that judges tau2-bench's assertions in natural language (default: the customer's)",
  },
  'judge-customer': {
    type: 'boolean',
    help: 'in tasks of imported benchmarks, the judge also looks for mistakes of the customer that rules cannot find',
  },
} as const satisfies Flags;

/** The flags for the costs of the customer's server. Only for training. */
export const COST_FLAGS = {
  'user-prompt-price': { type: 'number', value: 'X', help: 'price of a million prompt tokens of the server, in any unit of money', min: 0 },
  'user-completion-price': {
    type: 'number',
    value: 'X',
    help: 'price of a million completion tokens of the server, in the same unit',
    min: 0,
  },
  'user-budget': { type: 'number', value: 'X', help: 'stop before the next step after the customer has cost this much', min: 0 },
} as const satisfies Flags;

/** The language model that plays the customer in the browser. Null if `user` names none. */
function readLocal(user: string, device: 'wasm' | 'webgpu', flag = '--user'): BrowserUser | null {
  if (user === 'learned') return { mode: 'local', source: 'bundled', model: 'nano-customer', precision: 'fp32', device };
  if (!user.startsWith('hub:')) return null;
  const [model = '', name = 'q4'] = user.slice('hub:'.length).split('@');
  const precision = ONNX_DTYPES.find((known) => known === name);
  if (!/^[\w.-]+\/[\w.-]+$/.test(model) || !precision)
    throw new UsageError(`${flag} is "${user}": expected hub:OWNER/NAME or hub:OWNER/NAME@PRECISION, one of ${ONNX_DTYPES.join(', ')}`);
  return { mode: 'local', source: 'hub', model, precision, device };
}

/** The customer of the held-out evaluations. It must be one that needs no server. */
export function readValUser(text: string, device: 'wasm' | 'webgpu' = 'wasm'): BrowserUser {
  const user: BrowserUser | null = text === 'scripted' ? { mode: 'scripted' } : readLocal(text, device);
  if (!user) throw new UsageError(`--val-user is "${withoutSecrets(text)}": expected scripted, learned or hub:OWNER/NAME`);
  return user;
}

/** The values of the flags in `USER_FLAGS` and `COST_FLAGS`. */
export type UserValues = { user: string } & {
  [Name in keyof Values<typeof USER_FLAGS & typeof COST_FLAGS>]?: Values<typeof USER_FLAGS & typeof COST_FLAGS>[Name] | undefined;
};

/** The flags that only a customer behind a server has, with their values. */
const serverFlags = ({ userModel, userTemperature, userMaxTokens, userBody, judgeModel, judgeCustomer }: Partial<UserValues>) => ({
  'user-model': userModel,
  'user-temperature': userTemperature,
  'user-max-tokens': userMaxTokens,
  'user-body': userBody,
  'judge-model': judgeModel,
  'judge-customer': judgeCustomer,
});

/**
 * The simulated customer that the flags name. If they name no model of a server, its list of models is read.
 * @param flag the flag with the value `user`, for messages
 */
export async function readUser(
  values: UserValues,
  flag = '--user',
): Promise<{ user: UserConfig; userEndpoint?: UserEndpoint; folder?: CustomerFolder }> {
  const {
    user,
    userModel,
    judgeModel,
    judgeCustomer,
    userDevice,
    userTemperature: temperature,
    userMaxTokens: maxTokens,
    userBody,
  } = values;
  const { userPromptPrice: promptPrice, userCompletionPrice: completionPrice, userBudget: budget } = values;
  const costs = { promptPrice, completionPrice, budget };
  const folder = user.startsWith(FOLDER) ? await findCustomerFolder(user, flag) : undefined;
  const device = userDevice ?? 'wasm';
  const local: BrowserUser | null = folder
    ? { mode: 'local', source: 'folder', model: folder.model, precision: folder.precision, device }
    : readLocal(user, device, flag);
  if (user === 'scripted' || local) {
    if (Object.values(costs).some((value) => value !== undefined))
      throw new UsageError(`a price or --user-budget is given: expected ${flag} URL with it`);
    const [extra] = Object.entries(serverFlags(values)).find(([, value]) => value !== undefined && value !== false) ?? [];
    if (extra) throw new UsageError(`--${extra} is given: expected ${flag} URL with it`);
    return { user: local ?? { mode: 'scripted' }, ...(folder && { folder }) };
  }
  const names = { flag, prefix: 'user', key: 'MUA_USER_KEY' } as const;
  const settings = { judgeModel, judgeCustomer: judgeCustomer || undefined, temperature, maxTokens, ...costs };
  const { config, apiKey } = await readServer(
    names,
    { address: user, model: userModel, body: userBody, settings },
    'scripted, learned, hub:OWNER/NAME, folder:DIR or an http(s) URL',
  );
  return { user: { mode: 'endpoint', ...config }, userEndpoint: { baseUrl: config.baseUrl, apiKey } };
}

export const percent = (x: number): string => `${(100 * x).toFixed(1)} %`;

/**
 * Checks that no other flags are given, for example with `--resume`, because the settings come from the folder.
 * @param why the end of the message
 */
export function checkAlone(
  flags: Record<string, unknown>,
  allowed: readonly string[],
  why = '--resume takes the settings of the run',
): void {
  const given = Object.entries(flags).find(
    ([name, value]) => !allowed.includes(name) && value !== undefined && !(Array.isArray(value) && value.length === 0),
  );
  if (given) throw new UsageError(`--${kebabCase(given[0])} is given: ${why}`);
}

/**
 * Does the work whose results are stored in a folder. If the work is stopped or fails, the message says how to continue.
 * @param nothing what is said if the work is stopped before there is anything to continue
 */
export async function keepWhenStopped<T>(
  folder: { stop(state: 'interrupted' | 'failed', message?: string): Promise<void>; continuation: string | null } | null,
  nothing: string,
  work: () => Promise<T>,
): Promise<T> {
  const forget = onInterrupt(async () => {
    await folder?.stop('interrupted');
    return folder?.continuation ?? nothing;
  });
  if (!folder) return work().finally(forget);
  try {
    return await work();
  } catch (error) {
    const { message } = error as Error;
    await folder.stop('failed', message);
    if (!folder.continuation) throw error;
    const Same = error instanceof UsageError ? UsageError : CommandError;
    throw new Same(`${message}. ${folder.continuation}`);
  } finally {
    forget();
  }
}

/** The success rate with its confidence interval. */
export function passLine(report: Pick<EvaluationReport, 'pass_hat'> | null): string {
  const first = report?.pass_hat[0];
  return first ? `${percent(first.value)} (${percent(first.low)} to ${percent(first.high)})` : 'not measured';
}
