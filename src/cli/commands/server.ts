/** @file Reads the flags of a server whose model plays the customer or the agent, or judges conversations. */
import { shown } from '../../base/input-error.ts';
import { isObject } from '../../base/json.ts';
import type { EndpointConfig } from '../../records/user.ts';
import { checkServer, firstChatModel } from '../../trainer/customer-server.ts';
import { UsageError } from '../errors.ts';
import type { KeyName } from '../key-origin.ts';

/** Hides the parts of URLs in a message that may be secret: user, password, query and fragment. */
export const withoutSecrets = (text: string): string => text.replace(/\/\/[^/\s"]*@/g, '//…@').replace(/[?#][^\s"]+/g, '?…');

/** The names in messages: of the flag with the address, of the other flags before their dash, and of the variable with the key. */
export interface ServerNames {
  flag: string;
  prefix: 'user' | 'agent' | 'judge' | 'answer';
  key: KeyName;
}

/**
 * The server that the flags name. If they name no model, the server's list of models is read.
 * @param expected what the flag takes, for a message
 */
export async function readServer(
  names: ServerNames,
  given: { address: string; model: string | undefined; body: string | undefined; settings: Partial<Record<keyof EndpointConfig, unknown>> },
  expected: string,
): Promise<{ config: EndpointConfig; apiKey: string | undefined }> {
  const { flag, prefix, key } = names;
  const { budget, promptPrice, completionPrice } = given.settings;
  if (budget !== undefined && !promptPrice && !completionPrice)
    throw new UsageError(
      `--${prefix}-budget is ${budget}: expected --${prefix}-prompt-price or --${prefix}-completion-price above 0 with it`,
    );
  const url = URL.canParse(given.address) ? new URL(given.address) : null;
  if (!url || !/^https?:$/.test(url.protocol)) throw new UsageError(`${flag} is "${withoutSecrets(given.address)}": expected ${expected}`);
  if (/^\/*$/.test(url.pathname)) url.pathname = '/v1';
  const baseUrl = url.href;
  const apiKey = process.env[key];
  const model = given.model ?? (await firstModel(names, baseUrl, apiKey));
  const settings = { ...given.settings, extraBody: readBody(prefix, given.body) };
  const config = { baseUrl, model, ...Object.fromEntries(Object.entries(settings).filter(([, value]) => value !== undefined)) };
  try {
    checkServer(config);
  } catch (error) {
    throw new UsageError(`${flag} is "${withoutSecrets(baseUrl)}": ${(error as Error).message.replace('extraBody', `--${prefix}-body`)}`);
  }
  return { config, apiKey };
}

function readBody(prefix: string, text: string | undefined): Record<string, unknown> | undefined {
  if (text === undefined) return undefined;
  try {
    const body: unknown = JSON.parse(text);
    if (isObject(body)) return body;
  } catch {}
  throw new UsageError(`--${prefix}-body is ${shown(text)}: expected a JSON object such as {"top_k": 20}`);
}

async function firstModel({ flag, prefix, key }: ServerNames, baseUrl: string, apiKey: string | undefined): Promise<string> {
  try {
    return await firstChatModel({ baseUrl, ...(apiKey !== undefined && { apiKey }) });
  } catch (error) {
    const { message, kind } = error as Error & { kind?: string };
    const remedy = kind === 'auth' ? `set ${key} to its API key` : `start the server, or name a model with --${prefix}-model`;
    throw new UsageError(`${flag} is "${withoutSecrets(baseUrl)}": could not list its models (${withoutSecrets(message)}); ${remedy}`);
  }
}

/** @throws UsageError if an address that --out stores may have secrets */
export function checkAddress(flag: string, address: string, key: string): void {
  if (withoutSecrets(address) === address) return;
  throw new UsageError(
    `${flag} is "${withoutSecrets(address)}": expected an address without user name and query, as --out stores the address; ${key} holds a key`,
  );
}
