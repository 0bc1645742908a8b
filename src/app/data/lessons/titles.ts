/** @file The titles of the lessons. A lesson's text is loaded when the visitor opens it. */

export const LESSONS = [
  { id: 'mask', title: 'What is being trained?', minutes: 4, about: 'Which tokens of a conversation the model sampled.' },
  { id: 'customer', title: 'Be the customer', minutes: 3, about: 'What the agent must find out, and what it may do.' },
  { id: 'group', title: 'Read one group', minutes: 5, about: 'Several rollouts of one task, and why some groups teach nothing.' },
  { id: 'update', title: 'What the update did', minutes: 5, about: 'How strongly the update pushed each token, and what changed.' },
  { id: 'break', title: 'Break it', minutes: 6, about: 'A learning rate that is too large, and a reward that does not see broken rules.' },
  { id: 'bigger', title: 'Bigger', minutes: 4, about: 'Your own customer, your own model, other tools.' },
] as const;

export type LessonId = (typeof LESSONS)[number]['id'];
