/** @file The settings for the weights and prices of the training reward. By default the reward is only the binary outcome. */
import { z } from 'zod';
import { JUDGED } from '../../domains/registry.ts';
import { amount, settingGroup } from './setting.ts';

export const rewards = settingGroup({
  id: 'reward',
  title: 'Reward',
  settings: {
    'reward.outcome': {
      schema: amount,
      default: 1,
      label: 'Outcome',
      help: 'The weight of the outcome, which is 1 if the database ends exactly as the task demands, else 0. Evaluation uses only the outcome.',
    },
    'reward.partial': {
      schema: amount,
      default: 0,
      label: 'Partial credit',
      help: 'The weight of partial credit: right rows minus damaged rows, divided by the rows that the task changes, at least 0. Rows with a wrong value count as damaged.',
      choice: {
        topic: 'terms of the reward',
        upstream: 'the binary outcome alone',
        ours: 'the same; the settings reward.* add terms or prices to the reward of training, never to that of evaluation',
      },
    },
    'reward.partial_gate': {
      schema: z.enum(['ended', 'no_violations']),
      default: 'ended',
      label: 'Gate of partial credit',
      help: 'ended: partial credit needs a proper end, by the customer or by a transfer. no_violations: the agent must also break no rule.',
    },
    'reward.turn': {
      schema: amount,
      default: 0,
      label: 'Rewards of turns',
      help: 'The weight of the rewards of the agent’s turns. A turn earns the rows that it made right minus the rows that it damaged, divided by the rows that the task changes. mt_grpo and gtpo give each turn its own reward; other estimators add the sum to the reward.',
      choice: {
        topic: 'rewards of turns',
        upstream: 'none',
        ours: 'none; reward.turn pays each turn for what it changed in the database',
      },
    },
    'reward.format': {
      schema: amount,
      default: 0,
      label: 'Format',
      help: 'The weight of a term that is 1 if every turn of the agent can be parsed, else 0. An agent that does nothing earns it too.',
    },
    'reward.tool_match': {
      schema: amount,
      default: 0,
      label: 'Tool match',
      help: 'The weight of the share of the solution’s tool calls that the agent made, as tau2-bench checks actions.',
    },
    'reward.judge': {
      schema: amount,
      default: 0,
      label: 'Judge',
      help: `The weight of a judge’s comparisons. The model of the customer’s endpoint, or the model in the tab, compares each two answers to a prompt. The term is the mean over the comparisons: 1 for a win, 0.5 for a tie. Only for ${JUDGED.join(', ')}, with grpo.`,
      choice: {
        topic: 'a judge as the reward',
        upstream: 'none',
        ours: 'none; reward.judge pays an answer for its wins against the other answers of its group',
      },
    },
    'judge.wish': {
      schema: z.string().max(300),
      default: '',
      label: 'Wish of the judge',
      help: 'A sentence that is true of a good answer. The judge says which answer fits it better. Empty: the sentence of the level.',
    },
    'judge.original': {
      schema: z.boolean(),
      default: true,
      label: 'Original answer takes part',
      help: 'If true, an answer of the model before step 1 is compared with the answers of the group too. It is not trained on.',
    },
    'judge.orders': {
      schema: z.enum(['both', 'drawn']),
      default: 'both',
      label: 'Order of two answers',
      help: 'A judge can prefer the answer that it reads first. both: it is asked twice, in both orders. drawn: it is asked once, and the seed draws the order.',
    },
    'reward.unconfirmed_write': {
      schema: amount,
      default: 0,
      label: 'Price of a write without a yes',
      help: 'This price is subtracted for each write that the customer did not say yes to.',
    },
    'reward.length': {
      schema: amount,
      default: 0,
      label: 'Price of length',
      help: 'This price is subtracted for every 100 tokens that the agent samples. With this term almost every group is mixed. If advantages are divided by the deviation, small differences in length then count much.',
    },
    'reward.handover': {
      schema: amount,
      default: 0,
      label: 'Price of a needless transfer',
      help: 'This price is subtracted for each transfer to a human, if the solution has none.',
    },
  },
  choices: [
    {
      topic: 'comparison of databases',
      upstream: 'a hash of Python’s text: 5 is not 5.0',
      ours: 'changed rows as canonical JSON: 5 is 5.0',
    },
    {
      topic: 'amounts of money',
      upstream: 'floats and Python’s round',
      ours: 'whole cents in generated shops; Python’s round in imported benchmarks',
    },
  ],
});
