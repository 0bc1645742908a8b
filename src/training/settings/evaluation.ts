/** @file The settings for the length of a run, its checkpoints, its evaluations, its starting weights and its seed. */
import { z } from 'zod';
import { AGENTS } from '../../records/evaluation.ts';
import { natural, seed, settingGroup } from './setting.ts';

export const evaluation = settingGroup({
  id: 'limits',
  title: 'Length, checkpoints, evaluation',
  settings: {
    total_training_steps: {
      schema: natural,
      // 30 epochs of 5 steps, as in MUA-RL's script. The paper says 25 epochs.
      default: 150,
      sft: 0,
      label: 'Steps',
      help: 'The number of training steps of the run.',
      trl: 'max_steps',
      verl: 'trainer.total_training_steps',
      choice: {
        topic: 'length of training',
        upstream: '30 epochs of 5 steps in the script; the paper says 25 epochs',
        ours: 'fewer steps, as generated tasks never repeat',
      },
    },
    save_freq: {
      schema: natural,
      default: 10,
      label: 'Checkpoint every',
      help: 'The number of steps between checkpoints. A run resumes from its newest checkpoint. 0: only at the end.',
      trl: 'save_steps',
    },
    val_before_train: {
      schema: z.boolean(),
      default: true,
      label: 'Evaluate before training',
      help: 'true: the model plays the held-out tasks before step 1 too, so that the run shows a gain. This can take longer than some steps. A run without steps always evaluates.',
      verl: 'trainer.val_before_train',
    },
    test_freq: {
      schema: natural,
      default: 5,
      label: 'Evaluate every',
      help: 'The number of steps between evaluations. 0: only before training (if val_before_train is true) and after it.',
      trl: 'eval_steps',
    },
    val_tasks: {
      schema: natural,
      default: 165,
      label: 'Held-out tasks',
      help: 'The number of tasks in each evaluation. Every evaluation plays the same tasks. 0 turns evaluation off.',
    },
    val_agent: {
      schema: z.enum(AGENTS),
      default: 'model',
      label: 'Agent in evaluation',
      help: 'Who plays the held-out tasks. guard: the model, with a rule that asks for a yes before each write. two_guards: a second rule calls a tool again after a timeout. careful, brisk: a demonstrator without a model.',
    },
    'val_kwargs.do_sample': {
      schema: z.boolean(),
      default: false,
      label: 'Sample in evaluation',
      help: 'true: evaluation uses the temperature, top_p and top_k of the rollouts. false: the agent always takes the most likely token, as in the paper’s code.',
      choice: {
        topic: 'evaluation',
        upstream: 'greedy: the most likely token each time',
        ours: 'sampled as in training, so that it measures the agent that is trained',
      },
    },
    val_greedy: {
      schema: z.boolean(),
      default: false,
      label: 'Greedy evaluation at the end',
      help: 'true: after the last step, the agent also plays the held-out tasks greedily: it always takes the most likely token. This adds nothing if all evaluations are greedy.',
    },
    stop_on_alarm: {
      schema: z.boolean(),
      default: false,
      label: 'Stop on an alarm',
      help: 'Ends the run after the step at which an alarm begins, such as a KL explosion.',
    },
    inspect: {
      schema: z.boolean(),
      default: true,
      label: 'Score one group per step',
      help: 'Measures the token probabilities of one group before and after the update, for the token view. This does not change training.',
    },
    init_weights: {
      schema: z.enum(['model', 'random', 'copying']),
      default: 'model',
      label: 'Starting weights',
      help: 'model: the weights of the chosen model. random: random weights of the same shape, drawn from the seed, so that the run has no cold start. copying: random weights with a circuit that copies tokens, as at the start of the bundled models.',
    },
    seed: {
      schema: seed,
      default: 1,
      sft: 1,
      label: 'Seed',
      help: 'The seed determines everything random: tasks, customers and samples.',
      apart: true,
    },
  },
});
