/** @file What a played conversation is made of, and the request that plays one move of it. */
import type { OtherToken, Prefix } from '../../agent/prefix.ts';
import { limitsOf } from '../../evaluation/types.ts';
import type { ModelRef } from '../../records/model.ts';
import type { GrpoConfig } from '../../records/run.ts';
import type { Task, ToolSchema } from '../../records/task.ts';
import type { Trajectory } from '../../records/trajectory.ts';
import type { UserConfig } from '../../records/user.ts';
import type { PlayRequest } from '../../trainer/messages.ts';
import type { From } from '../data/play-origin.ts';

export type Role = 'user' | 'agent';

export interface Setting {
  task: Task;
  tools: ToolSchema[];
  /** Whether the simulated customer has tools of its own. */
  userTools: boolean;
  config: GrpoConfig;
  /** The stored conversation to continue, and the message to continue from; null for a new conversation. */
  start: (From & { trajectory: Trajectory }) | null;
  /** Another token of the agent, which the conversation goes on from; null if the visitor chose only a message. */
  token: (OtherToken & { words: string }) | null;
  /** The `origin` of the branches of this conversation. */
  origin: string;
  /** The conversation that these branches leave; null if they begin with the task. */
  parent: Trajectory | null;
}

/** The model that plays the agent, and the simulated customer. */
export interface Party {
  model: ModelRef;
  modelName: string;
  simulator: UserConfig;
}

/** Random streams of played turns begin here, above the streams of training. */
const FIRST_STREAM = 0xc0000000;

/** @param turns how many turns were played before, so that each turn has a random stream of its own */
export function requestOf(
  { task, config, start }: Setting,
  { model, simulator }: Party,
  prefix: Prefix | null,
  turns: number,
): PlayRequest {
  const { temperature, top_p, top_k, conversation_rules, seed } = config;
  return {
    task,
    model,
    simulator,
    prefix,
    limits: limitsOf(config),
    sampling: { temperature, top_p, top_k },
    rules: conversation_rules,
    seed: start?.trajectory.seed ?? seed,
    userSeed: start?.trajectory.userSeed ?? start?.trajectory.seed ?? seed,
    stream: FIRST_STREAM + turns,
  };
}
