/** @file The parts of a played conversation that do not change while it is played. */
import type { OtherToken } from '../../agent/prefix.ts';
import type { GrpoConfig } from '../../records/run.ts';
import type { Task, ToolSchema } from '../../records/task.ts';
import type { Trajectory } from '../../records/trajectory.ts';
import type { From } from '../branches/play-origin.ts';

export type Role = 'user' | 'agent';

export interface Setting {
  task: Task;
  tools: ToolSchema[];
  /** True if the simulated customer has its own tools. */
  userTools: boolean;
  config: GrpoConfig;
  /** The stored conversation to continue, and the message to continue from; null for a new conversation. */
  start: (From & { trajectory: Trajectory }) | null;
  /** The token that the visitor put in place of a sampled token of the agent; null if the visitor chose only a message. */
  token: (OtherToken & { words: string }) | null;
  /** The `origin` of the branches of this conversation. */
  origin: string;
  /** The conversation from which these branches fork; null if they begin with the task. */
  parent: Trajectory | null;
}
