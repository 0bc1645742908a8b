/**
 * @file The types of the package: the files that `mua` writes, and the contracts of domains and benchmarks. `npm run types`
 * writes their declarations. The package exports no code yet.
 */
export type { Trajectory, MessageNode } from '../records/trajectory.ts';
export type { RolloutSummary } from '../records/rollout.ts';
export type { RowChange, Task, ToolCall, ToolSchema, UserScenario, Verdict, Violation } from '../records/task.ts';
export type { GrpoConfig, StepMetrics } from '../records/run.ts';
export type { EvaluationReport, TrialResult } from '../records/evaluation.ts';
export type { ExperimentContent } from '../records/experiment.ts';
export type { ChatMessage, Conversation } from '../records/conversation.ts';
export type { DomainLevel, DomainModule } from '../domains/types.ts';
export type { DomainDefinition } from '../environments/domain.ts';
export type { BenchmarkDefinition } from '../benchmarks/definition.ts';
