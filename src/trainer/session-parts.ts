import type { Environments } from '../environments/types.ts';
import type { ModelParts } from '../exchange/model-folder.ts';
import type { UserConfig } from '../records/user.ts';
import type { RunDatabase } from '../storage/database.ts';
import type { LocalModels } from '../users/local-hosts.ts';
import type { UserSimulator } from '../users/types.ts';

/** The parts that a session uses from outside the trainer. Workers and tests provide different parts. */
export interface SessionParts {
  gpu?: GPU;
  environments: Environments;
  users: (config: UserConfig) => Promise<UserSimulator>;
  /** The models of transformers.js, which can play agents. */
  tabModels: LocalModels;
  /** Returns the files of a bundled model (by name) or of a stored model (by id). */
  bundledModel: (name: string) => Promise<ModelParts>;
  database: () => RunDatabase;
}
