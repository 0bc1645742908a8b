/** @file What episodes need whose agent is a model behind a server. They need no GPU. */
import type { Stage } from '../agent/rollouts.ts';
import { serverAgents, type StartAgent } from '../agent/server/agents.ts';
import { NO_TOKENS } from '../agent/server/server-turns.ts';
import { rulesFor } from '../benchmarks/rules.ts';
import type { AgentServer } from '../records/agent-server.ts';
import type { EpisodeLimits } from '../records/episode.ts';
import type { GrpoConfig } from '../records/run.ts';
import type { UserConfig } from '../records/user.ts';
import { ServerModel } from '../users/agent-model.ts';
import type { SessionParts } from './session-parts.ts';

/** How many episodes are played at once. The client sends fewer requests at once, because an episode also waits for its customer. */
export const SERVER_SLOTS = 16;

/** The agents of one evaluation. They share its budget. @throws UserError if the server's settings are invalid */
export const agentsOf = (server: AgentServer): StartAgent => serverAgents(new ServerModel(server), server.format);

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
