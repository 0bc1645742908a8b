/** @file Checks the settings of simulated tools. */
import { trainingAnswerer } from '../domains/answered.ts';
import type { GrpoConfig } from '../records/run.ts';
import { ConfigError } from './config-error.ts';

/** @throws ConfigError if the tools cannot be simulated so in training */
export function checkAnswer(config: GrpoConfig): void {
  try {
    trainingAnswerer(config);
  } catch (error) {
    throw new ConfigError((error as Error).message);
  }
}
