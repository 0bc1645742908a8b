/** @file How this project's clients recognise `mua user-server`. */

/** The name of the only model that the server lists. */
export const SCRIPTED_MODEL = 'scripted-user';

const OWNER = 'mua-rl-playground';

/** The server's answer to `GET /models`. */
export const SCRIPTED_MODELS = { object: 'list', data: [{ id: SCRIPTED_MODEL, object: 'model', created: 0, owned_by: OWNER }] };

/** Whether an answer to `GET /models` comes from `mua user-server`. */
export function isScriptedServer(body: string): boolean {
  try {
    const { data } = JSON.parse(body) as { data: { id?: unknown; owned_by?: unknown }[] };
    return data.length === 1 && data[0]!.id === SCRIPTED_MODEL && data[0]!.owned_by === OWNER;
  } catch {
    return false;
  }
}
