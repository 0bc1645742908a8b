/** @file The visitor's choice of a model of transformers.js that plays the agent in this tab. It is stored in this browser. */
import { isObject } from '../../base/json.ts';
import type { AgentFormat, TabAgent } from '../../records/agent-server.ts';
import type { LocalConfig } from '../../records/user.ts';
import { readLocal } from '../state/settings.svelte.ts';
import type { LocalChoice } from './local-models.svelte.ts';

const STORAGE_KEY = 'mua-tab-agent';
const USUAL: LocalConfig = { source: 'hub', model: 'onnx-community/Qwen3-0.6B-ONNX', precision: 'q4', device: 'wasm' };

export class TabAgentSettings implements LocalChoice {
  local = $state.raw(USUAL);
  localIsHere = $state<boolean>();
  format = $state<AgentFormat>('native');
  thinks = $state(false);
  /** The most tokens of a message; null if not given. */
  maxTokens = $state<number | null>(null);

  constructor() {
    const { local, format, thinks, maxTokens } = readStored();
    this.local = readLocal(local, USUAL);
    if (format === 'text') this.format = format;
    this.thinks = thinks === true;
    if (typeof maxTokens === 'number') this.maxTokens = maxTokens;
  }

  /** The agent in the form of `EvaluationRequest.model`. */
  get agent(): { kind: 'tab' } & TabAgent {
    const { format, thinks, maxTokens } = this;
    const { temperature: _, ...model } = this.local;
    return { kind: 'tab', ...model, format, ...(thinks && { thinks }), ...(maxTokens !== null && { maxTokens }) };
  }

  /** Why the model cannot play; '' if it can. */
  get problem(): string {
    const { maxTokens, localIsHere } = this;
    if (maxTokens !== null && !(Number.isInteger(maxTokens) && maxTokens > 0))
      return `The most tokens of a message is ${maxTokens}: expected a whole number from 1 on.`;
    if (localIsHere) return '';
    return localIsHere === false ? 'The agent’s model is not in this browser yet.' : 'Looking for the agent’s model…';
  }

  setLocal(change: Partial<LocalConfig>): void {
    this.local = { ...this.local, ...change };
    this.localIsHere = undefined;
    this.save();
    void this.lookForLocal();
  }

  async lookForLocal(): Promise<void> {
    const { local } = this;
    const { isHere } = await import('../../local/library.ts');
    const found = await isHere(local).catch(() => false);
    if (this.local === local) this.localIsHere = found;
  }

  save(): void {
    const { local, format, thinks, maxTokens } = this;
    try {
      localStorage.setItem(STORAGE_KEY, JSON.stringify({ local, format, thinks, maxTokens }));
    } catch {} // If the browser stores nothing, as in a private window, the choice lasts until the form is closed.
  }
}

function readStored(): Record<string, unknown> {
  try {
    const stored: unknown = JSON.parse(localStorage.getItem(STORAGE_KEY) ?? '{}');
    return isObject(stored) ? stored : {};
  } catch {
    return {};
  }
}
