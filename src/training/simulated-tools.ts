/** @file Simulated tools in the steps of a run. Its evaluations have the domain's own tools, so that they measure in the true world. */
import type { Stage } from '../agent/rollouts.ts';
import { trainingTools } from '../domains/training-tools.ts';
import { createEnvironments } from '../environments/index.ts';
import type { GrpoConfig } from '../records/run.ts';
import type { StepResult } from './step-result.ts';

/** The stage of a run's steps, and what its simulated tools did in a step, as metrics. */
export interface TrainingStage {
  stage: Stage;
  toolMetrics(result: StepResult): Record<string, number>;
}

/** @throws InputError if the tools of the domain cannot be simulated */
export async function trainingStage(stage: Stage, config: GrpoConfig): Promise<TrainingStage> {
  const tools = await trainingTools(config);
  if (!tools) return { stage, toolMetrics: () => ({}) };
  const { counts } = tools.simulator;
  let last = { ...counts };
  return {
    stage: { ...stage, environments: createEnvironments({ domains: [tools.domain], inMemory: true }), toolFaultsRepeat: tools.repeats },
    toolMetrics({ trajectories }) {
      const since = (name: 'calls' | 'retries' | 'spoilt' | 'faults') => counts[name] - last[name];
      const metrics = {
        'tools/calls': since('calls'),
        'tools/asked_again': since('retries'),
        'tools/spoilt': since('spoilt'),
        // Demonstrations have no trajectories, and none of them is retried.
        'tools/dropped': config.algorithm === 'sft' ? since('faults') : trajectories.filter(isToolError).length,
      };
      last = { ...counts };
      return metrics;
    },
  };
}

const isToolError = ({ termination }: StepResult['trajectories'][number]) => termination === 'tool_error';
