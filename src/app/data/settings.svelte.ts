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
}

const DEFAULTS: Stored = { theme: 'system', mode: 'scripted', baseUrl: 'http://localhost:11434/v1', model: '', judgeModel: '' };

export class Settings {
  theme = $state<Theme>('system');
  mode = $state<UserConfig['mode']>('scripted');
  baseUrl = $state('');
  model = $state('');
  judgeModel = $state('');
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
    return {
      mode: 'endpoint',
      baseUrl: this.baseUrl.trim(),
      model: this.model.trim(),
      ...(judgeModel && { judgeModel }),
      ...(this.apiKey && { apiKey: this.apiKey }),
    };
  }

  /** Why the simulated user cannot be used, or ''. */
  get userProblem(): string {
    if (this.mode === 'scripted') return '';
    if (!URL.canParse(this.baseUrl.trim())) return 'The base URL is not a URL, e.g. http://localhost:11434/v1.';
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
    const { theme, mode, baseUrl, model, judgeModel } = this;
    try {
      localStorage.setItem(STORAGE_KEY, JSON.stringify({ theme, mode, baseUrl, model, judgeModel } satisfies Stored));
    } catch {} // a private window: the choice lasts as long as the page
  }
}

function readStored(): Stored {
  try {
    const stored = JSON.parse(localStorage.getItem(STORAGE_KEY) ?? '{}') as Partial<Record<keyof Stored, unknown>>;
    const text = (name: 'baseUrl' | 'model' | 'judgeModel') => (typeof stored[name] === 'string' ? stored[name] : DEFAULTS[name]);
    return {
      theme: stored.theme === 'light' || stored.theme === 'dark' ? stored.theme : 'system',
      mode: stored.mode === 'endpoint' ? 'endpoint' : 'scripted',
      baseUrl: text('baseUrl'),
      model: text('model'),
      judgeModel: text('judgeModel'),
    };
  } catch {
    return DEFAULTS;
  }
}
