/** @file The visitor's settings of a server whose model plays the customer or the agent. */
import type { EndpointConfig } from '../../records/user.ts';

export interface StoredServer {
  baseUrl: string;
  model: string;
  /** The temperature and the most tokens of a message; null if not given. */
  temperature: number | null;
  maxTokens: number | null;
  /** More fields of each request, as JSON; '' if there are none. */
  extraBody: string;
  /** The prices per million tokens; null if not given. */
  promptPrice: number | null;
  completionPrice: number | null;
  /** The budget of a run, in the unit of the prices. */
  budget: number | null;
}

export const SERVER_DEFAULTS: StoredServer = {
  baseUrl: 'http://localhost:11434/v1',
  model: '',
  temperature: null,
  maxTokens: null,
  extraBody: '',
  promptPrice: null,
  completionPrice: null,
  budget: null,
};

export class ServerSettings implements StoredServer {
  baseUrl = $state(SERVER_DEFAULTS.baseUrl);
  model = $state('');
  temperature = $state<number | null>(null);
  maxTokens = $state<number | null>(null);
  extraBody = $state('');
  promptPrice = $state<number | null>(null);
  completionPrice = $state<number | null>(null);
  budget = $state<number | null>(null);
  /** The API keys that the visitor has typed, by the origin of their server. They are not stored, so they are lost when the tab is closed. */
  #keys = $state.raw<Readonly<Record<string, string>>>({});

  /** The API key of the server. Another server never gets it. */
  get apiKey(): string {
    return this.#keys[this.origin] ?? '';
  }

  set apiKey(key: string) {
    if (this.origin !== '') this.#keys = { ...this.#keys, [this.origin]: key };
  }

  /** All API keys, to remove them from exports. */
  get keys(): string[] {
    return Object.values(this.#keys).filter(Boolean);
  }

  /** The origin of the server. '' if the base URL is none. */
  get origin(): string {
    const baseUrl = this.baseUrl.trim();
    return /^https?:/i.test(baseUrl) && URL.canParse(baseUrl) ? new URL(baseUrl).origin : '';
  }

  /** The server as the client gets it. */
  get endpoint(): EndpointConfig {
    const { temperature, maxTokens, promptPrice, completionPrice, budget } = this;
    const extraBody = readObject(this.extraBody);
    return {
      baseUrl: this.baseUrl.trim(),
      model: this.model.trim(),
      ...(temperature !== null && { temperature }),
      ...(maxTokens !== null && { maxTokens }),
      ...(extraBody && { extraBody }),
      ...(promptPrice !== null && { promptPrice }),
      ...(completionPrice !== null && { completionPrice }),
      ...(budget !== null && { budget }),
      ...(this.apiKey && { apiKey: this.apiKey }),
    };
  }

  /** What is stored of the server. */
  get stored(): StoredServer {
    const { baseUrl, model, temperature, maxTokens, extraBody, promptPrice, completionPrice, budget } = this;
    return { baseUrl, model, temperature, maxTokens, extraBody, promptPrice, completionPrice, budget };
  }

  /** Why the server cannot be used; '' if it can. @param who whom its model plays */
  serverProblem(who: 'customer' | 'agent'): string {
    if (!URL.canParse(this.baseUrl.trim())) return 'The base URL is not a URL, e.g. http://localhost:11434/v1.';
    for (const [field, value] of Object.entries({
      'prompt price': this.promptPrice,
      'completion price': this.completionPrice,
      budget: this.budget,
      temperature: this.temperature,
    }))
      if (value !== null && value < 0) return `The ${field} is ${value}: expected a number from 0 on.`;
    if (this.budget !== null && !this.promptPrice && !this.completionPrice)
      return `The budget is ${this.budget}: expected a price of tokens too.`;
    if (this.maxTokens !== null && !(Number.isInteger(this.maxTokens) && this.maxTokens > 0))
      return `The most tokens of a message is ${this.maxTokens}: expected a whole number from 1 on.`;
    if (this.extraBody.trim() !== '' && !readObject(this.extraBody)) return 'The extra fields are not a JSON object, e.g. {"top_k": 20}.';
    return this.model.trim() === '' ? `Name the model that plays the ${who}.` : '';
  }
}

/** What the browser has stored of a server, as far as it is valid. */
export function readServer(stored: Partial<Record<keyof StoredServer, unknown>>): StoredServer {
  const text = (name: 'baseUrl' | 'model' | 'extraBody') => (typeof stored[name] === 'string' ? stored[name] : SERVER_DEFAULTS[name]);
  const amount = (name: 'temperature' | 'maxTokens' | 'promptPrice' | 'completionPrice' | 'budget') =>
    typeof stored[name] === 'number' ? stored[name] : null;
  return {
    baseUrl: text('baseUrl'),
    model: text('model'),
    temperature: amount('temperature'),
    maxTokens: amount('maxTokens'),
    extraBody: text('extraBody'),
    promptPrice: amount('promptPrice'),
    completionPrice: amount('completionPrice'),
    budget: amount('budget'),
  };
}

/** The JSON object in a text. Null if there is none. */
function readObject(text: string): Record<string, unknown> | null {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : null;
  } catch {
    return null;
  }
}
