/** @file The teacher's plan. Its moments are steps of the lessons, so the plan and the lessons always show the same views. */
import type { LessonId } from '../lessons/titles.ts';
import { lessonOf } from './content.ts';

/** A moment to show: the view of a lesson's step or, if `answer` is true, the view that shows the answer. */
export interface Moment {
  lesson: LessonId;
  /** The number of the step, counted from 0. */
  step: number;
  answer?: true;
}

export interface PlanRow {
  minutes: number;
  topic: string;
  /** The instructions for the teacher and the class. */
  activity: string;
  moments: readonly Moment[];
}

export interface Exercise {
  question: string;
  moment: Moment;
  answer: string;
}

export const PLAN: readonly PlanRow[] = [
  {
    minutes: 5,
    topic: 'An episode',
    activity: 'Read the first messages aloud. Ask what the agent knows. Then show which tokens it sampled.',
    moments: [
      { lesson: 'episode', step: 0 },
      { lesson: 'episode', step: 2, answer: true },
    ],
  },
  {
    minutes: 7,
    topic: 'The reward',
    activity:
      'Show a write without a question. Let the class vote on the reward before you show it. Discuss what the reward does not check.',
    moments: [
      { lesson: 'reward', step: 2 },
      { lesson: 'reward', step: 2, answer: true },
    ],
  },
  {
    minutes: 10,
    topic: 'The group and the advantage',
    activity: 'Let the class compute both advantages from the eight rewards. Then compare a correct with a wrong rollout, turn by turn.',
    moments: [
      { lesson: 'group', step: 0 },
      { lesson: 'group', step: 1, answer: true },
      { lesson: 'group', step: 3 },
    ],
  },
  {
    minutes: 8,
    topic: 'The update',
    activity:
      'Ask the class to predict which token’s probability changes most. Show the token that became less likely, and the token that became more likely although its advantage is negative.',
    moments: [
      { lesson: 'update', step: 0 },
      { lesson: 'update', step: 0, answer: true },
      { lesson: 'update', step: 1, answer: true },
    ],
  },
  {
    minutes: 7,
    topic: 'When training goes wrong',
    activity: 'Each pair of students looks at one failed run, and names the cause and a remedy.',
    moments: [1, 2, 3, 4].map((step) => ({ lesson: 'wrong', step }) as const),
  },
  {
    minutes: 8,
    topic: 'What was learned, and how sure we are',
    activity:
      'Show one customer before and after training. Then show the result of all 48 customers with its interval. Ask what one run cannot show.',
    moments: [
      { lesson: 'customer', step: 1 },
      { lesson: 'honest', step: 0 },
      { lesson: 'honest', step: 2 },
    ],
  },
];

export const EXERCISES: readonly Exercise[] = [
  {
    question: 'A group of eight has rewards 1, 1, 0, 1, 0, 0, 0, 0. Compute the advantage of a correct and of a wrong rollout.',
    moment: { lesson: 'group', step: 0 },
    answer:
      'The mean is 0.375. The sample standard deviation is √(8 · 0.375 · 0.625 / 7) = 0.5175. So the advantages are 0.625 / 0.5175 = +1.21 and −0.375 / 0.5175 = −0.72.',
  },
  {
    question: 'Why does a group of eight correct rollouts teach nothing?',
    moment: { lesson: 'group', step: 3 },
    answer: 'Each reward equals the mean, so each advantage is 0, and the policy gradient of the group is 0.',
  },
  {
    question: 'An agent earns reward 1 and breaks the policy. Name two ways to change the training so that this pays less.',
    moment: { lesson: 'reward', step: 2 },
    answer:
      'Put a price on writes without the customer’s yes (reward.unconfirmed_write). Or train with customers who change their mind: a write without a question then often leads to a wrong database.',
  },
  {
    question: 'In one wrong rollout, a token became more likely in the update. How can this be?',
    moment: { lesson: 'update', step: 1, answer: true },
    answer:
      'All tokens share the weights, and the probabilities of all tokens at one position have the sum 1. The update pushed the alternatives of this token down more than the token itself, so it rose from 42 % to 60 %.',
  },
  {
    question: 'The reward of a run rises, and violations per write rise too. What do you suspect, and what do you check?',
    moment: { lesson: 'wrong', step: 2 },
    answer:
      'This looks like reward hacking: the reward pays for something other than what you want. Read rollouts with violations and a high reward, and check what the reward settings pay for.',
  },
  {
    question: 'One run gained 25 points (95 % interval 1 to 43, over 48 tasks). May you write that the method gains at least 1 point?',
    moment: { lesson: 'honest', step: 0 },
    answer:
      'No. The interval covers only the choice of the customers, for the weights of this one run. Another seed trains other weights. Train several seeds, and give the interval over seeds.',
  },
];

/** The address and the name of a moment. */
export function linkTo({ lesson, step, answer }: Moment): { address: string; name: string } {
  const { open, where, predict } = lessonOf(lesson).steps[step]!;
  return answer ? { address: predict!.reveal!.open, name: `${where}: the answer` } : { address: open, name: where };
}
