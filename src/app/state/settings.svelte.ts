/** @file The visitor's settings: theme and simulated user. They are stored in this browser, except the API key. */
import { type BrowserUser, type LocalConfig, ONNX_DTYPES, type UserConfig } from '../../records/user.ts';

export type Theme = 'system' | 'light' | 'dark';

const STORAGE_KEY = 'mua-settings';

interface Stored {
  theme: Theme;
  mode: UserConfig['mode'];
  baseUrl: string;
  model: string;
  judgeModel: string;
  judgeCustomer: boolean;
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
  /** The language model in the tab that can play the customer. */
  local: LocalConfig;
  /** The customer in a run's held-out evaluations: as in training, scripted, or the learned one. */
  valMode: 'same' | 'scripted' | 'learned';
}

const DEFAULTS: Stored = {
  theme: 'system',
  mode: 'scripted',
  baseUrl: 'http://localhost:11434/v1',
  model: '',
  judgeModel: '',
  judgeCustomer: false,
  temperature: null,
  maxTokens: null,
  extraBody: '',
  promptPrice: null,
  completionPrice: null,
  budget: null,
  local: { source: 'bundled', model: 'nano-customer', precision: 'fp32', device: 'wasm' },
  valMode: 'same',
};

export class Settings {
  theme = $state<Theme>('system');
  mode = $state<UserConfig['mode']>('scripted');
  baseUrl = $state('');
  model = $state('');
  judgeModel = $state('');
  judgeCustomer = $state(false);
  temperature = $state<number | null>(null);
  maxTokens = $state<number | null>(null);
  extraBody = $state('');
  promptPrice = $state<number | null>(null);
  completionPrice = $state<number | null>(null);
  budget = $state<number | null>(null);
  local = $state.raw<LocalConfig>(DEFAULTS.local);
  valMode = $state<Stored['valMode']>('same');
  /** True if the files of the model in the tab are in this browser; undefined until the browser has looked for them. */
  localIsHere = $state<boolean>();
  /** The API keys that the visitor has typed, by the origin of their server. They are not stored, so they are lost when the tab is closed. */
  #keys = $state.raw<Readonly<Record<string, string>>>({});

  constructor() {
    Object.assign(this, readStored());
    this.applyTheme();
    void this.lookForLocal();
  }

  /** The API key of the endpoint. Another server never gets it. */
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

  /** The origin of the endpoint. '' if the base URL is none. */
  get origin(): string {
    const baseUrl = this.baseUrl.trim();
    return /^https?:/i.test(baseUrl) && URL.canParse(baseUrl) ? new URL(baseUrl).origin : '';
  }

  /** Chooses the model in the tab. */
  setLocal(change: Partial<LocalConfig>): void {
    this.local = { ...this.local, ...change };
    this.localIsHere = undefined;
    this.save();
    void this.lookForLocal();
  }

  /** Looks for the files of the model in the tab. */
  async lookForLocal(): Promise<void> {
    const { local } = this;
    if (this.mode !== 'local') return;
    const { isHere } = await import('../../local/library.ts');
    const found = await isHere(local).catch(() => false);
    if (this.local === local) this.localIsHere = found;
  }

  /** The simulated user in the form of `RunRequest.user`. */
  get user(): UserConfig {
    if (this.mode === 'scripted') return { mode: 'scripted' };
    if (this.mode === 'local') return { mode: 'local', ...this.local };
    const judgeModel = this.judgeModel.trim();
    const { temperature, maxTokens, promptPrice, completionPrice, budget } = this;
    const extraBody = readObject(this.extraBody);
    return {
      mode: 'endpoint',
      baseUrl: this.baseUrl.trim(),
      model: this.model.trim(),
      ...(judgeModel && { judgeModel }),
      ...(this.judgeCustomer && { judgeCustomer: true }),
      ...(temperature !== null && { temperature }),
      ...(maxTokens !== null && { maxTokens }),
      ...(extraBody && { extraBody }),
      ...(promptPrice !== null && { promptPrice }),
      ...(completionPrice !== null && { completionPrice }),
      ...(budget !== null && { budget }),
      ...(this.apiKey && { apiKey: this.apiKey }),
    };
  }

  /** The customer of a run's held-out evaluations; undefined if it is the customer of training. */
  get valUser(): BrowserUser | undefined {
    if (this.valMode === 'same') return undefined;
    return this.valMode === 'scripted' ? { mode: 'scripted' } : { mode: 'local', ...DEFAULTS.local };
  }

  /** Why the simulated user cannot be used; '' if it can. */
  get userProblem(): string {
    if (this.mode === 'scripted') return '';
    if (this.mode === 'local')
      return this.localIsHere
        ? ''
        : this.localIsHere === false
          ? 'The customer’s model is not in this browser yet.'
          : 'Looking for the customer’s model…';
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
    return this.model.trim() === '' ? 'Name the model that plays the customer.' : '';
  }

  setTheme(theme: Theme): void {
    this.theme = theme;
    this.applyTheme();
    this.save();
  }

  applyTheme(): void {
    if (this.theme === 'system') delete document.documentElement.dataset.theme;
    else document.documentElement.dataset.theme = this.theme;
  }

  save(): void {
    const { theme, mode, baseUrl, model, judgeModel, judgeCustomer, local, valMode } = this;
    const { temperature, maxTokens, extraBody, promptPrice, completionPrice, budget } = this;
    const customer = { mode, baseUrl, model, judgeModel, judgeCustomer, temperature, maxTokens, extraBody };
    const stored: Stored = { theme, ...customer, promptPrice, completionPrice, budget, local, valMode };
    try {
      localStorage.setItem(STORAGE_KEY, JSON.stringify(stored));
    } catch {} // If the browser stores nothing, as in a private window, the choice lasts until the tab is closed.
  }
}

function readStored(): Stored {
  try {
    const stored = JSON.parse(localStorage.getItem(STORAGE_KEY) ?? '{}') as Partial<Record<keyof Stored, unknown>>;
    const text = (name: 'baseUrl' | 'model' | 'judgeModel' | 'extraBody') =>
      typeof stored[name] === 'string' ? stored[name] : DEFAULTS[name];
    const amount = (name: 'temperature' | 'maxTokens' | 'promptPrice' | 'completionPrice' | 'budget') =>
      typeof stored[name] === 'number' ? stored[name] : null;
    return {
      theme: stored.theme === 'light' || stored.theme === 'dark' ? stored.theme : 'system',
      mode: stored.mode === 'endpoint' || stored.mode === 'local' ? stored.mode : 'scripted',
      baseUrl: text('baseUrl'),
      model: text('model'),
      judgeModel: text('judgeModel'),
      judgeCustomer: stored.judgeCustomer === true,
      temperature: amount('temperature'),
      maxTokens: amount('maxTokens'),
      extraBody: text('extraBody'),
      promptPrice: amount('promptPrice'),
      completionPrice: amount('completionPrice'),
      budget: amount('budget'),
      local: readLocal(stored.local),
      valMode: stored.valMode === 'scripted' || stored.valMode === 'learned' ? stored.valMode : 'same',
    };
  } catch {
    return DEFAULTS;
  }
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

function readLocal(stored: unknown): LocalConfig {
  const { source, model, precision, hub, device, temperature } = (stored ?? {}) as Partial<Record<keyof LocalConfig, unknown>>;
  const known = ONNX_DTYPES.find((name) => name === precision);
  if ((source !== 'hub' && source !== 'folder' && source !== 'bundled') || typeof model !== 'string' || !known) return DEFAULTS.local;
  return {
    source,
    model,
    precision: known,
    device: device === 'webgpu' ? device : 'wasm',
    ...(typeof hub === 'string' && { hub }),
    ...(typeof temperature === 'number' && { temperature }),
  };
}
