/** @file The visitor's settings: theme and simulated user. They are stored in this browser, except the API key. */
import type { UserConfig } from '../../records/user.ts';

export type Theme = 'system' | 'light' | 'dark';

const STORAGE_KEY = 'mua-settings';

interface Stored {
  theme: Theme;
  mode: UserConfig['mode'];
  baseUrl: string;
  model: string;
  judgeModel: string;
  /** Per million tokens; null: not given. */
  promptPrice: number | null;
  completionPrice: number | null;
  /** Of a run, in the unit of the prices. */
  budget: number | null;
}

const DEFAULTS: Stored = {
  theme: 'system',
  mode: 'scripted',
  baseUrl: 'http://localhost:11434/v1',
  model: '',
  judgeModel: '',
  promptPrice: null,
  completionPrice: null,
  budget: null,
};

export class Settings {
  theme = $state<Theme>('system');
  mode = $state<UserConfig['mode']>('scripted');
  baseUrl = $state('');
  model = $state('');
  judgeModel = $state('');
  promptPrice = $state<number | null>(null);
  completionPrice = $state<number | null>(null);
  budget = $state<number | null>(null);
  /** Not stored: lost when the tab closes. */
  apiKey = $state('');

  constructor() {
    Object.assign(this, readStored());
    this.applyTheme();
  }

  /** The simulated user in the form of `RunRequest.user`. */
  get user(): UserConfig {
    if (this.mode === 'scripted') return { mode: 'scripted' };
    const judgeModel = this.judgeModel.trim();
    const { promptPrice, completionPrice, budget } = this;
    return {
      mode: 'endpoint',
      baseUrl: this.baseUrl.trim(),
      model: this.model.trim(),
      ...(judgeModel && { judgeModel }),
      ...(promptPrice !== null && { promptPrice }),
      ...(completionPrice !== null && { completionPrice }),
      ...(budget !== null && { budget }),
      ...(this.apiKey && { apiKey: this.apiKey }),
    };
  }

  /** Why the simulated user cannot be used, or ''. */
  get userProblem(): string {
    if (this.mode === 'scripted') return '';
    if (!URL.canParse(this.baseUrl.trim())) return 'The base URL is not a URL, e.g. http://localhost:11434/v1.';
    for (const [field, value] of Object.entries({
      'prompt price': this.promptPrice,
      'completion price': this.completionPrice,
      budget: this.budget,
    }))
      if (value !== null && value < 0) return `The ${field} is ${value}: expected a number from 0 on.`;
    if (this.budget !== null && !this.promptPrice && !this.completionPrice)
      return `The budget is ${this.budget}: expected a price of tokens with it.`;
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
    const { theme, mode, baseUrl, model, judgeModel, promptPrice, completionPrice, budget } = this;
    const stored: Stored = { theme, mode, baseUrl, model, judgeModel, promptPrice, completionPrice, budget };
    try {
      localStorage.setItem(STORAGE_KEY, JSON.stringify(stored));
    } catch {} // a private window: the choice lasts as long as the page
  }
}

function readStored(): Stored {
  try {
    const stored = JSON.parse(localStorage.getItem(STORAGE_KEY) ?? '{}') as Partial<Record<keyof Stored, unknown>>;
    const text = (name: 'baseUrl' | 'model' | 'judgeModel') => (typeof stored[name] === 'string' ? stored[name] : DEFAULTS[name]);
    const amount = (name: 'promptPrice' | 'completionPrice' | 'budget') => (typeof stored[name] === 'number' ? stored[name] : null);
    return {
      theme: stored.theme === 'light' || stored.theme === 'dark' ? stored.theme : 'system',
      mode: stored.mode === 'endpoint' ? 'endpoint' : 'scripted',
      baseUrl: text('baseUrl'),
      model: text('model'),
      judgeModel: text('judgeModel'),
      promptPrice: amount('promptPrice'),
      completionPrice: amount('completionPrice'),
      budget: amount('budget'),
    };
  } catch {
    return DEFAULTS;
  }
}
