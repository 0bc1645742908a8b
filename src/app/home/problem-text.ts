/** @file Invalid settings in the words of the form. Loaded only with Setup. */
import { GROUPS } from './fields.ts';

/** What is wrong with a setting, with its label: `Rollouts per task is “many”: expected a number.` @param message of a ConfigError */
export function problemText(message: string): string {
  const labels = new Map<string, string>(GROUPS.flatMap(({ fields }) => fields.map(({ name, label }) => [name, label])));
  const named = message.replace(
    /^setting "([^"]+)" is (?:"([^"]*)"|([^:]*)): /,
    (_, name: string, text?: string, value?: string) => `${labels.get(name) ?? name} is “${text ?? value}”: `,
  );
  return `${named}.`;
}
