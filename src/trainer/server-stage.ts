/** @file What episodes need whose agent is a model behind a server or in the tab. They do not need the engine. */
import type { Stage } from '../agent/rollouts.ts';
import { serverAgents, type StartAgent } from '../agent/server/agents.ts';
import { NO_TOKENS } from '../agent/server/server-turns.ts';
import { TabModel } from '../agent/server/tab-model.ts';
import { rulesFor } from '../benchmarks/rules.ts';
import type { AgentServer, TabAgent } from '../records/agent-server.ts';
import type { EpisodeLimits } from '../records/episode.ts';
import type { GrpoConfig } from '../records/run.ts';
import type { UserConfig } from '../records/user.ts';
import { ServerModel } from '../users/agent-model.ts';
import type { LocalModels } from '../users/local-hosts.ts';
import type { SessionParts } from './session-parts.ts';

/** How many episodes are played at once. The client sends fewer requests at once, because an episode also waits for its customer. */
export const SERVER_SLOTS = 16;

/** The agents of one evaluation. They share its budget. @throws UserError if the server's settings are invalid */
export const agentsOf = (server: AgentServer): StartAgent => serverAgents(new ServerModel(server), server.format);

/**
 * A model in the tab writes one message at a time, and keeps the KV cache of one long conversation. So its episodes are played one after
 * another. It would fail again in the same way, so they are not retried.
 */
export const TAB_PLAN = { slots: 1, maxRetries: 0 };

/** The name of an evaluation of a model in the tab. */
export const tabName = ({ model, precision }: TabAgent): string => `${model} (${precision})`;

/** Loads the model, so that a model that cannot play ends the evaluation before its first task. @throws UserError */
export async function tabAgents(models: LocalModels, agent: TabAgent, signal: AbortSignal): Promise<StartAgent> {
  await models.load(agent, signal);
  return serverAgents(new TabModel(agent, models), agent.format);
}

/** @throws UserError if the customers cannot play */
export async function serverStage(
  { environments, users }: Pick<SessionParts, 'environments' | 'users'>,
  place: Pick<GrpoConfig, 'domain' | 'level' | 'conversation_rules'>,
  user: UserConfig,
  agents: StartAgent,
): Promise<Stage> {
  const [domain, customers] = await Promise.all([environments.domain(place.domain, place.level), users(user)]);
  return { domain, environments, users: customers, agents, tokenizer: NO_TOKENS, rules: rulesFor(domain, place.conversation_rules) };
}

/** The limits without that on the tokens of a conversation: the server has one of its own. */
export const serverLimits = (limits: EpisodeLimits): EpisodeLimits => ({ ...limits, max_model_len: Number.MAX_SAFE_INTEGER });
