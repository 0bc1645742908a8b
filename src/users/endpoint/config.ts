/** @file Checks the configuration of an endpoint. */
import { shown } from '../../base/input-error.ts';
import type { EndpointConfig } from '../../records/user.ts';
import { UserError } from '../types.ts';

/** Fields that the client writes. The extra body cannot replace them. */
const OWN = ['model', 'messages', 'tools', 'scenario'];

/** The URL of the server's chat completions. @throws UserError (`bad_response`) if a field is invalid */
export function checkEndpoint({ baseUrl, model, concurrency = 8, temperature, maxTokens, extraBody }: EndpointConfig): URL {
  const url = completionsUrl(baseUrl);
  if (!model) throw wrong('model is empty: expected the name of a model at the endpoint');
  if (!Number.isInteger(concurrency) || concurrency < 1)
    throw wrong(`concurrency is ${shown(concurrency)}: expected a whole number from 1 on`);
  if (temperature !== undefined && !(Number.isFinite(temperature) && temperature >= 0))
    throw wrong(`temperature is ${shown(temperature)}: expected a number from 0 on`);
  if (maxTokens !== undefined && !(Number.isInteger(maxTokens) && maxTokens >= 1))
    throw wrong(`maxTokens is ${shown(maxTokens)}: expected a whole number from 1 on`);
  if (extraBody !== undefined) {
    if (typeof extraBody !== 'object' || extraBody === null || Array.isArray(extraBody))
      throw wrong(`extraBody is ${shown(extraBody)}: expected a JSON object`);
    const own = OWN.find((name) => Object.hasOwn(extraBody, name));
    if (own) throw wrong(`extraBody has the field "${own}": expected fields that the client does not write itself`);
  }
  return url;
}

const wrong = (message: string) => new UserError(message, 'bad_response');

function completionsUrl(baseUrl: string): URL {
  const url = URL.canParse(baseUrl) ? new URL(baseUrl) : null;
  if (!url || !/^https?:$/.test(url.protocol))
    throw wrong('the base URL is not an http(s) address: expected one such as http://localhost:11434/v1');
  // The query of the URL, such as ?api-version=…, is kept.
  url.pathname = `${url.pathname.replace(/\/+$/, '').replace(/\/chat\/completions$/, '')}/chat/completions`;
  return url;
}
