/** @file Invalid settings in the words of the form. Loaded only with Setup. */
import { settingLabel } from '../../training/settings/index.ts';

/** What is wrong with a setting, with its label: `Rollouts per task is “many”: expected a number.` @param message of a ConfigError */
export function problemText(message: string): string {
  const named = message.replace(
    /^setting "([^"]+)" is (?:"([^"]*)"|([^:]*)): /,
    (_, name: string, text?: string, value?: string) => `${settingLabel(name) ?? name} is “${text ?? value}”: `,
  );
  return `${named}.`;
}
