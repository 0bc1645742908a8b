/** @file Describes invalid settings in the words of the form. This module is loaded only if the address has settings. */
import { settingLabel } from '../../training/settings/index.ts';

/**
 * The problem of a setting with the setting's label: `Rollouts per task is “many”: expected a number.`
 * @param message the message of a ConfigError
 */
export function problemText(message: string): string {
  const named = message.replace(
    /^setting "([^"]+)" is (?:"([^"]*)"|([^:]*)): /,
    (_, name: string, text?: string, value?: string) => `${settingLabel(name) ?? name} is “${text ?? value}”: `,
  );
  return `${named}.`;
}
