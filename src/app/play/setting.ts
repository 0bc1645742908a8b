/** @file What a played conversation is made of. */
import type { OtherToken } from '../../agent/prefix.ts';
import type { GrpoConfig } from '../../records/run.ts';
import type { Task, ToolSchema } from '../../records/task.ts';
import type { Trajectory } from '../../records/trajectory.ts';
import type { From } from '../branches/play-origin.ts';

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
