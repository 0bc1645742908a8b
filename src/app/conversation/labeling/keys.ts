/** @file Keys with which a person decides about conversations. */
import { isTyping } from '../../kit/typing.ts';

/** Handles the keys of the window. @param keys what each key does, in lower case */
export const onKeys = (keys: Record<string, () => void>) => (event: KeyboardEvent) => {
  const target = event.target as Element;
  if (event.ctrlKey || event.metaKey || event.altKey || isTyping(target)) return;
  // The space bar also presses a focused button.
  if (event.key === ' ' && target.matches('button, a, summary, label, input')) return;
  const act = keys[event.key.toLowerCase()];
  if (!act) return;
  event.preventDefault();
  act();
};
