/** @file Demonstrations of one domain and level, with a store of their own in memory. The command line plays several places at once. */
import { customerScripts, GENERATED_DOMAINS } from '../domains/registry.ts';
import { createEnvironments } from '../environments/index.ts';
import type { SynthesizedConversation } from '../records/dataset.ts';
import { ScriptedUsers } from '../users/scripted.ts';
import { coldStart } from './config.ts';
import { type PlayLog, type Synthesis, synthesize, type SynthesizeOptions } from './synthesize.ts';

/** What is played at one place. */
export interface PlaceOrder extends Omit<SynthesizeOptions, 'conditions' | 'habits'> {
  /** Those `customers.*`, `tools.*` and `demonstrators.*` that differ from the cold start's. */
  settings: Record<string, string>;
}

/** @throws ConfigError if a setting is wrong, and as `synthesize` */
export function synthesizePlace(
  { settings, ...options }: PlaceOrder,
  log: PlayLog<SynthesizedConversation>,
  onProgress: (kept: number) => void,
): Promise<Synthesis> {
  const people = coldStart(options.domain, options.level, settings);
  const stage = {
    environments: createEnvironments({ domains: GENERATED_DOMAINS, inMemory: true }),
    users: new ScriptedUsers(customerScripts, options.side === 'customer'),
  };
  return synthesize(stage, { ...options, ...people }, onProgress, undefined, log);
}
