/** @file The error of a recorded conversation. */

/** The error as text of at most 500 characters. Other values than texts are written as JSON. Undefined if there is none. */
export function errorText(error: unknown): string | undefined {
  if (error === undefined || error === null || error === '') return undefined;
  return (typeof error === 'string' ? error : JSON.stringify(error)).slice(0, 500);
}
