/** @file The lessons by name, for lists. Their text is loaded when one is opened. */

export const LESSONS = [
  { id: 'mask', title: 'What is being trained?', minutes: 4, about: 'Which words of a conversation are the model’s own.' },
  { id: 'customer', title: 'Be the customer', minutes: 3, about: 'What the agent has to find out, and what it may do.' },
  { id: 'group', title: 'Read one group', minutes: 5, about: 'Eight tries at one task, and why some groups teach nothing.' },
  { id: 'update', title: 'What the update did', minutes: 5, about: 'The push on every token, and what came of it.' },
  { id: 'break', title: 'Break it', minutes: 6, about: 'Too large a step, no reference, and a reward that does not see manners.' },
  { id: 'bigger', title: 'Bigger', minutes: 4, about: 'Your own customer, your own model, your own machine.' },
] as const;

export type LessonId = (typeof LESSONS)[number]['id'];
