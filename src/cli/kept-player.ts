/** @file What the folder of an evaluation keeps of its agent and its tasks, and the check that a resumed command has the same ones. */
import { resolve } from 'node:path';
import { isGguf } from '../exchange/model-folder.ts';
import type { AgentServer } from '../records/agent-server.ts';
import { type BenchmarkData, filesSha256 } from './benchmark-data.ts';
import { checkAddress } from './commands/server.ts';
import { UsageError } from './errors.ts';
import { findModel, type ModelFolder } from './files.ts';
import { checkKeyOrigin, keyProof } from './key-origin.ts';
import { fileSha256, sha256 } from './out-folder.ts';
import { STATUS } from './status.ts';

/** The flags of which the folder keeps another form. */
interface PlayerFlags {
  model?: string | undefined;
  lora?: string | undefined;
  agent?: string | undefined;
  agentModel?: string | undefined;
  data?: string | undefined;
  tasks?: string | undefined;
}

/** Binds a folder to its agent and its tasks. */
export interface PlayerProof {
  /** Of the weights. Absent if a model behind a server plays the agent. */
  model_sha256?: string | undefined;
  /** Binds the key of the agent's server to its address (`keyProof`). */
  agent_key?: string | undefined;
  /** Of the files of the benchmark. Absent for generated tasks. */
  data_sha256?: string | undefined;
}

/** The flags with whole paths and with the model's name, because the server may list another model first later. */
export function keptFlags<F extends PlayerFlags>(flags: F, agent: ModelFolder | AgentServer): F {
  const { model, lora, data, tasks } = flags;
  return {
    ...flags,
    ...(model !== undefined && { model: resolve(model) }),
    ...(lora && { lora: resolve(lora) }),
    ...(data && { data: resolve(data) }),
    ...(data && tasks && /[/\\.]/.test(tasks) && { tasks: resolve(tasks) }),
    ...('baseUrl' in agent && { agentModel: agent.model }),
  };
}

/** @throws UsageError if the address of the server has a secret */
export async function proofOf(agent: ModelFolder | AgentServer, benchmark: BenchmarkData | undefined): Promise<PlayerProof> {
  if ('baseUrl' in agent) checkAddress('--agent', agent.baseUrl, 'MUA_AGENT_KEY');
  const key = 'baseUrl' in agent ? keyProof('MUA_AGENT_KEY', agent.baseUrl) : undefined;
  return {
    ...('files' in agent && { model_sha256: await weightsSha256(agent) }),
    ...(key && { agent_key: key }),
    ...(benchmark && { data_sha256: await filesSha256(benchmark) }),
  };
}

/** @throws UsageError if the agent or its tasks are not those that the folder was started with */
export async function checkProof(
  resume: string,
  flags: PlayerFlags,
  { model_sha256, agent_key, data_sha256 }: PlayerProof,
  benchmark: BenchmarkData | undefined,
): Promise<void> {
  const fault = (text: string) => new UsageError(`--resume is "${resume}": ${text}`);
  // Folders of earlier versions have no hash of the data. The tasks themselves are compared later.
  if (benchmark && data_sha256 !== undefined && (await filesSha256(benchmark)) !== data_sha256)
    throw fault(`the files in "${flags.data}" are not those that were evaluated before`);
  if (flags.agent !== undefined)
    return checkKeyOrigin('MUA_AGENT_KEY', resume, flags.agent, agent_key, 'expected a new evaluation, or no MUA_AGENT_KEY');
  if (flags.model === undefined) throw fault(`its ${STATUS} names neither a model nor an agent`);
  const model = await findModel(flags.model, { tokenizer: true, lora: flags.lora });
  if ((await weightsSha256(model)) !== model_sha256)
    throw fault(`the weights in "${flags.model}" are not those that were evaluated before`);
}

export async function weightsSha256({ files }: ModelFolder): Promise<string> {
  const weights = Object.keys(files)
    .filter((name) => name.endsWith('.safetensors') || isGguf(name))
    .sort()
    .flatMap((name) => ('file' in files[name]! ? files[name].file : []));
  return sha256((await Promise.all(weights.map(fileSha256))).join());
}
