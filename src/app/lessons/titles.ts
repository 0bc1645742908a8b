/** @file The titles of the lessons, and the parts of GRPO's loop that each explains. The texts are loaded when a lesson is opened. */

export const LESSONS = [
  {
    id: 'episode',
    title: 'An episode',
    parts: ['Rollouts'],
    minutes: 4,
    about: 'One conversation from the first message to its end, and which tokens the agent sampled.',
  },
  { id: 'reward', title: 'The reward', parts: ['Reward'], minutes: 5, about: 'What the reward checks, and what it does not check.' },
  {
    id: 'group',
    title: 'The group and the advantage',
    parts: ['Rollouts', 'Advantage'],
    minutes: 6,
    about: 'Several rollouts of one task, and why some groups teach nothing.',
  },
  {
    id: 'update',
    title: 'The update, token by token',
    parts: ['Update'],
    minutes: 6,
    about: 'Which tokens one update changes, and by how much.',
  },
  {
    id: 'wrong',
    title: 'When training goes wrong',
    parts: ['Update'],
    minutes: 6,
    about: 'Four failed runs: what their charts show, and what to try.',
  },
  {
    id: 'customer',
    title: 'The customer',
    parts: ['Task'],
    minutes: 5,
    about: 'Customers who change their mind, and customers who tell only what they are asked.',
  },
  {
    id: 'tools',
    title: 'Tools and the database',
    parts: ['Rollouts'],
    minutes: 5,
    about: 'How the agent passes ids from call to call, and how one wrong token spoils an episode.',
  },
  {
    id: 'honest',
    title: 'Reading a result honestly',
    parts: ['Reward'],
    minutes: 6,
    about: 'Intervals, held-out tasks and several seeds.',
  },
  {
    id: 'skills',
    title: 'Two skills that hardly anyone showed together',
    parts: ['Advantage'],
    minutes: 6,
    about: 'How the outcome alone makes a rare combination of two skills the usual one.',
  },
] as const;

export type LessonId = (typeof LESSONS)[number]['id'];
