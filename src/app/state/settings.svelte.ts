/** @file The visitor's settings: theme and simulated user. They are stored in this browser, except the API key. */
import type { AgentFormat, AgentServer } from '../../records/agent-server.ts';
import { type BrowserUser, type LocalConfig, ONNX_DTYPES, type UserConfig } from '../../records/user.ts';
import { readServer, SERVER_DEFAULTS, ServerSettings, type StoredServer } from './server-settings.svelte.ts';

export type Theme = 'system' | 'light' | 'dark';

const STORAGE_KEY = 'mua-settings';

interface Stored extends StoredServer {
  theme: Theme;
  mode: UserConfig['mode'];
  judgeModel: string;
  judgeCustomer: boolean;
  /** The language model in the tab that can play the customer. */
  local: LocalConfig;
  /** The customer in a run's held-out evaluations: as in training, scripted, or the learned one. */
  valMode: 'same' | 'scripted' | 'learned';
  /** The server whose model can play the agent in an evaluation. */
  agent: StoredServer & { format: AgentFormat };
}

const DEFAULTS: Stored = {
  ...SERVER_DEFAULTS,
  theme: 'system',
  mode: 'scripted',
  judgeModel: '',
  judgeCustomer: false,
  local: { source: 'bundled', model: 'nano-customer', precision: 'fp32', device: 'wasm' },
  valMode: 'same',
  agent: { ...SERVER_DEFAULTS, format: 'native' },
};

/** The server whose model plays the agent. Its temperature is that of the evaluation. */
class AgentSettings extends ServerSettings {
  format = $state<AgentFormat>('native');

  /** The agent in the form of `EvaluationRequest.model`. */
  get served(): { kind: 'server' } & AgentServer {
    const { temperature: _, ...endpoint } = this.endpoint;
    return { kind: 'server', ...endpoint, format: this.format };
  }
}

/** The fields of a server are those of the customer's. */
export class Settings extends ServerSettings {
  theme = $state<Theme>('system');
  mode = $state<UserConfig['mode']>('scripted');
  judgeModel = $state('');
  judgeCustomer = $state(false);
  local = $state.raw<LocalConfig>(DEFAULTS.local);
  valMode = $state<Stored['valMode']>('same');
  readonly agent = new AgentSettings();
  /** True if the files of the model in the tab are in this browser; undefined until the browser has looked for them. */
  localIsHere = $state<boolean>();

  constructor() {
    super();
    const { agent, ...own } = readStored();
    Object.assign(this, own);
    Object.assign(this.agent, agent);
    this.applyTheme();
    void this.lookForLocal();
  }

  override get keys(): string[] {
    return [...super.keys, ...this.agent.keys];
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
    return {
      mode: 'endpoint',
      ...this.endpoint,
      ...(judgeModel && { judgeModel }),
      ...(this.judgeCustomer && { judgeCustomer: true }),
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
    return this.serverProblem('customer');
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
    const { theme, mode, judgeModel, judgeCustomer, local, valMode, agent } = this;
    const own = { theme, mode, judgeModel, judgeCustomer, local, valMode };
    const stored: Stored = { ...own, ...this.stored, agent: { ...agent.stored, format: agent.format } };
    try {
      localStorage.setItem(STORAGE_KEY, JSON.stringify(stored));
    } catch {} // If the browser stores nothing, as in a private window, the choice lasts until the tab is closed.
  }
}

function readStored(): Stored {
  try {
    const stored = JSON.parse(localStorage.getItem(STORAGE_KEY) ?? '{}') as Partial<Record<keyof Stored, unknown>>;
    const agent = (stored.agent ?? {}) as Partial<Record<keyof Stored['agent'], unknown>>;
    return {
      theme: stored.theme === 'light' || stored.theme === 'dark' ? stored.theme : 'system',
      mode: stored.mode === 'endpoint' || stored.mode === 'local' ? stored.mode : 'scripted',
      ...readServer(stored),
      judgeModel: typeof stored.judgeModel === 'string' ? stored.judgeModel : '',
      judgeCustomer: stored.judgeCustomer === true,
      local: readLocal(stored.local, DEFAULTS.local),
      valMode: stored.valMode === 'scripted' || stored.valMode === 'learned' ? stored.valMode : 'same',
      agent: { ...readServer(agent), format: agent.format === 'text' ? 'text' : 'native' },
    };
  } catch {
    return DEFAULTS;
  }
}

/** A stored choice of a model in the tab, as far as it is valid. */
export function readLocal(stored: unknown, usual: LocalConfig): LocalConfig {
  const { source, model, precision, hub, device, temperature } = (stored ?? {}) as Partial<Record<keyof LocalConfig, unknown>>;
  const known = ONNX_DTYPES.find((name) => name === precision);
  if ((source !== 'hub' && source !== 'folder' && source !== 'bundled') || typeof model !== 'string' || !known) return usual;
  return {
    source,
    model,
    precision: known,
    device: device === 'webgpu' ? device : 'wasm',
    ...(typeof hub === 'string' && { hub }),
    ...(typeof temperature === 'number' && { temperature }),
  };
}
