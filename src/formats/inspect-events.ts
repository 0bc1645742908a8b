/** @file What Inspect's own tools need of a log beside its samples: a file name that they list, and an event for each model call. */

/** Inspect lists a log in JSON only if its name begins with a time. Source: `log_file_pattern` of `inspect_ai/log/_file.py`. */
export const LISTED_FILE_NAME = /^\d{4}-\d{2}-\d{2}T\d{2}[:-]\d{2}[:-]\d{2}/;

/** The name of a log's file, as Inspect makes it: the time, the task and the run's id. @param createdAt in milliseconds since 1970 */
export function inspectFileName({
  createdAt,
  id,
  config,
}: {
  createdAt: number;
  id: string;
  config: { domain: string; level: string };
}): string {
  const time = new Date(createdAt).toISOString().slice(0, 19).replaceAll(':', '-');
  const task = `${config.domain}-${config.level}`.replace(/[^\w-]/g, '-');
  return `${time}+00-00_${task}_${id.replace(/[^\w-]/g, '-')}.json`;
}

/**
 * The newest model call of a sample as an event. `messages_df` and the view's transcript read events. One event holds all messages before
 * the call, so an event for each call would only repeat them.
 */
export function modelEvents(
  messages: readonly { role: string }[],
  output: object,
  { id, model, created }: { id: string; model: string; created: string },
): object[] {
  const last = messages.findLastIndex(({ role }) => role === 'assistant');
  if (last < 0) return [];
  return [
    {
      uuid: `${id}-call`,
      timestamp: created,
      working_start: 0,
      event: 'model',
      model,
      input: messages.slice(0, last),
      tools: [],
      tool_choice: 'auto',
      config: {},
      output,
    },
  ];
}
